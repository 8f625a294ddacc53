"""What a file would do to a dataset, before it does it."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from evals.datasets.export import rows_of
from evals.datasets.rows import ParsedRow, row_of
from evals.datasets.spreadsheet import Existing, FileRead, read_cases
from evals.datasets.spreadsheet.columns import cells_of
from evals.models import Case, Dataset
from evals.values import canonical_hash


class CellChange(NamedTuple):
    """A column of a case, what it says and what it would say; an empty text is nothing there."""

    column: str
    before: str
    after: str


class CaseChange(NamedTuple):
    """A case that the file adds (`cells` has only `after`) or changes; held out by what it says or would say."""

    line: int
    key: str
    cells: tuple[CellChange, ...]
    held_out: bool


class ImportPreview:
    """What a file would add, change and leave as it is. With problems nothing of it is imported."""

    def __init__(self, read: FileRead, live: Mapping[str, Mapping[str, Any]], retired: set[str]) -> None:
        self.read = read
        new = [(row, row_of(row.spec, row.recordings)) for row in read.rows] if not read.problems else []
        self.added = [_change(row, {}, said) for row, said in new if row.spec.key not in live]
        seen = [(row, live[row.spec.key], said) for row, said in new if row.spec.key in live]
        self.changed = [change for row, before, said in seen if (change := _change(row, _comparable(before, said), said)).cells]
        self.unchanged = len(seen) - len(self.changed)
        self.retired = len(retired & {change.key for change in self.changed})

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all that is shown and saved: two previews with one digest do the same."""
        problems = [list(problem) for problem in self.read.problems]
        return canonical_hash([problems, _as_lists(self.added), _as_lists(self.changed), self.unchanged, self.retired])

    @property
    def does_something(self) -> bool:
        return bool(self.added or self.changed)


def preview_import(dataset: Dataset, content: bytes, *, name: str, sees_held_out: bool) -> ImportPreview:
    """Reads a file against the cases as they are. Held-out cases are not for those who may not read them to change."""
    cases = Case.objects.filter(dataset_id=dataset.pk)
    closed = set() if sees_held_out else set(cases.filter(held_out=True).values_list("key", flat=True))
    live = {key: row for key, row in live_rows(dataset).items() if key not in closed}
    read = read_cases(content, name=name, existing=Existing(live, closed))
    return ImportPreview(read, live, set(cases.filter(status=Case.Status.RETIRED).values_list("key", flat=True)))


def live_rows(dataset: Dataset) -> dict[str, dict[str, Any]]:
    """The row of each case by its key, whatever its status."""
    return {row["key"]: row for row in rows_of(Case.objects.filter(dataset_id=dataset.pk))}


def _comparable(before: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """The case as it is, with those of its recordings that the file speaks of."""
    named = {recording.get("set", "base") for recording in said.get("recordings", ())}
    kept = [recording for recording in before.get("recordings", ()) if recording.get("set", "base") in named]
    return {**{name: value for name, value in before.items() if name != "recordings"}, **({"recordings": kept} if kept else {})}


def _change(row: ParsedRow, before: Mapping[str, Any], after: Mapping[str, Any]) -> CaseChange:
    old, new = cells_of(before) if before else {}, cells_of(after)
    columns = [] if before == after else list(dict.fromkeys([*old, *new]))
    cells = [CellChange(column, old.get(column, ""), new.get(column, "")) for column in columns]
    differing = tuple(cell for cell in cells if cell.before != cell.after)
    return CaseChange(row.line, row.spec.key, differing, row.spec.held_out or bool(before.get("held_out")))


def _as_lists(changes: list[CaseChange]) -> list[Any]:
    return [[change.line, change.key, [list(cell) for cell in change.cells]] for change in changes]
