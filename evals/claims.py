"""Who works on which result: leases, and the money reserved with them.

A claim is a conditional UPDATE that writes a fresh lease token. Only who holds the token may renew, return or store the
row; a lease that is not renewed runs out, and the row can be claimed again.
"""

import uuid
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from itertools import accumulate
from typing import NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum

from evals.daily_budget import reserve_calls, settle_calls
from evals.in_flight import Claimed
from evals.models import Result, Run

Price = Callable[[Result], int]  # the most that asking this row can cost, in micro-USD


class Claim(NamedTuple):
    """Rows held under one token since `at`. `over_budget` names the budget that does not cover the next row, if there is one."""

    token: str
    rows: list[Result]
    at: datetime
    over_budget: Run.Budget | None = None


@transaction.atomic
def claim_results(run_id: int, *, limit: int, lease: timedelta, now: datetime, price: Price) -> Claim:
    """Claims up to `limit` rows, never-asked ones first, if the run is still running, and reserves their price with them.

    Rows that an outage put off come after those, so that one that always fails is not the probe again and again.
    """
    token = uuid.uuid4().hex
    run = _running(run_id)
    if run is None:
        return Claim(token, [], now)
    claimable = _claimable(run, now)
    free = Result.objects.filter(claimable).select_for_update(skip_locked=True, of=("self",))  # nobody waits for another's claim
    order = ("-status", F("attempts").asc(nulls_first=True), "id")  # "pending" sorts after "claimed"
    wanted = list(free.select_related("revision", "recording").order_by(*order)[:limit])
    chosen, over_budget = _reserve(run, wanted, price, now)
    ids = [row.pk for row in chosen]
    Result.objects.filter(claimable, pk__in=ids).update(status=Result.Status.CLAIMED, lease_token=token, lease_until=now + lease)
    mine = set(_held(token).values_list("pk", flat=True))
    return Claim(token, [row for row in chosen if row.pk in mine], now, over_budget)


def hold_result(result_id: int, token: str) -> QuerySet[Result]:
    """The row, if `token` still holds it: an UPDATE through this queryset changes nothing when the lease was lost."""
    return _held(token).filter(pk=result_id)


def renew_leases(tokens: Iterable[str], *, until: datetime) -> None:
    """Extends every row still held under these tokens."""
    Result.objects.filter(status=Result.Status.CLAIMED, lease_token__in=set(tokens)).update(lease_until=until)


@transaction.atomic
def return_result(row: Claimed) -> None:
    """Gives back a row whose call has not begun, and what was reserved for it."""
    hold_result(row.result_id, row.token).update(status=Result.Status.PENDING, lease_token="", lease_until=None, reserved_micro_usd=0)
    if row.claimed_at:
        settle_calls(reserved=row.reserved_micro_usd, actual=0, at=row.claimed_at)


def write_off(run_id: int, micro_usd: int) -> None:
    """Counts money as spent for which there is no answer: the provider may charge it all the same."""
    if micro_usd:
        Run.objects.filter(pk=run_id).update(lost_cost_micro_usd=F("lost_cost_micro_usd") + micro_usd)


@transaction.atomic
def stop_over_budget(run_id: int, budget: Run.Budget, *, now: datetime) -> None:
    """Stops a run whose budget does not cover the next call, unless somebody's calls in flight may still turn out cheaper.

    Rows of dead helpers are given back, and what was reserved for them is written off.
    """
    run = Run.objects.select_for_update().get(pk=run_id)
    claimed = run.results.filter(status=Result.Status.CLAIMED)
    if run.status != Run.Status.RUNNING or _in_flight(run, budget, now).exists():
        return
    write_off(run_id, claimed.aggregate(total=Sum("reserved_micro_usd"))["total"] or 0)
    claimed.update(status=Result.Status.PENDING, lease_token="", lease_until=None, reserved_micro_usd=0)
    Run.objects.filter(pk=run_id).update(status=Run.Status.OVER_BUDGET, budget_reached=budget)


def _in_flight(run: Run, budget: Run.Budget, now: datetime) -> QuerySet[Result]:
    """Rows that living helpers hold out of this budget: of the run, or of any run when it is the day's."""
    held = Result.objects.filter(status=Result.Status.CLAIMED, lease_until__gte=now)
    return held.filter(reserved_micro_usd__gt=0) if budget == Run.Budget.DAY else held.filter(run=run)


def interrupt_run(*, run: Run) -> None:
    """Says that a run stopped before it was complete; `resume_run` opens it again."""
    Run.objects.filter(pk=run.pk, status__in=(Run.Status.QUEUED, Run.Status.RUNNING)).update(status=Run.Status.INTERRUPTED)


def committed_cost(run: Run) -> int:
    """Micro-USD that the run has spent, lost or reserved so far."""
    totals = run.results.aggregate(spent=Sum("cost_micro_usd"), reserved=Sum("reserved_micro_usd"))
    return (totals["spent"] or 0) + (totals["reserved"] or 0) + run.lost_cost_micro_usd


def _claimable(run: Run, now: datetime) -> Q:
    return Q(run=run) & (Q(status=Result.Status.PENDING) | Q(status=Result.Status.CLAIMED, lease_until__lt=now))


def _held(token: str) -> QuerySet[Result]:
    return Result.objects.filter(status=Result.Status.CLAIMED, lease_token=token)


def _running(run_id: int) -> Run | None:
    """The run, locked when asking costs money: helpers then take turns, so that their reservations add up."""
    runs = Run.objects.filter(pk=run_id, status=Run.Status.RUNNING)
    run = runs.first()
    if run is None or run.model_kind == Run.Kind.SCRIPTED:
        return run
    return runs.select_for_update().first()


def _reserve(run: Run, rows: list[Result], price: Price, now: datetime) -> tuple[list[Result], Run.Budget | None]:
    """The rows that both budgets cover, each with what it may cost at most, and which budget left some out.

    What a dead helper reserved counts as spent.
    """
    prices = [price(row) for row in rows]
    left = None if run.max_cost_micro_usd is None else run.max_cost_micro_usd - committed_cost(run)
    of_run = len(rows) if left is None else sum(total <= left for total in accumulate(prices))
    of_both = reserve_calls(prices[:of_run], now=now)
    chosen = rows[:of_both]
    write_off(run.pk, sum(row.reserved_micro_usd for row in chosen))
    for row, dearest in zip(chosen, prices, strict=False):
        if dearest != row.reserved_micro_usd:
            row.reserved_micro_usd = dearest
            Result.objects.filter(pk=row.pk).update(reserved_micro_usd=dearest)
    short = Run.Budget.DAY if of_both < of_run else Run.Budget.RUN if of_run < len(rows) else None
    return chosen, short
