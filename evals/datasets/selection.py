"""Reads on datasets that more than one place needs."""

from collections.abc import Sequence
from typing import NamedTuple

from evals.datasets.revisions import BATCH, revision_of
from evals.models import Case, CaseRevision, Dataset, DatasetVersion, Recording


class Unsigned(NamedTuple):
    """How many cases were added, retired or changed since the latest signed version; `since` is None when none was ever signed."""

    changes: int
    since: DatasetVersion | None


def current_recording_ids(dataset: Dataset, *, set_name: str) -> dict[int, int]:
    """The id of the recording of a set that nothing has superseded, by case id. Cases without one are left out."""
    rows = Recording.objects.filter(case__dataset=dataset, set_name=set_name, superseded_by__isnull=True)
    return dict(rows.values_list("case_id", "pk"))


def latest_version(dataset: Dataset, *, signed: bool | None = None) -> DatasetVersion | None:
    """The version with the highest number; `signed` narrows it to those with a signature, or without."""
    versions = dataset.versions.order_by("-number")
    return (versions if signed is None else versions.filter(signature__isnull=not signed)).first()


def unsigned_changes(dataset: Dataset) -> Unsigned:
    """Compares the approved cases as they are now with the latest signed version, case by case."""
    since = latest_version(dataset, signed=True)
    signed = dict(since.revisions.values_list("case_id", "full_hash")) if since else {}
    live = {case.pk: revision_of(case).full_hash for case in dataset.cases.filter(status=Case.Status.APPROVED)}
    return Unsigned(sum(signed.get(pk) != live.get(pk) for pk in signed.keys() | live.keys()), since)


def stands_in_signed_version(case: Case) -> bool:
    """True when some signed version, not only the last one, holds a state of this case."""
    return DatasetVersion.objects.filter(revisions__case=case, signature__isnull=False).exists()


def in_signed_versions(case_ids: Sequence[int]) -> set[int]:
    """Those of the cases that stand in some signed version; a query for each BATCH of them."""
    found: set[int] = set()
    for start in range(0, len(case_ids), BATCH):
        states = CaseRevision.objects.filter(case_id__in=case_ids[start : start + BATCH], versions__signature__isnull=False)
        found |= set(states.values_list("case_id", flat=True))
    return found


def recording_sets(dataset: Dataset) -> list[str]:
    """The names of the recording sets that some case of the dataset has, sorted."""
    rows = Recording.objects.filter(case__dataset=dataset)
    return list(rows.order_by("set_name").values_list("set_name", flat=True).distinct())
