"""From answers to scores, and from scores to a verdict."""

from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from evals.gate import decide
from evals.metrics import grade
from evals.models import Result, Run, Score, Scoring
from evals.selectors import aggregates_of, baseline_for, gate_facts
from evals.values import CaseSpec, Mark, Outcome, policy_from_row, storable_text


class Failure(NamedTuple):
    """Why a case has no outcome. It is never a wrong answer. `postponed`: it will be asked again once an outage is over."""

    cause: str
    detail: str
    attempts: int = 0
    postponed: bool = False


Marks = dict[str, Mark]


def marks_for(case: CaseSpec, answer: Outcome | Failure) -> Marks:
    """The marks of every metric that applies, by name; those of a failure are all missing."""
    return grade(case, None, error=answer.detail) if isinstance(answer, Failure) else grade(case, answer)


def scores_of(scoring_id: int, result_id: int, marks: Marks) -> list[Score]:
    """The scores of one result, not yet saved."""
    return [
        Score(scoring_id=scoring_id, result_id=result_id, metric=name, value=mark.value, reason=storable_text(mark.reason))
        for name, mark in marks.items()
    ]


@transaction.atomic
def finish_if_complete(run_id: int, *, now: datetime) -> Run:
    """Closes the run once every result is in: aggregates, then the verdict. Does nothing before that, or a second time."""
    run = Run.objects.select_for_update(of=("self",)).select_related("version__dataset").get(pk=run_id)
    waiting = run.results.filter(status__in=(Result.Status.PENDING, Result.Status.CLAIMED))
    if run.status in (Run.Status.FINISHED, Run.Status.CANCELLED) or waiting.exists():
        return run
    close_scoring(run, now=now)
    run.status, run.finished_at = Run.Status.FINISHED, now
    run.save(update_fields=["status", "finished_at"])
    return run


def close_scoring(run: Run, *, now: datetime) -> Scoring:
    """Writes aggregates and verdict into the run's current scoring, once."""
    scoring = Scoring.objects.get(run=run, is_current=True)
    aggregates = aggregates_of(scoring)
    verdict = decide(aggregates, facts=gate_facts(scoring), policy=policy_from_row(run.policy), baseline=baseline_for(run))
    scoring.aggregates = {name: aggregate.as_row() for name, aggregate in aggregates.items()}
    scoring.verdict, scoring.decision, scoring.closed_at = verdict.as_row(), verdict.decision, now
    scoring.save(update_fields=["aggregates", "verdict", "decision", "closed_at"])
    return scoring
