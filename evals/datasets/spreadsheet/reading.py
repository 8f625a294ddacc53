"""A table of cases as rows of the dataset, or what is wrong with it, cell by cell.

A column that the sheet does not have leaves what an existing case says; a blank cell of a column that it has means nothing there.
"""

import difflib
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from bookings.exports import restore
from evals.datasets import lines
from evals.datasets.checks import Fault
from evals.datasets.lines import LineError
from evals.datasets.row_format import DRAFT_KEYS, MAX_FAULTS, check_row
from evals.datasets.rows import ParsedRow, Problem, recordings_from, spec_from
from evals.datasets.spreadsheet.columns import (
    CATEGORY,
    CLOCK,
    COLUMN_OF,
    DATE,
    DAY,
    DETAILS,
    HOURS,
    KEY,
    KINDS,
    NOTES,
    OCCUPIED,
    RECORDING,
    REFERENCE,
    RIGHT,
    SPORT,
    START,
    STRATA,
    STRATUM,
    TEXT,
    CellsRead,
    cells_of,
    row_of_cells,
)
from evals.datasets.spreadsheet.file import Existing, FileRead, refuse_closed, refuse_kind
from evals.datasets.spreadsheet.header import SITUATION, Header, read_header
from evals.datasets.spreadsheet.table import Table, Value, is_blank
from evals.datasets.spreadsheet.template import EXAMPLE, EXAMPLE_KEY
from evals.datasets.spreadsheet.values import CellError, fold, is_damaged, read_moment, read_text
from evals.values import canonical_hash

UNSORTED = "por-clasificar"
KIND_WORDS = {fold(label): label for label in KINDS.values()} | {fold(code): label for code, label in KINDS.items()}
KIND_WORDS |= {
    fold(said): KINDS[kind]
    for kind, words in {
        "draft": ("borrador", "llenar un borrador", "reserva"),
        "clarify": ("preguntar", "debe preguntar", "pide un dato"),
        "refuse": ("declinar", "rechaza", "rechazar", "debe declinar"),
    }.items()
    for said in words
}
COMPACT = re.compile(r"(borrador|etiquetas|ruta|herramientas|texto)\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
DETAIL_COLUMNS = {column for columns in DETAILS.values() for column in columns}
HOW_TO_WRITE_IT = "2026-03-09 10:00; debajo, en la misma celda, las horas ocupadas si importan: 2026-03-10 fulbito 18 Los Halcones"
COMPACT_COLUMNS = {"etiquetas": "labels", "ruta": "route", "herramientas": "tools", "texto": "text"}


def read_table(table: Table, existing: Existing) -> FileRead:
    """The cases of a sheet; what it has no column for is taken from the existing ones."""
    if len(table.rows) < 2:
        return FileRead(
            [],
            [*table.problems, Problem(0, "", "El archivo no tiene ningún caso. Escribe uno por fila, debajo de los títulos.")],
            table.notes,
        )
    header = read_header(table)
    problems = [*table.problems, *header.problems]
    reader = _Reader(header, existing)
    told = {problem.line for problem in table.problems}
    if not header.problems:
        for number, cells in [row for row in table.rows[1:] if row[0] not in told]:
            reader.read(number, cells)
            if len(reader.problems) >= MAX_FAULTS:
                reader.problems.append(
                    Problem(0, "", "Hay demasiados problemas; no se revisó el resto. Corrige estos y vuelve a importar.")
                )
                break
    problems += reader.problems
    if not problems and not reader.rows:
        problems.append(Problem(0, "", "El archivo no tiene ningún caso: solo la fila de ejemplo. Escribe los tuyos debajo."))
    problems.sort(key=lambda problem: problem.line)
    notes = [*table.notes, *header.notes, *reader.say_counts()]
    return FileRead(reader.rows, problems, notes, made_keys=frozenset(reader.made_keys))


class _Reader:
    """Reads row after row and remembers keys, problems and what was assumed."""

    def __init__(self, header: Header, existing: Existing) -> None:
        self.header, self.existing = header, existing
        self.rows: list[ParsedRow] = []
        self.problems: list[Problem] = []
        self.seen: dict[str, int] = {}
        self.made_keys: set[str] = set()
        self.assumed: Counter[str] = Counter()

    def read(self, number: int, values: list[Value]) -> None:
        cells = self._cells(values)
        if cells.get(KEY) == EXAMPLE_KEY:
            self._judge_example(number, cells)
            return
        faults: list[tuple[str, str]] = []
        cells = _expand_right(_expand_situation(cells, faults), faults, self.assumed)
        key = self._key_of(cells)
        if key in self.existing.closed:
            self.problems.append(refuse_closed(number, key, "fila"))
            return
        before = self.existing.rows.get(key)
        found = row_of_cells(self._complete(cells, before) | {KEY: key})
        faults += [*found.faults, *self._damaged(cells, before)]
        if why := refuse_kind(key, found.row["expected"].get("kind", ""), self.existing):
            faults.append((RIGHT, why))
        if before is None and key in self.made_keys and found.row.get("held_out"):
            faults.append((KEY, "Todos ven la clave de un caso reservado: escribe una que no cuente lo que dice."))
        told = {column for column, _ in faults}
        of_the_row = [_place_fault(fault, found) for fault in check_row(found.row)]
        faults += [(column, message) for column, message in of_the_row if column not in told]
        if not faults and self.seen.setdefault(key, number) != number:
            faults.append(
                (KEY, f"La fila {self.seen[key]} y la fila {number} son el mismo caso, «{key}». Cambia una de las dos claves o bórrala.")
            )
        faults = [self._where_written(*fault) for fault in faults]
        faults.sort(key=lambda fault: self.header.position(fault[0]))
        self.problems += [Problem(number, self.header.place(column), message) for column, message in faults]
        if not faults:
            self._miss_the_day(found.row)
            self.rows.append(ParsedRow(number, spec_from(found.row, found.row), recordings_from(found.row)))

    def _where_written(self, column: str, message: str) -> tuple[str, str]:
        """What the sheet says in one cell for several columns has its faults there, each with the name of what is wrong."""
        present = self.header.names.values()
        whole = SITUATION if column in (DAY, CLOCK, OCCUPIED) else RIGHT if column in DETAIL_COLUMNS else ""
        return (whole, f"En {column}: {message}") if whole in present and column not in present else (column, message)

    def _cells(self, values: list[Value]) -> dict[str, Value]:
        named = {name: values[position] for position, name in self.header.names.items() if position < len(values)}
        if self.header.mark == "csv":
            named = {name: restore(value) if isinstance(value, str) else value for name, value in named.items()}
        return {name: value for name, value in named.items() if not is_blank(value) or _means_blanks(name, named)}

    def _judge_example(self, number: int, cells: dict[str, Value]) -> None:
        if {name: str(value) for name, value in cells.items()} == {
            name: EXAMPLE[name] for name in EXAMPLE if name in self.header.names.values()
        }:
            self.assumed[f"La fila {number} es el ejemplo de la plantilla y no se importó."] = 0
        else:
            message = "Esta fila conserva la clave del ejemplo de la plantilla. Escribe otra clave, o borra la fila si no es un caso tuyo."
            self.problems.append(Problem(number, self.header.place(KEY), message))

    def _key_of(self, cells: Mapping[str, Value]) -> str:
        if KEY in cells:
            return str(cells[KEY]).strip()
        row = row_of_cells(cells).row
        self.assumed["Filas sin clave: {n}. Se hizo una con el texto y la situación; la misma fila tendrá siempre la misma."] += 1
        self.made_keys.add(made := key_from(row))
        return made

    def _complete(self, cells: Mapping[str, Value], before: Mapping[str, Any] | None) -> dict[str, Value]:
        """With what the sheet has no column for: from the case as it is, else the defaults."""
        complete: dict[str, Value] = {}
        if before:
            complete |= {column: text for column, text in cells_of(before).items() if self._is_kept(column, cells, before)}
        complete |= cells
        for column, default in ((CATEGORY, UNSORTED), (STRATUM, STRATA["happy"])):
            if column not in complete:
                self.assumed[f"Filas sin {column}: {{n}}. Quedan en «{default}»."] += 1
                complete[column] = default
        return complete

    def _is_kept(self, column: str, cells: Mapping[str, Value], before: Mapping[str, Any]) -> bool:
        if RECORDING.fullmatch(column):
            return False  # an import takes no recording away
        present = set(self.header.names.values())
        if SITUATION in present and column in (DAY, CLOCK, OCCUPIED):
            return False
        if RIGHT in present and column in DETAILS.get(before["expected"]["kind"], ()):
            return column not in present and fold(str(cells.get(RIGHT, ""))) == fold(KINDS[before["expected"]["kind"]])
        return column not in present or column in (CATEGORY, STRATUM)

    def _miss_the_day(self, row: Mapping[str, Any]) -> None:
        """A right draft has a date of its own; without the day on which the person writes, «mañana» moves on and the case fails."""
        if row["expected"]["kind"] == "draft" and "now" not in row.get("context", {}):
            self.assumed[
                "Filas que llenan un borrador sin decir qué día y qué hora es: {n}. «Mañana» significará otra cosa en cada corrida: "
                "escribe la situación."
            ] += 1

    def _damaged(self, cells: Mapping[str, Value], before: Mapping[str, Any] | None) -> list[tuple[str, str]]:
        """Accents that were lost before the file came here; text that the case has already is taken as meant."""
        broken = [column for column, value in cells.items() if isinstance(value, str) and is_damaged(value)]
        known = cells_of(before) if broken and before else {}
        message = "Las tildes de este texto llegaron dañadas. Escríbelo otra vez y guarda el archivo como «CSV UTF-8» o como .xlsx."
        return [(column, message) for column in broken if known.get(column) != cells[column]] if not self.header.mark else []

    def say_counts(self) -> list[str]:
        missing = [name for name in (TEXT, RIGHT) if name not in self.header.names.values()]
        kept = [f"La hoja no trae la columna «{name}»: en los casos que ya existen se queda como está." for name in missing]
        return kept + [sentence.format(n=count) for sentence, count in self.assumed.items()]


def _means_blanks(name: str, cells: Mapping[str, Value]) -> bool:
    """Text of nothing but blanks counts where the format keeps it: in notes, and in a recording that has its mark."""
    if cells[name] in (None, ""):
        return False
    recording = RECORDING.fullmatch(name)
    return name == NOTES or bool(recording and not is_blank(cells.get(f"grabación {recording[1]}: inválida")))


def key_from(row: Mapping[str, Any]) -> str:
    """A key for a row without one: the same for the same text in the same situation, and for no other."""
    given = row.get("input", {})
    said = given.get("text") or next((message["content"] for message in given.get("messages", ())), "")
    words = re.sub(r"[^a-z0-9]+", "-", fold(said))[:40].strip("-")
    return f"{words or 'caso'}-{canonical_hash([given, row.get('context', {})])[:8]}"


def _expand_situation(cells: dict[str, Value], faults: list[tuple[str, str]]) -> dict[str, Value]:
    """One cell for the whole situation: a date with its hour, and below it the taken hours."""
    if SITUATION not in cells:
        return cells
    rest = {name: value for name, value in cells.items() if name != SITUATION}
    value, taken = cells[SITUATION], ""
    if isinstance(value, str):
        first, _, taken = lines.one_break(value.strip()).partition("\n")
        value = first.strip()
    if both := [name for name in (DAY, CLOCK) if name in rest]:
        faults.append((both[0], f"La fila ya dice la situación en «{SITUATION}». Deja una de las dos."))
        return rest
    try:
        day, clock = read_moment(value)
    except CellError:
        faults.append((SITUATION, f"No se entiende la fecha y hora en que la persona escribe. Escribe así: {HOW_TO_WRITE_IT}."))
        return rest
    if clock is None:
        faults.append((SITUATION, f"Falta la hora en que la persona escribe. Ponla junto a la fecha, así: {HOW_TO_WRITE_IT}."))
        return rest
    below = f"\n{taken}"  # so that a line has the number that it has in the cell
    return rest | {DAY: day, CLOCK: clock} | ({OCCUPIED: below} if taken.strip() else {})


def _expand_right(cells: dict[str, Value], faults: list[tuple[str, str]], assumed: Counter[str]) -> dict[str, Value]:
    """What is right in one cell: a kind, `borrador: deporte=fulbito, …`, or the text of the right answer."""
    if RIGHT not in cells:
        given = [kind for kind, columns in DETAILS.items() if any(column in cells for column in columns)]
        return cells | ({RIGHT: KINDS[given[0]]} if len(given) == 1 else {})
    try:
        said = read_text(cells[RIGHT])
        if label := KIND_WORDS.get(fold(said)):
            return cells | {RIGHT: label}
        if found := COMPACT.fullmatch(said.strip()):
            return cells | _expand_compact(found[1].lower(), found[2])
        _refuse_slip(said)
    except CellError as error:
        faults.append((RIGHT, str(error)))
        return {name: value for name, value in cells.items() if name != RIGHT}
    assumed[f"Filas en que «{RIGHT}» no es un tipo: {{n}}. Se tomó como el texto de la respuesta, palabra por palabra."] += 1
    return cells | {RIGHT: KINDS["text"], REFERENCE: said}


def _expand_compact(kind: str, rest: str) -> dict[str, Value]:
    if kind != "borrador":
        code = COMPACT_COLUMNS[kind]
        return {RIGHT: KINDS[code], DETAILS[code][0]: rest}
    try:
        fields = lines.read_obeying(f"borrador: {rest}")[0][0]["fields"]
    except LineError as error:
        raise CellError(error.message) from error
    columns = dict(zip(DRAFT_KEYS, (SPORT, DATE, START, HOURS), strict=True))
    return {RIGHT: KINDS["draft"], **{columns[name]: value for name, value in fields.items()}}


def _refuse_slip(said: str) -> None:
    close = difflib.get_close_matches(fold(said)[:60], KIND_WORDS, n=1, cutoff=0.8)
    if close:
        raise CellError(f"¿Quisiste decir «{KIND_WORDS[close[0]]}»? Si es el texto de la respuesta, escribe «texto: {said[:40]}».")


def _place_fault(fault: Fault, found: CellsRead) -> tuple[str, str]:
    """The column of a fault, and its message with the line of the cell where that says more."""
    path, _, rest = fault.where.partition("#")
    if path == "recordings":
        return _place_recording_fault(fault, found)
    known = [name for name in COLUMN_OF if path == name or path.startswith(f"{name}.")]
    column = COLUMN_OF[max(known, key=len)] if known else KEY
    if path == "input" and "input" not in found.row:
        return TEXT, "Falta lo que escribe la persona. Escríbelo."
    if path == "expected.kind" and not found.row.get("expected"):
        return RIGHT, f"Falta lo correcto. Escribe uno de estos: {', '.join(KINDS.values())}."
    places, number = found.lines.get(column, []), rest.partition(".")[0]
    line = places[int(number) - 1] if number.isdecimal() and int(number) <= len(places) else 0
    return column, f"Línea {line}: {fault.message}" if line > 1 or len(places) > 1 else fault.message


def _place_recording_fault(fault: Fault, found: CellsRead) -> tuple[str, str]:
    number, _, field = fault.where.partition("#")[2].partition(".")
    recording = found.row["recordings"][int(number) - 1] if number.isdecimal() else {}
    part = {"text": "salida", "note": "nota"}.get(field, "origen" if field.startswith("origin") else "salida")
    return f"grabación {recording.get('set', 'base')}: {part}", fault.message
