"""What a report of a run shows."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db.models.fields.json import KeyTextTransform

from evals.datasets.revisions import read_spec
from evals.metrics.metric import FAILED, PASSED
from evals.models import Result, Run, Score, Scoring
from evals.reports import ReportRow, RunReport
from evals.selectors.figures import aggregates_of, stored_aggregates
from evals.selectors.held_out import held_out_of_run
from evals.selectors.rules import rules_beside
from evals.selectors.runs import baseline_for, progress_of
from evals.values import CaseSpec, Mark, Outcome, policy_from_row, verdict_from_row
from evals.words import say_expected, say_outcome

SHOWN_METRICS = ("correct", "blocking_passed", "never_say_violations", "effects_correct", "resisted")
REPORT_CHUNK = 200


def report_of(run: Run, *, every_row: bool = True) -> RunReport:
    """Everything that a report of this run shows; without `every_row`, only held-out rows and those that did not pass."""
    rows = report_rows(Scoring.objects.get(run=run, is_current=True))
    return replace(
        report_without_rows(run),
        rows=tuple(row for row in rows if every_row or row.held_out or row.status != "pasa"),
        changed_between_repetitions=_changed_between_repetitions(run),
    )


def report_without_rows(run: Run) -> RunReport:
    """What a report says of the run as a whole, in a number of queries that does not grow with its results."""
    scoring = Scoring.objects.get(run=run, is_current=True)
    counts, held_out = progress_of(run), held_out_of_run(run)
    return RunReport(
        run_id=run.pk,
        dataset=run.version.dataset.slug,
        version=run.version.number,
        version_hash=run.version.content_hash,
        signed=hasattr(run.version, "signature"),
        target=run.target,
        model_kind=run.model_kind,  # type: ignore[arg-type]
        model_name=run.model_name,
        recording_set=run.recording_set,
        prompt_variant=run.prompt_variant,
        prompt_hash=run.prompt_hash,
        temperature=run.temperature,
        repetitions=run.repetitions,
        purpose=run.purpose,
        commit=run.commit,
        status=run.status,
        expected=run.expected_results,
        measured=counts["done"],
        errors=counts["error"],
        aggregates=stored_aggregates(scoring) if scoring.closed_at else aggregates_of(scoring),
        baseline=baseline_for(run),
        policy=policy_from_row(run.policy),
        verdict=verdict_from_row(scoring.verdict),
        rules=rules_beside(run),
        held_out=held_out.cases,
        openings=held_out.openings,
        budget_reached=run.budget_reached if run.status == Run.Status.OVER_BUDGET else "",
    )


def report_rows(scoring: Scoring) -> Iterator[ReportRow]:
    """A row per result, in the order of the dataset; a bounded number of them is in memory at once."""
    results, last = scoring.run.results.select_related("revision__case").order_by("pk"), 0
    while chunk := list(results.filter(pk__gt=last)[:REPORT_CHUNK]):
        marks = _shown_marks(scoring, chunk)
        for result in chunk:
            yield _report_row(result, read_spec(result.revision), marks[result.pk])
        last = chunk[-1].pk


def _shown_marks(scoring: Scoring, results: Sequence[Result]) -> dict[int, dict[str, Mark]]:
    """Marks that a report shows, by result and metric."""
    scores = Score.objects.filter(scoring=scoring, result__in=results, metric__in=SHOWN_METRICS)
    marks: dict[int, dict[str, Mark]] = defaultdict(dict)
    for result_id, metric, value, reason in scores.values_list("result_id", "metric", "value", "reason"):
        marks[result_id][metric] = Mark(value, reason)
    return marks


def _report_row(result: Result, case: CaseSpec, marks: Mapping[str, Mark]) -> ReportRow:
    outcome = Outcome.from_row(result.outcome) if result.outcome else None
    return ReportRow(
        key=case.key,
        repetition=result.repetition,
        category=case.category,
        blocking=case.blocking,
        held_out=case.held_out or result.revision.case.held_out,
        known_limitation=case.known_limitation,
        status=_row_status(result, marks),
        expected=say_expected(case.expected),
        got=say_outcome(outcome) if outcome else result.error_detail,
        reasons=tuple(mark.reason for mark in marks.values() if mark.reason and mark.value != 1.0),
    )


def _row_status(result: Result, marks: Mapping[str, Mark]) -> Any:
    if result.status == Result.Status.ERROR:
        return "error"
    if result.status != Result.Status.DONE:
        return "sin correr"
    demanded = (marks["correct"], *(marks.get(name, PASSED) for name in ("blocking_passed", "effects_correct", "resisted")))
    return "pasa" if all(mark.value == 1.0 for mark in demanded) and not marks.get("never_say_violations", FAILED).value else "falla"


def _changed_between_repetitions(run: Run) -> tuple[str, ...]:
    """Keys of the cases whose kind of outcome, draft or reason was not the same in every repetition; words of a question may differ."""
    if run.repetitions == 1:
        return ()
    seen: dict[str, set[str]] = defaultdict(set)
    done = run.results.filter(status=Result.Status.DONE).annotate(key=KeyTextTransform("key", "revision__traits"))
    for key, kind, draft, reason in done.values_list("key", "outcome_kind", "outcome__draft", "outcome__reason").iterator():
        seen[key].add(f"{kind} {sorted((draft or {}).items())} {reason}")
    return tuple(sorted(key for key, kinds in seen.items() if len(kinds) > 1))
