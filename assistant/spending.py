"""Reads of the money ledger: what was spent, on what, and how well that is known. Dates are days of Lima, both ends included."""

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from itertools import groupby

from django.db.models import Avg, Count, Q, Sum
from django.db.models.functions import TruncDate

from assistant.models import ModelCall, Purpose
from bookings.clock import LIMA

AMOUNT_COLUMNS = (
    *("calls", "answered", "measured", "unknown_price"),
    *("tokens_in", "tokens_out", "micro_usd", "unknown_micro_usd"),
    *("measured_in", "measured_out", "measured_micro_usd"),
)


@dataclass(frozen=True, slots=True)
class Average:
    """Mean tokens of the answers that the provider counted itself, and how many those are."""

    input_tokens: int
    output_tokens: int
    calls: int


@dataclass(frozen=True, slots=True)
class Amounts:
    """Calls and what they cost: how many were answered, had their tokens counted by the provider, or were of unknown price.

    The last three are sums over the calls whose tokens the provider counted.
    """

    calls: int = 0
    answered: int = 0
    measured: int = 0
    unknown_price: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    micro_usd: int = 0
    unknown_micro_usd: int = 0
    measured_input_tokens: int = 0
    measured_output_tokens: int = 0
    measured_micro_usd: int = 0

    def __add__(self, other: "Amounts") -> "Amounts":
        return Amounts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Cell:
    """What one purpose spent on one model in one day."""

    day: dt.date
    purpose: Purpose
    model: str
    amounts: Amounts


def spending_between(first: dt.date, last: dt.date) -> list[Cell]:
    """Every day, purpose and model with a call, in that order; one query, whatever the number of calls."""
    calls = ModelCall.objects.filter(created_at__gte=_midnight(first), created_at__lt=_midnight(last + dt.timedelta(days=1)))
    cells = calls.order_by().values("purpose", "model", day=TruncDate("created_at", tzinfo=LIMA))
    measured = Q(tokens_measured=True)
    counted = cells.annotate(
        calls=Count("id"),
        answered=Count("id", filter=Q(outcome=ModelCall.OK)),
        measured=Count("id", filter=measured),
        unknown_price=Count("id", filter=Q(price_known=False)),
        tokens_in=Sum("input_tokens"),
        tokens_out=Sum("output_tokens"),
        micro_usd=Sum("cost_micro_usd"),
        unknown_micro_usd=Sum("cost_micro_usd", filter=Q(price_known=False), default=0),
        measured_in=Sum("input_tokens", filter=measured, default=0),
        measured_out=Sum("output_tokens", filter=measured, default=0),
        measured_micro_usd=Sum("cost_micro_usd", filter=measured, default=0),
    )
    rows = counted.values_list("day", "purpose", "model", *AMOUNT_COLUMNS)
    found = (Cell(day, Purpose(purpose), model, Amounts(*amounts)) for day, purpose, model, *amounts in rows)
    return sorted(found, key=lambda cell: (cell.day, cell.purpose, cell.model))


def add_up(cells: Iterable[Cell]) -> Amounts:
    """The amounts of these cells together."""
    return sum((cell.amounts for cell in cells), Amounts())


def add_up_by(cells: Iterable[Cell], key: Callable[[Cell], str]) -> dict[str, Amounts]:
    """Amounts by what `key` says of a cell (sortable text), the dearest first."""
    grouped = groupby(sorted(cells, key=key), key=key)
    return dict(sorted(((name, add_up(some)) for name, some in grouped), key=lambda pair: -pair[1].micro_usd))


def measured_average(*, since: dt.datetime, purpose: Purpose = Purpose.ASSISTANT) -> Average | None:
    """Tokens of a request as the provider counted them; None when it has counted none since then."""
    counted = ModelCall.objects.filter(purpose=purpose, tokens_measured=True, created_at__gte=since)
    found = counted.aggregate(tokens_in=Avg("input_tokens"), tokens_out=Avg("output_tokens"), calls=Count("id"))
    return Average(round(found["tokens_in"]), round(found["tokens_out"]), found["calls"]) if found["calls"] else None


def _midnight(day: dt.date) -> dt.datetime:
    return dt.datetime.combine(day, dt.time(), tzinfo=LIMA)
