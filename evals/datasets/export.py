"""What leaves the desk as a file."""

from typing import Any, NamedTuple

from django.db.models import Prefetch

from evals.datasets.revisions import spec_of
from evals.datasets.rows import RecordingSpec, row_of
from evals.models import Case, Dataset, Recording


class Export(NamedTuple):
    """Rows for the file, and how many cases were left out of it."""

    rows: list[dict[str, Any]]
    held_out: int
    not_approved: int


def export_dataset(dataset: Dataset, *, include_held_out: bool) -> Export:
    """The approved cases in the order in which they were written, each with its current recordings."""
    current = Prefetch("recordings", Recording.objects.filter(superseded_by__isnull=True), to_attr="current_recordings")
    approved = dataset.cases.filter(status=Case.Status.APPROVED)
    leaving = approved if include_held_out else approved.filter(held_out=False)
    rows = [row_of(spec_of(case), specs_of(case.current_recordings)) for case in leaving.order_by("id").prefetch_related(current)]
    approved_count = approved.count()
    return Export(rows, held_out=approved_count - len(rows), not_approved=dataset.cases.count() - approved_count)


def specs_of(recordings: list[Recording]) -> list[RecordingSpec]:
    """The set `base` first, the others by name, so that a correction moves nothing."""
    in_order = sorted(recordings, key=lambda recording: (recording.set_name != "base", recording.set_name))
    return [spec_of_recording(recording) for recording in in_order]


def spec_of_recording(recording: Recording) -> RecordingSpec:
    return RecordingSpec(recording.text, recording.set_name, recording.invalid, recording.origin, recording.note)
