"""A run, told to people and machines. Pure rendering of one frozen RunReport: nothing here reads the database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evals.values import Aggregate, ModelKind, Policy, Verdict

RowStatus = Literal["pasa", "falla", "error", "sin correr"]


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One result. `expected`, `got` and `reasons` are plain text, and no report shows them when the case is held out."""

    key: str
    repetition: int
    category: str
    blocking: bool
    status: RowStatus
    expected: str
    got: str
    reasons: tuple[str, ...] = ()
    known_limitation: str = ""
    held_out: bool = False


@dataclass(frozen=True, slots=True)
class RulesFigures:
    """How much the rules without a model answer and how often they are wrong, over the cases of one run. `correct` counts all cases.

    `correct` is None where a model answered the rest.
    """

    run_id: int
    answered: Aggregate
    wrong: Aggregate
    correct: Aggregate | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """Everything that a report of one run shows. Counts are results; `rows` come in the order of the dataset."""

    run_id: int
    dataset: str
    version: int
    signed: bool
    target: str
    model_kind: ModelKind
    model_name: str
    prompt_variant: str
    prompt_hash: str
    temperature: float
    repetitions: int
    purpose: str
    commit: str
    recording_set: str
    status: str
    expected: int
    measured: int
    errors: int
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    baseline: Mapping[str, Aggregate] | None = None
    policy: Policy | None = None
    verdict: Verdict | None = None
    rows: tuple[ReportRow, ...] = ()
    changed_between_repetitions: tuple[str, ...] = ()
    rules: RulesFigures | None = None
    version_hash: str = ""
    held_out: int = 0  # cases of the run that are held out
    openings: int = 0  # how often people had opened them when it began
    budget_reached: str = ""  # of a run that a budget stopped: "run" or "day"
