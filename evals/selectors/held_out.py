"""Reads on held-out cases: who has which one open, and how often they were opened."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet

from evals.models import Case, CaseRevision, Dataset, DatasetVersion, HeldOutOpening, Run

OPEN_FOR = timedelta(hours=8)
CLOSED_REVISION = Q(traits__held_out=True) | Q(case__held_out=True)  # by what the revision froze, or by what the case is now


class HeldOutFigures(NamedTuple):
    """Held-out cases, and how often they had been opened."""

    cases: int
    openings: int


def opened_by(user: User, *, now: datetime) -> set[int]:
    """Ids of the cases that this person opened in the last OPEN_FOR."""
    return set(HeldOutOpening.objects.filter(opened_by=user, opened_at__gt=now - OPEN_FOR).values_list("case_id", flat=True))


def closed_to(person: User | None, dataset: Dataset, *, now: datetime) -> set[str]:
    """Keys of the held-out cases that this person has not open; nobody (a command without a person) has none closed."""
    held_out = Case.objects.filter(dataset_id=dataset.pk, held_out=True)
    if person is None:
        return set()
    opened = opened_by(person, now=now) if person.has_perm("evals.view_held_out_text") else set()
    return {key for pk, key in held_out.values_list("pk", "key") if pk not in opened}


def count_openings(datasets: Iterable[Dataset]) -> dict[int, int]:
    """Openings of held-out cases by dataset id; a dataset without any is left out."""
    rows = HeldOutOpening.objects.filter(case__dataset__in=datasets).values_list("case__dataset_id")
    return dict(rows.annotate(n=Count("id")).order_by())


def held_out_of_run(run: Run) -> HeldOutFigures:
    """Held-out cases that a run asks, and their openings until it began: what its figures on them are worth."""
    return _figures(CaseRevision.objects.filter(results__run=run), until=run.created_at)


def held_out_of_version(version: DatasetVersion, *, until: datetime) -> HeldOutFigures:
    """Held-out cases of a version, and their openings until a moment."""
    return _figures(version.revisions.all(), until=until)


def _figures(revisions: QuerySet[CaseRevision], *, until: datetime) -> HeldOutFigures:
    opened = Q(case__openings__opened_at__lte=until)
    found = revisions.filter(CLOSED_REVISION).aggregate(
        cases=Count("case", distinct=True), openings=Count("case__openings", filter=opened, distinct=True)
    )
    return HeldOutFigures(**found)
