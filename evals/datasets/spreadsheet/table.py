"""A sheet as it was read, before anybody knows what its columns mean."""

from datetime import date, datetime, time
from typing import NamedTuple

from evals.datasets.rows import MAX_ROWS, Problem

MAX_COLUMNS = 200
TOO_MANY_ROWS = f"La hoja tiene más de {MAX_ROWS:,} filas. Divídela en varios archivos."

Value = str | int | float | bool | date | datetime | time | None


class Unreadable(Exception):  # noqa: N818 -- an answer about a file, not a fault
    """The file cannot be read; says what it is and what to do, in Spanish."""


class Table(NamedTuple):
    """Rows with something in them, each with the number that a spreadsheet shows, the header first; `notes` say how they were read."""

    rows: list[tuple[int, list[Value]]]
    notes: list[str]
    problems: list[Problem]


def column_letter(index: int) -> str:
    """`A` for 0, `AA` for 26."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def is_blank(value: Value) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
