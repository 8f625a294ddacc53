"""Goals as data: a figure beyond its goal is marked on its line, listed at the end, and makes `make bench` exit 1."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

MARK = "MISSED"


class Goal(NamedTuple):
    """What one figure of a line must not exceed, and what it was, both in `unit`."""

    figure: str
    measured: float
    most: float
    unit: str

    def __str__(self) -> str:
        met = self.measured <= self.most  # nothing measured (NaN) is a miss
        return f"{'goal' if met else f'{MARK} goal'} {self.figure} {self.most:g} {self.unit}"


def show(line: str, *goals: Goal) -> None:
    """Prints a line with what it had to reach."""
    print("   ".join([line, *map(str, goals)]), flush=True)


def pass_on(lines: Iterable[str]) -> Iterator[str]:
    """Prints each line at once, and gives those that miss a goal."""
    for line in lines:
        print(line, end="", flush=True)
        if MARK in line:
            yield line


def conclude(missed: list[str]) -> int:
    """Lists what missed its goal and gives the exit code: 0 or 1."""
    if missed:
        print(f"\n{len(missed)} of the lines above {MARK} a goal:", *missed, sep="\n", end="", flush=True)
        return 1
    print("\nEvery goal was met.", flush=True)
    return 0
