"""What came out of a file with cases, whatever its format."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from evals.datasets.rows import ParsedRow, Problem
from evals.datasets.spreadsheet.columns import KINDS, say_kinds


class Existing(NamedTuple):
    """The rows of a dataset by key, and the keys of the cases that whoever brings the file has not open.

    `answers`: the kinds of right answer that its target can give; empty when nobody knows.
    """

    rows: Mapping[str, Mapping[str, Any]]
    closed: Collection[str] = ()
    answers: Collection[str] = ()


NOTHING = Existing({})


class FileRead(NamedTuple):
    """The cases of a file, what is wrong with it, and sentences that say how it was read. With one problem it is to be refused whole.

    `unit` is what a row's number counts: `fila`, `línea` or `prueba`. `made_keys`: those of rows that came without one.
    """

    rows: list[ParsedRow]
    problems: list[Problem]
    notes: list[str]
    unit: str = "fila"
    made_keys: frozenset[str] = frozenset()


def refuse_closed(line: int, key: str, unit: str) -> Problem:
    """A row that speaks of a closed case; it tells nothing of it but that."""
    return Problem(
        line,
        f"«{key}»",
        f"Es un caso reservado y no lo tienes abierto. Ábrelo en su página con un motivo, si tienes el permiso, o quita esa {unit}.",
    )


def refuse_kind(key: str, kind: str, existing: Existing) -> str:
    """Why the target can never give a right answer of this kind, or nothing. A case that has it already can be read and mended."""
    before = existing.rows.get(key)
    if not existing.answers or kind not in KINDS or kind in existing.answers or (before and before["expected"]["kind"] == kind):
        return ""
    return (
        f"Esto se lee como «{KINDS[kind]}», y el sistema evaluado no responde así: el caso nunca saldría bien. Escribe uno de estos: "
        f"{say_kinds(existing.answers)}."
    )


def say_place(problem: Problem, unit: str) -> str:
    """`fila 3 · F «fecha»`."""
    return " · ".join(part for part in (f"{unit} {problem.line}" if problem.line else "archivo", problem.field) if part)
