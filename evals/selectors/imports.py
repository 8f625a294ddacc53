"""What a file would do to a dataset, before it does it."""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.contrib.auth.models import User

from evals.datasets.export import rows_of
from evals.datasets.health.likeness import find_closest
from evals.datasets.revisions import keep_held_out
from evals.datasets.rows import ParsedRow, row_of, spec_from
from evals.datasets.spreadsheet import Existing, FileRead, read_cases
from evals.datasets.spreadsheet.columns import cells_of
from evals.figures import say_count
from evals.models import Case, Dataset
from evals.selectors.held_out import closed_to
from evals.targets import answers_of
from evals.values import canonical_hash

Rows = Mapping[str, Mapping[str, Any]]
MOST_KEYS = 10  # named in a note
MOST_ALIKE = 20  # notes


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

    def __init__(self, read: FileRead, live: Rows, retired: set[str]) -> None:
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
        return canonical_hash([self.read.notes, problems, _as_lists(self.added), _as_lists(self.changed), self.unchanged, self.retired])

    @property
    def does_something(self) -> bool:
        return bool(self.added or self.changed)


def preview_import(dataset: Dataset, content: bytes, *, name: str, by: User | None, now: datetime) -> ImportPreview:
    """Reads a file against the cases as they are. Who has a held-out case not open changes it no more than they read it.

    Of such a case not even «unchanged» is told, which would confirm a guess. `by`: None where no person brings the file.
    """
    live, closed = _live_rows(dataset, by, now)
    read = _read(content, name, Existing(live, closed, answers_of(dataset.target)))
    retired = Case.objects.filter(dataset_id=dataset.pk, status=Case.Status.RETIRED)
    return ImportPreview(read, live, set(retired.values_list("key", flat=True)))


def read_import(dataset: Dataset, content: bytes, *, name: str, by: User | None, now: datetime) -> FileRead:
    """What `preview_import` reads, without comparing it cell by cell."""
    live, closed = _live_rows(dataset, by, now)
    return _read(content, name, Existing(live, closed, answers_of(dataset.target)))


def _live_rows(dataset: Dataset, by: User | None, now: datetime) -> tuple[Rows, set[str]]:
    """The row of each case by its key, whatever its status, and the keys of those that are closed."""
    closed = closed_to(by, dataset, now=now)
    return {row["key"]: row for row in rows_of(Case.objects.filter(dataset_id=dataset.pk)) if row["key"] not in closed}, closed


def _read(content: bytes, name: str, existing: Existing) -> FileRead:
    read = _keep_held_out(read_cases(content, name=name, existing=existing), existing.rows)
    return read if read.problems else read._replace(notes=[*read.notes, *_say_alike(read, existing.rows)])


def _say_alike(read: FileRead, live: Rows) -> list[str]:
    """Rows without a key that read like a case which the file leaves out: a correction of it would come in as a second case.

    Held-out cases are left out for everybody: what a note is about would tell what they say.
    """
    fresh = {row.spec.key: row for row in read.rows if row.spec.key in read.made_keys and row.spec.key not in live}
    if not fresh:
        return []
    brought = {row.spec.key for row in read.rows}
    known = [spec_from(row, row) for key, row in live.items() if key not in brought and not row.get("held_out")]
    alike, compared, rows = find_closest([row.spec for row in fresh.values()], known)
    said = [
        f"La {read.unit} {fresh[pair.key].line} no tiene clave y se parece a «{pair.like}»: si es ese caso corregido, escribe su clave; "
        "si no, entra como caso nuevo."
        for pair in alike[:MOST_ALIKE]
    ]
    if len(alike) > MOST_ALIKE:
        said.append(f"Filas sin clave que se parecen a casos que ya existen: {len(alike):,}. Arriba van las primeras {MOST_ALIKE}.")
    if compared < rows:
        said.append(f"De las {rows:,} filas sin clave se compararon las primeras {compared:,} con los casos que ya existen.")
    return said


def _keep_held_out(read: FileRead, live: Rows) -> FileRead:
    """No file lets a held-out case go; where it would, that is said."""
    let_go = [row.spec.key for row in read.rows if not row.spec.held_out and live.get(row.spec.key, {}).get("held_out")]
    if not let_go:
        return read
    held = set(let_go)
    rows = [row._replace(spec=keep_held_out(row.spec, held_out=row.spec.key in held)) for row in read.rows]
    return read._replace(rows=rows, notes=[*read.notes, _say_kept(let_go)])


def _say_kept(keys: list[str]) -> str:
    more = len(keys) - MOST_KEYS
    named = f"{', '.join(keys[:MOST_KEYS])}{f' y {more:,} más' if more > 0 else ''}"
    one, many = "caso reservado que el archivo no marca lo sigue siendo", "casos reservados que el archivo no marca lo siguen siendo"
    said = say_count(len(keys), one, many)
    return f"{said}: {named}. Para soltar uno usa «Dejar de reservar» en su página."


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
