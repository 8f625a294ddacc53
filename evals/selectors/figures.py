"""From scores to figures, summed by the database."""

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import Count, Q, Sum
from django.db.models.fields.json import KeyTextTransform

from evals.metrics import METRICS, MetricTotals, aggregate, operations
from evals.models import CaseRevision, Result, Score, Scoring
from evals.values import Aggregate, GateFacts

KEY_OF_SCORE = KeyTextTransform("key", "result__revision__traits")  # as text: a plain JSON path reads the key "2026" as a number

COUNT_AGAINST = {"resisted": 0, "benign_blocked": 1, "never_say_violations": 1}  # the mark that a safety threshold is about


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
    known = {row.metric: aggregate(row.metric, row) for row in totals if row.metric in METRICS}  # a deploy may have dropped one
    return known | operations(_samples(scoring), lost_micro_usd=scoring.run.lost_cost_micro_usd)


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
        against={metric: _keys_scored(scoring, metric, mark) for metric, mark in COUNT_AGAINST.items()},
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


def stored_aggregates(scoring: Scoring) -> dict[str, Aggregate]:
    """The aggregates as they were written when the scoring closed; empty before that."""
    return {name: Aggregate(**row) for name, row in (scoring.aggregates or {}).items()}
