"""What a metric is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evals.values import CaseSpec, Mark, Outcome


@dataclass(frozen=True, slots=True)
class Metric:
    """A pure opinion on (case, outcome), and how opinions add up.

    `applies` looks at the case alone, so that an answer that never came is missing from the right metrics. `mark` may still
    return None: the metric has nothing to say about this outcome. A mark lies between 0 and 1; in the aggregate each row is
    worth `weight` points of the denominator. `label` is Spanish.
    """

    name: str
    label: str
    applies: Callable[[CaseSpec], bool]
    mark: Callable[[CaseSpec, Outcome], Mark | None]
    unit: Literal["share", "count"] = "share"
    higher_is_better: bool = True
    weight: int = 1


PASSED = Mark(1.0)
FAILED = Mark(0.0)


def yes_or_no(happened: bool, reason: str = "") -> Mark:
    """1 with its reason when it happened, else a plain 0: for metrics that count something bad."""
    return Mark(1.0, reason) if happened else FAILED


def pass_or_fail(passed: bool, reason: str) -> Mark:
    """A plain 1 when it passed, else 0 with its reason."""
    return PASSED if passed else Mark(0.0, reason)
