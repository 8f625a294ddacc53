"""What a health report is made of: facts go in, checks with a level come out. Pure."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from evals.figures import say_count, say_number, say_percent
from evals.values import CaseSpec


class Level(StrEnum):
    """How a check came out, the best first. Only LACKING makes the command fail."""

    GOOD = "bien"
    CARE = "atención"
    LACKING = "falta"


LEVELS = tuple(Level)


class Stored(NamedTuple):
    """A recording in force: its set and what the model wrote."""

    set_name: str
    text: str


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """One case with what is known of it. `reviewed_at` (aware): when somebody last edited it, or signed it as it is; None: unknown."""

    spec: CaseSpec
    recordings: tuple[Stored, ...] = ()
    reviewed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """What the checks look at. `openings` counts the times that somebody opened a held-out case; `now` is aware."""

    cases: tuple[CaseFacts, ...]
    owned: bool
    now: datetime
    openings: int = 0

    @property
    def specs(self) -> tuple[CaseSpec, ...]:
        return tuple(case.spec for case in self.cases)

    @property
    def is_battery(self) -> bool:
        """True for a dataset of attacks and their benign twins alone: other datasets hold what people usually ask."""
        return bool(self.cases) and all(spec.attack or spec.benign for spec in self.specs)


class Alike(NamedTuple):
    """A case, and an earlier one that it resembles."""

    key: str
    like: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: `count` of `total` (0: there is nothing to divide by), what it means and what to do.

    `keys` names the cases behind it, held-out ones too; `rows` breaks the figure down.
    """

    name: str
    title: str
    level: Level
    count: int
    total: int
    sentence: str
    advice: str = ""
    keys: tuple[str, ...] = ()
    rows: tuple[tuple[str, int], ...] = ()
    alike: tuple[Alike, ...] = ()

    @property
    def figure(self) -> str:
        """`120/200 (60 %)`, a bare number where there is nothing to divide by, or a dash where nothing was counted."""
        if not self.total:
            return say_number(self.count) if self.count else "—"
        return f"{say_number(self.count)}/{say_number(self.total)} ({say_percent(self.count / self.total)})"

    def as_row(self, closed: Collection[str]) -> dict[str, Any]:
        """JSON-ready, without the cases of `closed`, which are only counted."""
        row = asdict(self) | {"level": self.level.value, "figure": self.figure}
        row["keys"] = [key for key in self.keys if key not in closed]
        row["held_out_keys"] = len(self.keys) - len(row["keys"])
        row["alike"] = [list(pair) for pair in self.alike if not {*pair} & {*closed}]
        row["rows"] = [list(pair) for pair in self.rows]
        return row


@dataclass(frozen=True, slots=True)
class HealthReport:
    """All checks of a dataset, in the order in which people read them; `held_out` are the keys that only some may see."""

    checks: tuple[Check, ...]
    cases: int
    held_out: frozenset[str]
    at: datetime

    @property
    def level(self) -> Level:
        """The worst of its checks."""
        return max((check.level for check in self.checks), key=LEVELS.index)

    def of_level(self, level: Level) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.level == level)

    def as_row(self, *, show_held_out: bool = False) -> dict[str, Any]:
        """JSON-ready. Unless told otherwise it names no held-out case, so that it may be stored and shown to anybody."""
        closed = frozenset() if show_held_out else self.held_out
        return {
            "level": self.level.value,
            "at": self.at.isoformat(),
            "cases": self.cases,
            "held_out": len(self.held_out),
            "checks": [check.as_row(closed) for check in self.checks],
        }


def grade(*, lacking: bool = False, care: bool = False) -> Level:
    """The worst level whose condition holds."""
    return Level.LACKING if lacking else Level.CARE if care else Level.GOOD


def say_names(keys: Collection[str], closed: Collection[str], *, most: int) -> str:
    """At most `most` of the keys that are not closed, then how many more there are: `a, b y 3 más, y 1 reservado`."""
    shown = [key for key in keys if key not in closed]
    hidden = len(keys) - len(shown)
    named = ", ".join(shown[:most]) + (f" y {say_number(len(shown) - most)} más" if len(shown) > most else "")
    held_out = say_count(hidden, "reservado", "reservados") if hidden else ""
    return ", y ".join(part for part in (named, held_out) if part)


def say_cases(count: int) -> str:
    """`1 caso`, `1,234 casos`."""
    return say_count(count, "caso", "casos")
