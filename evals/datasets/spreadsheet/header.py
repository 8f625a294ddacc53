"""The first row of a sheet: which column is which, by name."""

import difflib
import re
from typing import NamedTuple

from evals.datasets.checks import shown
from evals.datasets.rows import Problem
from evals.datasets.spreadsheet.columns import COLUMNS, DAY, KEY, MESSAGES, NEVER_SAY, RIGHT, TEXT
from evals.datasets.spreadsheet.table import MAX_COLUMNS, Table, Value, column_letter, is_blank
from evals.datasets.spreadsheet.values import fold

SITUATION = "situación"
ALIASES = {
    SITUATION: ("situacion", "la situacion"),
    TEXT: ("lo que escribiria el cliente", "lo que escribe el cliente", "lo que escribiria la persona", "mensaje", "pregunta", "entrada"),
    RIGHT: ("respuesta correcta", "lo que es correcto", "la respuesta correcta", "respuesta esperada", "esperado"),
    NEVER_SAY: ("lo que nunca debe decirse", "nunca debe decir", "nunca decir", "prohibido"),
    DAY: ("fecha de la situacion", "dia de la situacion"),
}
# Says that we wrote the file, how its texts are to be read, and how many held-out cases stayed at home.
MARK = re.compile(r"kallpa (csv|xlsx)\b.*", re.IGNORECASE | re.DOTALL)
_MIN_LIKENESS = 0.78

_BY_NAME = {fold(name): name for name in COLUMNS}
_BY_NAME |= {alias: name for name, names in ALIASES.items() for alias in names}


class Header(NamedTuple):
    """Column names by position; positions whose name is not known are not in it. `mark`: csv or xlsx for a file of ours, else empty."""

    names: dict[int, str]
    notes: list[str]
    problems: list[Problem]
    mark: str = ""

    def position(self, column: str) -> int:
        """Where the column stands; MAX_COLUMNS when the sheet does not have it."""
        return next((position for position, name in self.names.items() if name == column), MAX_COLUMNS)

    def place(self, column: str) -> str:
        """`C «fecha»`, or the name alone when the sheet does not have the column."""
        position = self.position(column)
        return f"«{column}»" if position == MAX_COLUMNS else f"{column_letter(position)} «{column}»"


def name_of(cell: Value) -> str:
    """The column that a header cell names, or an empty string."""
    said = fold(str(cell if cell is not None else "")).strip(" *:")
    recording = re.fullmatch(r"grabacion ([a-z0-9][a-z0-9-]{0,39}): (salida|invalida|nota|origen)", said)
    if recording:
        return f"grabación {recording[1]}: {'inválida' if recording[2] == 'invalida' else recording[2]}"
    return _BY_NAME.get(said, "")


def weigh(header: list[str]) -> int:
    """How many columns of a header are known."""
    return sum(bool(name_of(cell)) or cell.startswith("__") for cell in header)


def read_header(table: Table) -> Header:
    """Reads the first row; unknown columns are named, repeated ones and those that look like a slip are problems."""
    number, cells = table.rows[0]
    header = Header({position: name for position, cell in enumerate(cells) if (name := name_of(cell))}, [], [], _mark_of(cells))
    header.problems.extend(_repeated(number, header.names))
    for position in [position for position in range(_width(table)) if position not in header.names]:
        _judge_unknown(table, header, position)
    if TEXT not in header.names.values() and not {KEY, MESSAGES} & set(header.names.values()):
        header.problems.append(Problem(number, "", _say_missing()))
    return header


def _mark_of(cells: list[Value]) -> str:
    found = next((match for cell in cells if (match := MARK.fullmatch(str(cell)))), None)
    return found[1].lower() if found else ""


def _repeated(number: int, names: dict[int, str]) -> list[Problem]:
    problems, seen = [], dict[str, int]()
    for position, name in names.items():
        before = seen.setdefault(name, position)
        if before != position:
            both = f"{column_letter(before)} y {column_letter(position)}"
            problems.append(Problem(number, f"{column_letter(position)} «{name}»", f"La columna está dos veces, en {both}. Deja una sola."))
    return problems


def _width(table: Table) -> int:
    return max(len(cells) for _, cells in table.rows)


def _judge_unknown(table: Table, header: Header, position: int) -> None:
    number, cells = table.rows[0]
    said = cells[position] if position < len(cells) else None
    below = next((row for row, values in table.rows[1:] if position < len(values) and not is_blank(values[position])), 0)
    letter = column_letter(position)
    if is_blank(said):
        if below:
            header.problems.append(
                Problem(below, letter, f"Hay algo escrito en la columna {letter}, que no tiene título en la fila {number}.")
            )
    elif MARK.fullmatch(str(said)):
        if below:
            header.problems.append(
                Problem(below, letter, "En la columna de Kallpa no se escribe nada. Borra lo que hay debajo del título.")
            )
    elif alike := _resembling(str(said)):
        header.problems.append(Problem(number, letter, f"La columna {shown(said)} no se conoce. ¿Quisiste decir «{alike}»?"))
    else:
        header.notes.append(f"La columna {letter} {shown(said)} no se conoce y no se leyó.")


def _resembling(said: str) -> str:
    close = difflib.get_close_matches(fold(said)[:80], _BY_NAME, n=1, cutoff=_MIN_LIKENESS)
    return _BY_NAME[close[0]] if close else ""


def _say_missing() -> str:
    names = ", ".join(f"«{name}»" for name in (SITUATION, TEXT, RIGHT, NEVER_SAY))
    return (
        f"La primera fila no dice qué es cada columna: falta al menos «{TEXT}». Los títulos mínimos son {names}; la plantilla trae todos."
    )
