"""The day's budget of all runs together. It is kept in the database: a command and a worker share no other place for certain."""

from collections.abc import Sequence
from datetime import date, datetime
from itertools import accumulate

from django.conf import settings
from django.db import transaction
from django.db.models import F

from bookings.clock import in_lima
from evals.models import DaySpending


@transaction.atomic
def reserve_calls(prices: Sequence[int], *, now: datetime) -> int:
    """How many of these calls, from the first on, still fit into the day; what they cost at most (micro-USD) is reserved.

    Whoever reserves holds the day until the transaction ends. Take this lock last: nothing that waits for it holds another's.
    """
    if not any(prices):
        return len(prices)
    spending, _ = DaySpending.objects.select_for_update().get_or_create(day=day_of(now))
    left = int(settings.EVALS_DAILY_BUDGET_USD * 1_000_000) - spending.micro_usd
    fit = sum(total <= left for total in accumulate(prices))
    DaySpending.objects.filter(pk=spending.pk).update(micro_usd=F("micro_usd") + sum(prices[:fit]))
    return fit


def settle_calls(*, reserved: int, actual: int, at: datetime) -> None:
    """Turns what was reserved at that instant (micro-USD) into what it came to."""
    if reserved != actual:
        DaySpending.objects.filter(day=day_of(at)).update(micro_usd=F("micro_usd") - reserved + actual)


def day_of(moment: datetime) -> date:
    """The day that people in Lima live by."""
    return in_lima(moment).date()
