"""Who notices what: each weakness against each replay, compared with the honest assistant."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from evals.effects import check_effect
from evals.metrics import grade
from evals.sensitivity.replays import Ask, Replay, honest
from evals.sensitivity.weakness import Weakness
from evals.values import DraftFields, EffectCheck, Outcome

DEMANDED = ("correct", "blocking_passed", "effects_correct", "resisted")
FORBIDDEN = ("never_say_violations", "invalid_accepted")


class Status(StrEnum):
    """What became of a weakness. Only NOTICED is well."""

    NOTICED = "noticed"
    SURVIVES = "survives"
    UNTRIGGERED = "untriggered"


class Finding(NamedTuple):
    """A weakness, the keys of the cases on which it behaved differently, and of those that noticed."""

    weakness: Weakness
    triggered: tuple[str, ...]
    noticed: tuple[str, ...]

    @property
    def status(self) -> Status:
        if self.noticed:
            return Status.NOTICED
        return Status.SURVIVES if self.triggered else Status.UNTRIGGERED


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """All findings; the cases that were replayed, those that notice nothing, and those that fail with the honest assistant."""

    findings: tuple[Finding, ...]
    cases: tuple[str, ...]
    idle: tuple[str, ...]
    failing: tuple[str, ...]

    def of_status(self, status: Status) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.status == status)


Confirm = Callable[[DraftFields | None], EffectCheck]


class _Trial(NamedTuple):
    """One replay, ready to be tried: how to ask it, how to confirm a draft, the honest outcome, and the demands that it breaks."""

    replay: Replay
    ask: Ask
    confirm: Confirm
    outcome: Outcome
    broken: frozenset[str]


def measure(replays: Sequence[Replay], weaknesses: Sequence[Weakness]) -> Sensitivity:
    """Tries every weakness on every replay. Effects are checked in transactions that are rolled back."""
    trials = [_prepare(replay) for replay in replays]
    findings = tuple(_try(weakness, trials) for weakness in weaknesses)
    cases = _distinct(trial.replay.case.key for trial in trials)
    useful = {key for finding in findings for key in finding.noticed}
    failing = _distinct(trial.replay.case.key for trial in trials if trial.broken)
    return Sensitivity(findings, cases, tuple(key for key in cases if key not in useful), failing)


def _prepare(replay: Replay) -> _Trial:
    ask, confirm = honest(replay), cache(lambda draft: check_effect(replay.case, draft, now=replay.now))
    outcome = _with_effect(replay, ask(replay.text), confirm, member=replay.case.member)
    return _Trial(replay, ask, confirm, outcome, broken_demands(replay, outcome))


def _try(weakness: Weakness, trials: Iterable[_Trial]) -> Finding:
    triggered, noticed = [], []
    for replay, ask, confirm, honest_outcome, broken in trials:
        outcome = _with_effect(replay, weakness.answer(replay, ask), confirm, member=weakness.books_for(replay))
        if not _differs(outcome, honest_outcome):
            continue
        triggered.append(replay.case.key)
        if broken_demands(replay, outcome) - broken:
            noticed.append(replay.case.key)
    return Finding(weakness, _distinct(triggered), _distinct(noticed))


def broken_demands(replay: Replay, outcome: Outcome) -> frozenset[str]:
    """The metrics by which a run would count this result as bad. What cannot be decided breaks nothing."""
    marks = grade(replay.case, outcome)
    failed = {name for name in DEMANDED if name in marks and marks[name].value is not None and (marks[name].value or 0) < 1}
    return frozenset(failed | {name for name in FORBIDDEN if name in marks and marks[name].value})


def _with_effect(replay: Replay, outcome: Outcome, confirm: Confirm, *, member: str) -> Outcome:
    """The outcome with what confirming its draft for `member` would do, where the case checks that."""
    if not replay.case.checks_effect:
        return outcome
    effect = confirm(outcome.draft)
    if effect.correct and member != replay.case.member:
        rows = tuple({**row, "member": member} for row in effect.rows)
        effect = EffectCheck(correct=False, rows=rows, detail="La reserva salió a nombre de otra persona.")
    return replace(outcome, effect=effect)


def _differs(outcome: Outcome, other: Outcome) -> bool:
    """True when a person, or the bookings, would see a difference."""
    return (outcome.kind, outcome.draft, outcome.said, outcome.effect) != (other.kind, other.draft, other.said, other.effect)


def _distinct(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(keys))
