"""What leaves the desk as a file."""

from typing import Any, NamedTuple

from django.db.models import Prefetch, QuerySet

from evals.datasets.revisions import spec_of
from evals.datasets.rows import RecordingSpec, row_of
from evals.models import Case, Dataset, Recording


class Export(NamedTuple):
    """Rows for the file; how many held-out cases, and how many others, were left out of it."""

    rows: list[dict[str, Any]]
    held_out: int
    not_leaving: int


def export_dataset(dataset: Dataset, *, include_held_out: bool, include_proposed: bool = False, only_written: bool = False) -> Export:
    """The approved cases in the order in which they were written, each with its current recordings; on demand the proposed ones too.

    With `only_written`, cases whose right answer no person has saved yet leave without recordings: outputs wait for it.
    """
    leaving = leaving_cases(dataset, include_proposed=include_proposed)
    rows = rows_of(leaving if include_held_out else leaving.filter(held_out=False), only_written=only_written)
    count = leaving.count()
    return Export(rows, held_out=count - len(rows), not_leaving=dataset.cases.count() - count)


def leaving_cases(dataset: Dataset, *, include_proposed: bool = False) -> QuerySet[Case]:
    """The cases that an export is about, held-out ones too."""
    return dataset.cases.exclude(status=Case.Status.RETIRED) if include_proposed else dataset.cases.filter(status=Case.Status.APPROVED)


def rows_of(cases: QuerySet[Case], *, only_written: bool = False) -> list[dict[str, Any]]:
    """The rows of the dataset file that these cases are, in the order in which they were written."""
    current = Prefetch("recordings", Recording.objects.filter(superseded_by__isnull=True), to_attr="current_recordings")
    found = cases.order_by("id").prefetch_related(current)
    return [
        row_of(spec_of(case), specs_of([] if only_written and not case.answer_written_at else case.current_recordings)) for case in found
    ]


def specs_of(recordings: list[Recording]) -> list[RecordingSpec]:
    """The set `base` first, the others by name, so that a correction moves nothing."""
    in_order = sorted(recordings, key=lambda recording: (recording.set_name != "base", recording.set_name))
    return [spec_of_recording(recording) for recording in in_order]


def spec_of_recording(recording: Recording) -> RecordingSpec:
    return RecordingSpec(recording.text, recording.set_name, recording.invalid, recording.origin, recording.note)
