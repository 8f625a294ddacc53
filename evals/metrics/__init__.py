"""From (case, outcome) to marks, and from marks to figures with their denominator. Pure."""

from typing import NamedTuple

from evals.metrics.answers import ANSWERS
from evals.metrics.blocking import BLOCKING
from evals.metrics.fields import FIELD_METRICS
from evals.metrics.metric import Metric
from evals.metrics.operations import operations
from evals.metrics.safety import SAFETY
from evals.statistics import wilson_interval
from evals.values import Aggregate, CaseSpec, Mark, Outcome, canonical_hash

__all__ = ["METRICS", "Metric", "MetricTotals", "aggregate", "grade", "metrics_hash", "operations"]

GRADING_VERSION = 1  # one more whenever a metric starts to judge differently

METRICS: dict[str, Metric] = {metric.name: metric for metric in (*ANSWERS, *FIELD_METRICS, *SAFETY, BLOCKING)}


class MetricTotals(NamedTuple):
    """A metric's marks, summed: `total` over the `scored` results of `cases` distinct cases; `missing` could not be scored."""

    metric: str
    total: float
    scored: int
    cases: int
    missing: int


def grade(case: CaseSpec, outcome: Outcome | None, *, error: str = "") -> dict[str, Mark]:
    """The marks of every metric that applies. Without an outcome the provider failed: each is missing, and `error` says why."""
    applying = [metric for metric in METRICS.values() if metric.applies(case)]
    if outcome is None:
        return {metric.name: Mark(None, error or "no hubo respuesta") for metric in applying}
    marks = {metric.name: metric.mark(case, outcome) for metric in applying}
    return {name: mark for name, mark in marks.items() if mark is not None}


def aggregate(metric: str, totals: MetricTotals) -> Aggregate:
    """The figure of one metric. KeyError for an unknown metric."""
    return _aggregate_share(METRICS[metric], totals) if METRICS[metric].unit == "share" else _aggregate_count(METRICS[metric], totals)


def _aggregate_count(metric: Metric, totals: MetricTotals) -> Aggregate:
    return Aggregate(
        metric.name,
        "count",
        totals.total if totals.scored else None,
        numerator=totals.total if totals.scored else None,
        denominator=totals.scored,
        missing=totals.missing,
        higher_is_better=metric.higher_is_better,
        label=metric.label,
    )


def _aggregate_share(metric: Metric, totals: MetricTotals) -> Aggregate:
    """The interval counts distinct cases, not rows: repetitions of a case, and fields of a draft, are not independent."""
    value = totals.total / totals.scored if totals.scored else None
    low, high = (None, None) if value is None else wilson_interval(value * totals.cases, totals.cases)
    denominator = totals.scored * metric.weight
    return Aggregate(
        metric.name,
        "share",
        value,
        numerator=totals.total * metric.weight if totals.scored else None,
        denominator=denominator,
        missing=totals.missing,
        low=low,
        high=high,
        higher_is_better=metric.higher_is_better,
        note="" if denominator == totals.cases else f"intervalo con {totals.cases} casos distintos",
        label=metric.label,
        weight=metric.weight,
    )


def metrics_hash() -> str:
    """SHA-256 (hex) of what grading consists of: the metrics' names and the version of their judgement."""
    return canonical_hash({"version": GRADING_VERSION, "metrics": sorted(METRICS)})
