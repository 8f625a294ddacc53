"""Who works on which result: leases, and the money reserved with them.

A claim is a conditional UPDATE that writes a fresh lease token. Only who holds the token may renew, return or store the
row; a lease that is not renewed runs out, and the row can be claimed again.
"""

import uuid
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum

from evals.models import Result, Run

Price = Callable[[Result], int]  # the most that asking this row can cost, in micro-USD


class Claim(NamedTuple):
    """Rows held under one token. `over_budget`: rows are left, but the budget does not cover the next one."""

    token: str
    rows: list[Result]
    over_budget: bool = False


@transaction.atomic
def claim_results(run_id: int, *, limit: int, lease: timedelta, now: datetime, price: Price) -> Claim:
    """Claims up to `limit` rows, never-asked ones first, if the run is still running, and reserves their price with them."""
    token = uuid.uuid4().hex
    run = _running(run_id)
    if run is None:
        return Claim(token, [])
    claimable = _claimable(run, now)
    free = Result.objects.filter(claimable).select_for_update(skip_locked=True, of=("self",))  # nobody waits for another's claim
    wanted = list(free.select_related("revision", "recording").order_by("-status", "id")[:limit])  # "pending" sorts after "claimed"
    chosen = _reserve(run, wanted, price)
    ids = [row.pk for row in chosen]
    Result.objects.filter(claimable, pk__in=ids).update(status=Result.Status.CLAIMED, lease_token=token, lease_until=now + lease)
    mine = set(_held(token).values_list("pk", flat=True))
    return Claim(token, [row for row in chosen if row.pk in mine], over_budget=len(chosen) < len(wanted))


def hold_result(result_id: int, token: str) -> QuerySet[Result]:
    """The row, if `token` still holds it: an UPDATE through this queryset changes nothing when the lease was lost."""
    return _held(token).filter(pk=result_id)


def renew_leases(tokens: Iterable[str], *, until: datetime) -> None:
    """Extends every row still held under these tokens."""
    Result.objects.filter(status=Result.Status.CLAIMED, lease_token__in=set(tokens)).update(lease_until=until)


def return_result(result_id: int, token: str) -> None:
    """Gives back a row whose call has not begun."""
    hold_result(result_id, token).update(status=Result.Status.PENDING, lease_token="", lease_until=None, reserved_micro_usd=0)


def write_off(run_id: int, micro_usd: int) -> None:
    """Counts money as spent for which there is no answer: the provider may charge it all the same."""
    if micro_usd:
        Run.objects.filter(pk=run_id).update(lost_cost_micro_usd=F("lost_cost_micro_usd") + micro_usd)


@transaction.atomic
def stop_over_budget(run_id: int, *, now: datetime) -> None:
    """Stops a run whose budget does not cover the next call, unless somebody's calls in flight may still turn out cheaper.

    Rows of dead helpers are given back, and what was reserved for them is written off.
    """
    run = Run.objects.select_for_update().get(pk=run_id)
    claimed = run.results.filter(status=Result.Status.CLAIMED)
    if run.status != Run.Status.RUNNING or claimed.filter(lease_until__gte=now).exists():
        return
    write_off(run_id, claimed.aggregate(total=Sum("reserved_micro_usd"))["total"] or 0)
    claimed.update(status=Result.Status.PENDING, lease_token="", lease_until=None, reserved_micro_usd=0)
    Run.objects.filter(pk=run_id).update(status=Run.Status.OVER_BUDGET)


def committed_cost(run: Run) -> int:
    """Micro-USD that the run has spent, lost or reserved so far."""
    totals = run.results.aggregate(spent=Sum("cost_micro_usd"), reserved=Sum("reserved_micro_usd"))
    return (totals["spent"] or 0) + (totals["reserved"] or 0) + run.lost_cost_micro_usd


def _claimable(run: Run, now: datetime) -> Q:
    return Q(run=run) & (Q(status=Result.Status.PENDING) | Q(status=Result.Status.CLAIMED, lease_until__lt=now))


def _held(token: str) -> QuerySet[Result]:
    return Result.objects.filter(status=Result.Status.CLAIMED, lease_token=token)


def _running(run_id: int) -> Run | None:
    """The run, locked when it has a budget: helpers then take turns, so that their reservations add up."""
    runs = Run.objects.filter(pk=run_id, status=Run.Status.RUNNING)
    run = runs.first()
    if run is None or run.max_cost_micro_usd is None:
        return run
    return runs.select_for_update().first()


def _reserve(run: Run, rows: list[Result], price: Price) -> list[Result]:
    """The rows that the budget covers, each with what it may cost at most. What a dead helper reserved counts as spent."""
    left = None if run.max_cost_micro_usd is None else run.max_cost_micro_usd - committed_cost(run)
    chosen: list[Result] = []
    lost = 0
    for row in rows:
        dearest = price(row)
        if left is not None and dearest > left:
            break
        left = None if left is None else left - dearest
        lost += row.reserved_micro_usd
        if dearest != row.reserved_micro_usd:
            row.reserved_micro_usd = dearest
            Result.objects.filter(pk=row.pk).update(reserved_micro_usd=dearest)
        chosen.append(row)
    write_off(run.pk, lost)
    return chosen
