"""Compound reads of the desk."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform

from evals.datasets.revisions import read_spec
from evals.metrics import MetricTotals, aggregate, operations
from evals.metrics.answers import KIND_WORDS, name_kind
from evals.metrics.metric import FAILED, PASSED
from evals.models import CaseRevision, Dataset, GatePolicy, Result, Run, Score, Scoring
from evals.reports import ReportRow, RunReport
from evals.values import (
    Aggregate,
    CaseSpec,
    Decision,
    DraftFields,
    GateFacts,
    Mark,
    Outcome,
    Policy,
    Threshold,
    policy_from_row,
    verdict_from_row,
)

SHOWN_METRICS = ("correct", "blocking_passed", "never_say_violations", "effects_correct")
REPORT_CHUNK = 200
KEY_OF_SCORE = KeyTextTransform("key", "result__revision__traits")  # as text: a plain JSON path reads the key "2026" as a number


def policy_of(dataset: Dataset) -> Policy | None:
    """The dataset's policy as it stands now."""
    row = GatePolicy.objects.filter(dataset=dataset).prefetch_related("thresholds").first()
    if row is None:
        return None
    kinds = {"scripted": row.needs_scripted, "real": row.needs_real}
    thresholds = (Threshold(limit.metric, limit.op, limit.value, limit.justification) for limit in row.thresholds.all())  # type: ignore[arg-type]
    return Policy(tuple(thresholds), tuple(kind for kind, needed in kinds.items() if needed), row.max_known_limitations)  # type: ignore[misc]


# --- From scores to figures ---------------------------------------------------------------------------------------------


def aggregates_of(scoring: Scoring) -> dict[str, Aggregate]:
    """Every metric of a scoring, summed by the database; nothing is loaded per case but the operational samples."""
    scored = Q(value__isnull=False)
    sums = (
        Score.objects.filter(scoring=scoring)
        .values("metric")
        .annotate(
            total=Sum("value"),
            scored=Count("id", filter=scored),
            missing=Count("id", filter=~scored),
            cases=Count("result__revision_id", filter=scored, distinct=True),
        )
        .order_by("metric")
    )
    totals = [MetricTotals(row["metric"], row["total"] or 0.0, row["scored"], row["cases"], row["missing"]) for row in sums]
    return {row.metric: aggregate(row.metric, row) for row in totals} | operations(_samples(scoring))


def _samples(scoring: Scoring) -> Iterator[tuple[int, int, bool, float, int, bool]]:
    done = Result.objects.filter(run_id=scoring.run_id, status=Result.Status.DONE)
    columns = ("input_tokens", "output_tokens", "tokens_measured", "latency_ms", "cost_micro_usd", "price_known")
    yield from done.values_list(*columns).iterator()


def gate_facts(scoring: Scoring) -> GateFacts:
    """What the gate must know of the run besides its aggregates."""
    run = scoring.run
    causes = run.results.filter(status=Result.Status.ERROR).values_list("error_cause").annotate(n=Count("id")).order_by("error_cause")
    limited = CaseRevision.objects.filter(results__run=run, traits__has_key="known_limitation").distinct()
    return GateFacts(
        model_kind=run.model_kind,  # type: ignore[arg-type]
        expected=run.expected_results,
        measured=run.results.filter(status=Result.Status.DONE).count(),
        errors_by_cause=dict(causes),
        blocking_failed=_keys_scored(scoring, "blocking_passed", 0),
        invalid_accepted=_keys_scored(scoring, "invalid_accepted", 1),
        limitations=tuple(sorted(revision.key for revision in limited)),
        limitations_passing=_limitations_passing(scoring),
    )


def _keys_scored(scoring: Scoring, metric: str, value: float) -> tuple[str, ...]:
    scores = Score.objects.filter(scoring=scoring, metric=metric, value=value).annotate(key=KEY_OF_SCORE)
    return tuple(sorted(set(scores.values_list("key", flat=True))))


def _limitations_passing(scoring: Scoring) -> tuple[str, ...]:
    """Cases with a known limitation that were correct in every repetition."""
    scores = Score.objects.filter(scoring=scoring, metric="correct", result__revision__traits__has_key="known_limitation")
    by_key: dict[str, set[float | None]] = defaultdict(set)
    for key, value in scores.annotate(key=KEY_OF_SCORE).values_list("key", "value"):
        by_key[key].add(value)
    return tuple(sorted(key for key, values in by_key.items() if values == {1.0}))


# --- Runs beside runs ---------------------------------------------------------------------------------------------------


def baseline_run(run: Run) -> Run | None:
    """The newest earlier run that passed: same dataset, target, kind of model and prompt variant."""
    passed = Scoring.objects.filter(run=OuterRef("pk"), is_current=True, decision=Decision.PASS)
    same = Run.objects.filter(
        version__dataset_id=run.version.dataset_id,
        target=run.target,
        model_kind=run.model_kind,
        prompt_variant=run.prompt_variant,
        status=Run.Status.FINISHED,
        pk__lt=run.pk,
    )
    return same.filter(Exists(passed)).order_by("-pk").first()


def baseline_for(run: Run) -> dict[str, Aggregate] | None:
    """The aggregates of the baseline run, if there is one."""
    before = baseline_run(run)
    return None if before is None else stored_aggregates(Scoring.objects.get(run=before, is_current=True))


def stored_aggregates(scoring: Scoring) -> dict[str, Aggregate]:
    """The aggregates as they were written when the scoring closed; empty before that."""
    return {name: Aggregate(**row) for name, row in (scoring.aggregates or {}).items()}


def progress_of(run: Run) -> dict[str, int]:
    """Results of a run by status; every status is a key."""
    counts = dict(run.results.values_list("status").annotate(n=Count("id")).order_by("status"))
    return {status.value: counts.get(status.value, 0) for status in Result.Status}


def is_dead(run: Run, *, now: datetime, grace: timedelta) -> bool:
    """True when a run says that it is running, and nobody has held a lease on it for `grace`."""
    if run.status not in (Run.Status.QUEUED, Run.Status.RUNNING):
        return False
    alive = run.results.filter(Q(lease_until__gte=now) | Q(finished_at__gte=now - grace))
    return not alive.exists() and now - run.created_at > grace


def runs_that_need_help(now: datetime) -> QuerySet[Run]:
    """Unfinished runs on which nobody holds a living lease: never begun, orphaned, or complete but not closed."""
    held = Result.objects.filter(run=OuterRef("pk"), status=Result.Status.CLAIMED, lease_until__gte=now)
    return Run.objects.filter(~Exists(held), status__in=(Run.Status.QUEUED, Run.Status.RUNNING)).order_by("pk")


# --- Reports ------------------------------------------------------------------------------------------------------------


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
    counts = progress_of(run)
    return RunReport(
        run_id=run.pk,
        dataset=run.version.dataset.slug,
        version=run.version.number,
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
    )


def report_rows(scoring: Scoring) -> Iterator[ReportRow]:
    """A row per result, in the order of the dataset; a bounded number of them is in memory at once."""
    results, last = scoring.run.results.select_related("revision").order_by("pk"), 0
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
        held_out=case.held_out,
        known_limitation=case.known_limitation,
        status=_row_status(result, marks),
        expected=describe_expected(case),
        got=describe_outcome(outcome) if outcome else result.error_detail,
        reasons=tuple(mark.reason for mark in marks.values() if mark.reason and mark.value != 1.0),
    )


def _row_status(result: Result, marks: Mapping[str, Mark]) -> Any:
    if result.status == Result.Status.ERROR:
        return "error"
    if result.status != Result.Status.DONE:
        return "sin correr"
    wanted = [marks["correct"].value, marks.get("blocking_passed", PASSED).value, marks.get("effects_correct", PASSED).value]
    return "pasa" if wanted == [1.0, 1.0, 1.0] and not marks.get("never_say_violations", FAILED).value else "falla"


def describe_expected(case: CaseSpec) -> str:
    """What the case expects, in few Spanish words."""
    expected = case.expected
    if expected.draft:
        return _describe_draft(expected.draft)
    details = {"text": expected.text, "labels": ", ".join(expected.labels), "route": expected.route, "tools": ", ".join(expected.tools)}
    return details.get(expected.kind) or KIND_WORDS[expected.kind]


def describe_outcome(outcome: Outcome) -> str:
    """What came out, in few Spanish words, with the code of a rejection."""
    return _describe_draft(outcome.draft) if outcome.draft else name_kind(outcome)


def _describe_draft(draft: DraftFields) -> str:
    return f"{draft.sport} {draft.date:%d/%m/%Y}, {draft.start_hour} a {draft.start_hour + draft.hours} h"


def _changed_between_repetitions(run: Run) -> tuple[str, ...]:
    """Keys of the cases whose outcome was not the same in every repetition."""
    if run.repetitions == 1:
        return ()
    seen: dict[str, set[str]] = defaultdict(set)
    done = run.results.filter(status=Result.Status.DONE).annotate(key=KeyTextTransform("key", "revision__traits"))
    for key, kind, draft in done.values_list("key", "outcome_kind", "outcome__draft").iterator():
        seen[key].add(f"{kind} {sorted((draft or {}).items())}")
    return tuple(sorted(key for key, kinds in seen.items() if len(kinds) > 1))
