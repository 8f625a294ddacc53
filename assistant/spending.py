"""Reads of the money ledger: what was spent, on what, and how well that is known. Dates are days of Lima, both ends included."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Avg, Count

from assistant.models import ModelCall, Purpose


@dataclass(frozen=True, slots=True)
class Average:
    """Mean tokens of the answers that the provider counted itself, and how many those are."""

    input_tokens: int
    output_tokens: int
    calls: int


def measured_average(*, since: dt.datetime, purpose: Purpose = Purpose.ASSISTANT) -> Average | None:
    """Tokens of a request as the provider counted them; None when it has counted none since then."""
    counted = ModelCall.objects.filter(purpose=purpose, tokens_measured=True, created_at__gte=since)
    found = counted.aggregate(tokens_in=Avg("input_tokens"), tokens_out=Avg("output_tokens"), calls=Count("id"))
    return Average(round(found["tokens_in"]), round(found["tokens_out"]), found["calls"]) if found["calls"] else None
