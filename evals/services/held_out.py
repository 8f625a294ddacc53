"""Writes about held-out cases: choosing them, opening one and letting one go, which leaves who, when and why."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from evals.datasets.export import leaving_cases
from evals.datasets.revisions import BATCH
from evals.models import Case, Dataset, HeldOutOpening
from evals.services.changes import Change, demand_reason, words_of


class NotAReader(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """Opening a held-out case takes a person with the permission."""

    def __init__(self, by: User | None) -> None:
        super().__init__(f"{by or 'Un programa'} no puede abrir casos reservados: hace falta una persona con ese permiso.")


class HeldOutClosed(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """Who has not opened a held-out case does not write over it either."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.keys = tuple(keys)
        super().__init__(
            f"Son casos reservados que no tienes abiertos: {', '.join(self.keys)}. Ábrelos en su página con un motivo, si tienes el "
            "permiso, o sácalos del archivo."
        )


class HeldOutShare(NamedTuple):
    """What holding out a share did. `held` counts all held-out cases of the dataset afterwards, `total` its cases."""

    added: int
    held: int
    total: int


@transaction.atomic
def open_held_out(*, cases: Iterable[Case], change: Change, where: str = HeldOutOpening.Where.PAGE) -> list[HeldOutOpening]:
    """Writes that a person opens these cases, one opening each. Raises NotAReader or ReasonMissing."""
    if change.by is None or not change.by.has_perm("evals.view_held_out_text"):
        raise NotAReader(change.by)
    demand_reason(change.reason, "Abrir un caso reservado necesita un motivo")
    row = {"opened_by": change.by, "opened_at": change.now, "reason": change.reason.strip(), "where": where}
    return HeldOutOpening.objects.bulk_create([HeldOutOpening(case=case, **row) for case in cases], batch_size=BATCH)


def open_for_export(*, dataset: Dataset, change: Change, include_proposed: bool = False) -> int:
    """Writes that every held-out case of an export leaves, and says how many do. Raises NotAReader or ReasonMissing if any does."""
    leaving = list(leaving_cases(dataset, include_proposed=include_proposed).filter(held_out=True))
    return len(open_held_out(cases=leaving, change=change, where=HeldOutOpening.Where.EXPORT)) if leaving else 0


@transaction.atomic
def hold_out_share(*, dataset: Dataset, share: float, change: Change) -> HeldOutShare:
    """Holds out the cases whose place by hash is below `share` (0 to 1); none is let go. Raises ReasonMissing.

    The place of a case depends on its key alone, so that the choice does not move when others come, and a larger share holds a smaller.
    """
    demand_reason(change.reason, "Reservar casos necesita un motivo")
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    cases = list(dataset.cases.exclude(status=Case.Status.RETIRED))
    chosen = [case for case in cases if not case.held_out and place_of(dataset.slug, case.key) < share]
    _mark(chosen, held_out=True, change=change)
    return HeldOutShare(len(chosen), sum(case.held_out for case in cases), len(cases))


@transaction.atomic
def let_go(*, cases: Iterable[Case], change: Change) -> list[str]:
    """Makes held-out cases ordinary ones, each with an opening, and says their keys. Raises NotAReader or ReasonMissing."""
    demand_reason(change.reason, "Dejar de reservar un caso necesita un motivo")
    wanted = [case.pk for case in cases]
    batches = [wanted[start : start + BATCH] for start in range(0, len(wanted), BATCH)]
    held = [case for batch in batches for case in Case.objects.select_for_update().filter(pk__in=batch, held_out=True).order_by("pk")]
    open_held_out(cases=held, change=change, where=HeldOutOpening.Where.LET_GO)
    _mark(held, held_out=False, change=change)
    return [case.key for case in held]


def _mark(cases: Sequence[Case], *, held_out: bool, change: Change) -> None:
    for case in cases:
        case.held_out = held_out
    for start in range(0, len(cases), BATCH):
        batch = cases[start : start + BATCH]
        Case.objects.filter(pk__in=[case.pk for case in batch]).update(held_out=held_out)
        Case.history.bulk_history_create(batch, update=True, **words_of(change))


def place_of(slug: str, key: str) -> float:
    """Where a case stands from 0 to 1, by SHA-256 of dataset and key."""
    return int(hashlib.sha256(f"{slug}/{key}".encode()).hexdigest()[:13], 16) / 16**13
