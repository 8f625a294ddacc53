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
    """Claims up to `limit` rows, never-asked ones first, if the run is still running. With a budget, reserves their price."""
    token = uuid.uuid4().hex
    run = _running(run_id)
    if run is None:
        return Claim(token, [])
    claimable = _claimable(run, now)
    free = Result.objects.filter(claimable).select_for_update(skip_locked=True, of=("self",))  # nobody waits for another's claim
    wanted = list(free.select_related("revision").order_by("-status", "id")[:limit])  # "pending" sorts after "claimed"
    chosen = wanted if run.max_cost_micro_usd is None else _reserve(run, wanted, price)
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
    """The rows that the budget covers. The reservation of a lost call counts as spent: the provider may charge it."""
    left = (run.max_cost_micro_usd or 0) - committed_cost(run)
    chosen: list[Result] = []
    lost = 0
    for row in rows:
        dearest = price(row)
        if dearest > left:
            break
        left -= dearest
        lost += row.reserved_micro_usd
        Result.objects.filter(pk=row.pk).update(reserved_micro_usd=dearest)
        chosen.append(row)
    if lost:
        Run.objects.filter(pk=run.pk).update(lost_cost_micro_usd=F("lost_cost_micro_usd") + lost)
    return chosen
