"""What came out of a file with cases, whatever its format."""

from typing import NamedTuple

from evals.datasets.rows import ParsedRow, Problem


class FileRead(NamedTuple):
    """The cases of a file, what is wrong with it, and sentences that say how it was read. With one problem it is to be refused whole.

    `unit` is what a row's number counts: `fila`, `línea` or `prueba`.
    """

    rows: list[ParsedRow]
    problems: list[Problem]
    notes: list[str]
    unit: str = "fila"


def say_place(problem: Problem, unit: str) -> str:
    """`fila 3 · F «fecha»`."""
    return " · ".join(part for part in (f"{unit} {problem.line}" if problem.line else "archivo", problem.field) if part)
