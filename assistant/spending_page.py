"""What the page of spending shows: which days, the sums in words, and the estimate beside what was measured."""

import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, Self

import tablib
from django import forms
from django.utils.formats import date_format

from assistant.estimate import DAYS_IN_MONTH, prompt_tokens
from assistant.llm import Usage
from assistant.llm.catalog import cost_micro_usd
from assistant.models import Purpose
from assistant.spending import Amounts, Cell, add_up, add_up_by
from bookings.money import say_usd

DAYS_SHOWN = 30
MOST_DAYS = 366
FIRST_YEAR, LAST_YEAR = 2000, 2100  # beyond them a calendar ends, and nobody bought anything
ESTIMATED_HOURS, ESTIMATED_OUT = 40, 60
NOT_MEASURED = "–"


class PeriodForm(forms.Form):
    desde = forms.DateField(label="Desde", widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))
    hasta = forms.DateField(label="Hasta", widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))

    @classmethod
    def with_defaults(cls, asked: Mapping[str, str], today: dt.date) -> dict[str, str]:
        """The days asked for; the last 30 where none are named."""
        first, last = default_period(today)
        return {"desde": asked.get("desde") or first.isoformat(), "hasta": asked.get("hasta") or last.isoformat()}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        first, last = cleaned.get("desde"), cleaned.get("hasta")
        if first and last and not (first.year >= FIRST_YEAR and last.year <= LAST_YEAR and 0 <= (last - first).days < MOST_DAYS):
            raise forms.ValidationError(f"«Desde» va antes que «Hasta», y entre los dos caben hasta {MOST_DAYS} días.")
        return cleaned

    def period(self: Self, today: dt.date) -> tuple[dt.date, dt.date]:
        """First and last day; the last 30 when what was asked makes no sense."""
        return (self.cleaned_data["desde"], self.cleaned_data["hasta"]) if self.is_valid() else default_period(today)


def default_period(today: dt.date) -> tuple[dt.date, dt.date]:
    return today - dt.timedelta(days=DAYS_SHOWN - 1), today


class Line(NamedTuple):
    """One line of a table: what it is, its calls, tokens, cost, and that cost as a share of the dearest line (0 to 100)."""

    label: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: str
    unknown_price: bool
    bar: int


class Compared(NamedTuple):
    """A model as the assistant used it: tokens of a request and USD per 1,000 requests, measured and estimated. `calls` were measured."""

    model: str
    calls: int
    measured_tokens: str
    measured_usd: str
    estimated_tokens: str
    estimated_usd: str
    month_usd: str
    unknown_price: bool


def spending_context(cells: list[Cell], first: dt.date, last: dt.date, *, now: dt.datetime) -> dict[str, Any]:
    """Sums by purpose, model and day for the template. `now` is an instant in Lima."""
    total = add_up(cells)
    days = max(1, (min(last, now.date()) - first).days + 1)
    return {
        "total": say_usd(total.micro_usd),
        "month": say_usd(_a_month(total.micro_usd, days)),
        "facts": _say_facts(total),
        "by_purpose": _lines(add_up_by(cells, lambda cell: cell.purpose.label)),
        "by_model": _lines(add_up_by(cells, lambda cell: cell.model)),
        "by_day": _lines(_newest_first(cells), mark_unknown=False),
        "compared": list(_compare(cells, days, now)),
        "estimated_hours": ESTIMATED_HOURS,
        "first": first,
        "last": last,
        "days": days,
    }


def as_table(cells: Iterable[Cell]) -> tablib.Dataset:
    """A row for each day, purpose and model."""
    table = tablib.Dataset(headers=_COLUMNS)
    for cell in cells:
        one = cell.amounts
        counts = (one.calls, one.answered, one.measured, one.unknown_price, one.input_tokens, one.output_tokens)
        table.append([cell.day.isoformat(), cell.purpose.label, cell.model, *counts, Decimal(one.micro_usd).scaleb(-6)])
    return table


_COLUMNS = ["día", "para qué", "modelo", "llamadas", "respondidas", "tokens medidos", "precio desconocido", "entrada", "salida", "USD"]


def _say_facts(total: Amounts) -> list[str]:
    """How many calls, and how well their cost is known."""
    if not total.calls:
        return []
    estimated = total.calls - total.measured
    return [
        f"{total.calls:,} llamadas, {total.answered:,} respondidas.",
        f"{total.input_tokens:,} tokens de entrada y {total.output_tokens:,} de salida.",
        f"Tokens contados por el proveedor en {_share(total.measured, total.calls)}; estimados en {_share(estimated, total.calls)}.",
        f"Precio desconocido, y por eso el más caro que conocemos, en {_share(total.unknown_price, total.calls)}: "
        f"{say_usd(total.unknown_micro_usd)} de {say_usd(total.micro_usd)}.",
    ]


def _share(count: int, calls: int) -> str:
    return f"{count:,} de {calls:,} llamadas ({count / calls:.0%})".replace("%", " %")


def _newest_first(cells: Iterable[Cell]) -> dict[str, Amounts]:
    by_day = add_up_by(cells, lambda cell: cell.day.isoformat())
    return {date_format(dt.date.fromisoformat(day), "D d/m/Y"): by_day[day] for day in sorted(by_day, reverse=True)}


def _lines(by_name: Mapping[str, Amounts], *, mark_unknown: bool = True) -> list[Line]:
    dearest = max((one.micro_usd for one in by_name.values()), default=0) or 1
    return [
        Line(
            name,
            one.calls,
            one.input_tokens,
            one.output_tokens,
            say_usd(one.micro_usd),
            mark_unknown and bool(one.unknown_price),
            round(100 * one.micro_usd / dearest),
        )
        for name, one in by_name.items()
    ]


def _compare(cells: Iterable[Cell], days: int, now: dt.datetime) -> Iterable[Compared]:
    """The assistant's models: what a request was to cost by our estimate, and what it did."""
    estimated = Usage(prompt_tokens("base", hours=ESTIMATED_HOURS, now=now), ESTIMATED_OUT, measured=False)
    asked = [cell for cell in cells if cell.purpose == Purpose.ASSISTANT]
    for model, one in add_up_by(asked, lambda cell: cell.model).items():
        thousand = 1_000 * cost_micro_usd(model, estimated).micro_usd
        yield Compared(
            model,
            one.measured,
            _each(one),
            say_usd(1_000 * one.measured_micro_usd / one.measured) if one.measured else NOT_MEASURED,
            f"{estimated.input_tokens:,} + {estimated.output_tokens:,}",
            say_usd(thousand),
            say_usd(_a_month(one.micro_usd, days)),
            bool(one.unknown_price),
        )


def _each(one: Amounts) -> str:
    """Tokens in and out of a call, as far as the provider counted any."""
    if not one.measured:
        return NOT_MEASURED
    return f"{one.measured_input_tokens / one.measured:,.0f} + {one.measured_output_tokens / one.measured:,.0f}"


def _a_month(micro_usd: int, days: int) -> float:
    """Micro-USD of 30 days like these."""
    return micro_usd * DAYS_IN_MONTH / days
