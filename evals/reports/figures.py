"""The metric table as rows of words, the same for every report."""

from collections.abc import Iterator
from dataclasses import dataclass

from evals.figures import say_aggregate, say_fraction, say_interval, say_limit, say_number, say_percent, say_points, say_usd
from evals.gate import INVARIANTS
from evals.metrics import METRICS
from evals.metrics.operations import PERCENTILES
from evals.reports import RulesFigures, RunReport
from evals.statistics import Difference, Interval, compare_shares, minimum_detectable_change
from evals.values import Aggregate, Threshold


@dataclass(frozen=True, slots=True)
class MetricLine:
    """One metric, each cell already said; an empty cell does not apply. `before` is the baseline and how far it stands."""

    metric: str
    label: str
    fraction: str
    percent: str
    interval: str
    threshold: str
    missing: int
    before: str = ""


def metric_lines(report: RunReport) -> list[MetricLine]:
    """The metrics that had something to measure, in the order of METRICS."""
    if report.measured == 0:
        return []
    ordered = (report.aggregates[name] for name in METRICS if name in report.aggregates)
    return [_line(aggregate, report) for aggregate in ordered if aggregate.denominator or aggregate.missing]


def _line(aggregate: Aggregate, report: RunReport) -> MetricLine:
    is_share = aggregate.unit == "share" and aggregate.value is not None
    interval = "" if aggregate.low is None or aggregate.high is None else say_interval(aggregate.low, aggregate.high)
    return MetricLine(
        metric=aggregate.metric,
        label=aggregate.label or aggregate.metric,
        fraction=say_fraction(aggregate),
        percent=say_percent(aggregate.value or 0.0) if is_share else "",
        interval=interval,
        threshold=", ".join(_say_bound(threshold, aggregate.unit) for threshold in _thresholds(report, aggregate.metric)),
        missing=aggregate.missing,
        before=_say_before(aggregate, (report.baseline or {}).get(aggregate.metric)),
    )


def _thresholds(report: RunReport, metric: str) -> Iterator[Threshold]:
    """Those that this run is judged by: product thresholds only with a real model."""
    yield from (invariant for invariant in INVARIANTS if invariant.metric == metric)
    if report.policy and report.model_kind == "real":
        yield from (threshold for threshold in report.policy.thresholds if threshold.metric == metric)


def _say_bound(threshold: Threshold, unit: str) -> str:
    if threshold.op == "max-drop":
        return say_points(-threshold.value) if unit == "share" else f"−{say_limit(unit, threshold.value)}"
    return f"{'≥' if threshold.op == '>=' else '≤'} {say_limit(unit, threshold.value)}"


def say_demand(threshold: Threshold) -> str:
    """`Correctos ≥ 88 %`: what a policy asks, without a run to hold against it."""
    metric, latency = METRICS.get(threshold.metric), PERCENTILES.get(threshold.metric)
    label = metric.label if metric else latency[0] if latency else threshold.metric
    unit = metric.unit if metric else "ms" if latency else ""
    return f"{label}{', frente a la línea base' if threshold.op == 'max-drop' else ''} {_say_bound(threshold, unit)}"


# --- Against the baseline -----------------------------------------------------------------------------------------------


def difference_from(aggregate: Aggregate, before: Aggregate | None) -> Difference | None:
    """How far a share stands from its baseline; None where one of the two was not measured or is no share."""
    if before is None or aggregate.value is None or before.value is None:
        return None
    if aggregate.low is None or aggregate.high is None or before.low is None or before.high is None:
        return None
    return compare_shares(aggregate.value, Interval(aggregate.low, aggregate.high), before.value, Interval(before.low, before.high))


def say_difference(difference: Difference, *, higher_is_better: bool) -> str:
    """`+8 puntos (IC 95 % −13 a +29): ruido, ninguna es mejor`."""
    low, high = say_points(difference.low).split()[0], say_points(difference.high).split()[0]
    better = (difference.change > 0) == higher_is_better
    verdict = f"señal, {'mejora' if better else 'empeora'}" if difference.is_signal else "ruido, ninguna es mejor"
    return f"{say_points(difference.change)} (IC 95 % {low} a {high}): {verdict}"


def _say_before(aggregate: Aggregate, before: Aggregate | None) -> str:
    if before is None or before.value is None or before.value == aggregate.value:
        return ""
    difference = difference_from(aggregate, before)
    since = f"antes {say_fraction(before)}"
    if difference is None:
        return since
    return f"{since} ({say_percent(before.value)}), {say_difference(difference, higher_is_better=aggregate.higher_is_better)}"


def say_resolution(report: RunReport) -> str:
    """How small a change this dataset can show at best; empty without a baseline."""
    cases = report.expected // report.repetitions
    if not report.baseline or not cases:
        return ""
    points = say_points(minimum_detectable_change(cases)).lstrip("+")
    return f"Con {cases} casos no se distinguen cambios de menos de {points}, y eso si todos van en el mismo sentido."


# --- The lines beside the table -----------------------------------------------------------------------------------------


def say_correct(report: RunReport) -> str:
    """`Casos correctos: 11/14 (79 %, IC 95 % 52–92 %)`, or that there is no figure."""
    correct = report.aggregates.get("correct")
    if report.measured == 0 or correct is None or correct.value is None:
        return f"Casos correctos: sin cifra, {report.measured} de {report.expected} medidos"
    return f"{correct.label or correct.metric}: {say_aggregate(correct)}"


def say_rules(report: RunReport) -> str:
    """What the rules answer without a model, and in the report of another run what a model has to beat; empty when nobody ran them."""
    rules = report.rules
    if rules is None:
        return ""
    did = f"responden {say_aggregate(rules.answered)} y se equivocan en {say_aggregate(rules.wrong)}"
    if rules.run_id == report.run_id:
        return f"Sin modelo, las reglas {did}. Lo demás lo dejan al modelo."
    return f"Sin modelo (corrida {rules.run_id}), las reglas {did}.{_say_to_beat(rules)}"


def _say_to_beat(rules: RulesFigures) -> str:
    """Silence is right where no draft was due: the sentence says how much of the figure that is."""
    if rules.correct is None or rules.correct.value is None:
        return ""
    silent = (rules.correct.numerator or 0) - (rules.answered.numerator or 0) + (rules.wrong.numerator or 0)
    return (
        f" Solas tienen {say_aggregate(rules.correct)} casos correctos, {say_number(silent)} de ellos por no proponer nada donde no "
        "tocaba: eso es lo que el modelo debe superar."
    )


def say_operations(report: RunReport) -> list[str]:
    """Tokens, latency and money, each where it was measured."""
    found = report.aggregates
    lines = []
    if _was_measured(found.get("tokens_in")) and _was_measured(found.get("tokens_out")):
        counts = f"{found['tokens_in'].value:,.0f} de entrada, {found['tokens_out'].value:,.0f} de salida"
        lines.append(f"Tokens por solicitud ({found['tokens_in'].note}): {counts}")
    latencies = [(name, found.get(f"latency_{name}_ms")) for name in ("p50", "p95", "p99")]
    if all(_was_measured(latency) for _, latency in latencies):
        said = ", ".join(f"{name} {_say_ms(latency.value or 0)}" for name, latency in latencies if latency)
        lines.append(f"Latencia: {said}")
    if "cost_system_micro_usd" in found and "cost_judge_micro_usd" in found:
        lines.append(f"Costo: sistema {_say_cost(found['cost_system_micro_usd'])}, juez {_say_cost(found['cost_judge_micro_usd'])}")
    return lines


def _say_cost(cost: Aggregate) -> str:
    return f"{say_usd(cost.value or 0)}{f' ({cost.note})' if cost.note else ''}"


def _say_ms(milliseconds: float) -> str:
    return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def _was_measured(aggregate: Aggregate | None) -> bool:
    return aggregate is not None and aggregate.value is not None
