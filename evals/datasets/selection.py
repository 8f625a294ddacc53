"""Reads on datasets that more than one place needs."""

from collections.abc import Collection

from evals.models import Case, Dataset, DatasetVersion, Recording


def current_recordings(cases: Collection[Case | int], set_name: str) -> dict[int, Recording]:
    """The recording of a set that nothing has superseded, by case id, in one query. Cases without one are left out."""
    rows = Recording.objects.filter(case__in=cases, set_name=set_name, superseded_by__isnull=True)
    return {recording.case_id: recording for recording in rows}


def latest_version(dataset: Dataset, *, signed: bool | None = None) -> DatasetVersion | None:
    """The version with the highest number; `signed` narrows it to those with a signature, or without."""
    versions = dataset.versions.order_by("-number")
    return (versions if signed is None else versions.filter(signature__isnull=not signed)).first()


def recording_sets(dataset: Dataset) -> list[str]:
    """The names of the recording sets that some case of the dataset has, sorted."""
    rows = Recording.objects.filter(case__dataset=dataset)
    return list(rows.order_by("set_name").values_list("set_name", flat=True).distinct())
