"""May it go out? The invariants are always demanded; product thresholds are judged on real runs alone. Pure.

A failure that no missing result could undo is a FAIL. Short of that, anything that was not measured makes it INCONCLUSIVE.
`max-drop` without a baseline to compare with is a note, not a failure: otherwise no dataset could ever have a first release.
"""

from collections.abc import Iterator, Mapping

from evals.figures import say_aggregate, say_limit, say_points
from evals.values import Aggregate, Decision, GateFacts, Policy, Reason, Threshold, Verdict

CODE_ONLY = "el código pasa; el modelo no se midió"

INVARIANTS = (
    Threshold("blocking_passed", ">=", 1, "Un caso bloqueante que falla pesa más que cualquier promedio."),
    Threshold("invalid_accepted", "<=", 0, "Un borrador inválido aceptado es un defecto de nuestro código, y se arregla con código."),
)

_TOLERANCE = 1e-9
_ORDER = (Decision.FAIL, Decision.INCONCLUSIVE, Decision.PASS)


def decide(
    aggregates: Mapping[str, Aggregate],
    *,
    facts: GateFacts,
    policy: Policy | None,
    baseline: Mapping[str, Aggregate] | None = None,
) -> Verdict:
    """PASS only when everything demanded was measured and holds. Reasons: what fails first, then what is missing, then notes."""
    if facts.measured == 0:
        return Verdict(Decision.INCONCLUSIVE, (_nothing_measured(facts),))
    judged = [
        *_judge_invariants(aggregates, facts),
        *_judge_policy(aggregates, facts, policy, baseline),
        *_missing(aggregates, facts),
    ]
    judged += _unproven(aggregates, facts, judged)
    decision = min((reason.decision for reason in judged), key=_ORDER.index)
    reasons = [*_notes(decision, facts), *judged]
    return Verdict(decision, tuple(sorted(reasons, key=lambda reason: _ORDER.index(reason.decision))))


# --- What was not measured ----------------------------------------------------------------------------------------------


def _nothing_measured(facts: GateFacts) -> Reason:
    if facts.errors_by_cause:
        text = f"Falla del proveedor: 0 de {facts.expected} medidos ({_say_causes(facts)}). No hay cifras."
    else:
        text = f"No se midió nada: 0 de {facts.expected} medidos. No hay cifras."
    return Reason(Decision.INCONCLUSIVE, text)


def _missing(aggregates: Mapping[str, Aggregate], facts: GateFacts) -> Iterator[Reason]:
    """Results that never came, and marks that could not be decided although the result came."""
    absent = _absent(facts)
    if absent > 0:
        causes = f" ({_say_causes(facts)})" if facts.errors_by_cause else ""
        yield Reason(
            Decision.INCONCLUSIVE, f"Sin respuesta: {absent} de {facts.expected} resultados{causes}. Un error no es una respuesta."
        )
    for aggregate in aggregates.values():
        if aggregate.missing > absent:
            rows = aggregate.missing + aggregate.denominator // aggregate.weight
            text = f"{_label(aggregate)}: {aggregate.missing} de {rows} resultados sin calificar."
            yield Reason(Decision.INCONCLUSIVE, text, aggregate.metric)


def _unproven(aggregates: Mapping[str, Aggregate], facts: GateFacts, judged: list[Reason]) -> Iterator[Reason]:
    """A PASS rests on figures: every result graded, and something demanded that was measured."""
    correct = aggregates.get("correct")
    graded = correct.denominator + correct.missing if correct else 0
    if graded != facts.expected:
        yield Reason(Decision.INCONCLUSIVE, f"Calificados: {graded} de {facts.expected} resultados.", "correct")
    if not any(reason.metric and reason.decision in (Decision.PASS, Decision.FAIL) for reason in judged):
        yield Reason(Decision.INCONCLUSIVE, "Nada de lo que se exige se pudo medir con estos casos: no hay en qué apoyar un veredicto.")


def _absent(facts: GateFacts) -> int:
    return max(facts.expected - facts.measured, sum(facts.errors_by_cause.values()))


def _unanswered(facts: GateFacts) -> int:
    """Results that are neither an answer nor an error."""
    return max(0, facts.expected - facts.measured - sum(facts.errors_by_cause.values()))


def _say_causes(facts: GateFacts) -> str:
    by_count = sorted(facts.errors_by_cause.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{cause}: {count}" for cause, count in by_count)


# --- What is always demanded --------------------------------------------------------------------------------------------


def _judge_invariants(aggregates: Mapping[str, Aggregate], facts: GateFacts) -> Iterator[Reason]:
    keys = {"invalid_accepted": facts.invalid_accepted, "blocking_passed": facts.blocking_failed}
    for invariant in INVARIANTS:
        aggregate, broken = aggregates.get(invariant.metric), keys[invariant.metric]
        if aggregate is not None and aggregate.value is not None and _is_broken(aggregate, invariant):
            yield _reason(Decision.FAIL, aggregate, f"y se exige {say_demand(invariant, aggregate)}. {invariant.justification}", broken)
        elif broken:
            yield Reason(Decision.FAIL, f"{invariant.justification.rstrip('.')} ({len(broken)} casos).", invariant.metric, broken)
        elif aggregate is not None and aggregate.value is not None:
            yield _reason(Decision.PASS, aggregate)


def _is_broken(aggregate: Aggregate, invariant: Threshold) -> bool:
    value = aggregate.value or 0.0
    return value > invariant.value if invariant.op == "<=" else value < invariant.value


# --- What the policy demands --------------------------------------------------------------------------------------------


def _judge_policy(
    aggregates: Mapping[str, Aggregate], facts: GateFacts, policy: Policy | None, baseline: Mapping[str, Aggregate] | None
) -> Iterator[Reason]:
    if policy is None:
        yield Reason(Decision.INCONCLUSIVE, "El dataset no tiene política: nadie ha escrito qué debe cumplir una versión para publicarse.")
        return
    if len(facts.limitations) > policy.max_known_limitations:
        text = f"Casos con una limitación conocida: {len(facts.limitations)}, y la política admite {policy.max_known_limitations}."
        yield Reason(Decision.FAIL, text, keys=facts.limitations)
    if facts.model_kind == "real":
        yield from _judge_thresholds(aggregates, facts, policy, baseline or {})


def _judge_thresholds(
    aggregates: Mapping[str, Aggregate], facts: GateFacts, policy: Policy, baseline: Mapping[str, Aggregate]
) -> Iterator[Reason]:
    if not policy.thresholds:
        text = "La política no pone umbrales de producto: nadie ha escrito qué tan bien debe responder un modelo real."
        yield Reason(Decision.INCONCLUSIVE, text)
    for threshold in policy.thresholds:
        aggregate, before = aggregates.get(threshold.metric), baseline.get(threshold.metric)
        if aggregate is None or aggregate.value is None:
            name = _label(aggregate) if aggregate else threshold.metric
            text = f"{name}: la política pone un umbral y no hay ningún resultado con qué medirlo."
            yield Reason(Decision.INCONCLUSIVE, text, threshold.metric)
        elif threshold.op == "max-drop" and (before is None or before.value is None):
            yield _reason(Decision.PASS, aggregate, "no se pudo comparar: no hay línea base")
        else:
            yield _judge_threshold(threshold, aggregate, before, facts)


def _judge_threshold(threshold: Threshold, aggregate: Aggregate, before: Aggregate | None, facts: GateFacts) -> Reason:
    demand = say_demand(threshold, aggregate, before)
    if _holds(threshold, aggregate, aggregate.value, before):
        return _reason(Decision.PASS, aggregate, f"cumple: {demand}")
    if _holds(threshold, aggregate, _best_value(threshold, aggregate, facts), before):
        return _reason(Decision.INCONCLUSIVE, aggregate, f"no cumple ({demand}), pero lo que falta medir podría cambiarlo")
    keys = facts.against.get(threshold.metric, ())
    return _reason(Decision.FAIL, aggregate, f"y la política pide {demand}. {threshold.justification}", keys)


def _holds(threshold: Threshold, aggregate: Aggregate, value: float | None, before: Aggregate | None) -> bool:
    """True as well for a value that cannot be told."""
    if value is None:
        return True
    limit = _limit(threshold, aggregate, before)
    return value >= limit - _TOLERANCE if _wants_more(threshold, aggregate) else value <= limit + _TOLERANCE


def _wants_more(threshold: Threshold, aggregate: Aggregate) -> bool:
    return threshold.op == ">=" or (threshold.op == "max-drop" and aggregate.higher_is_better)


def _limit(threshold: Threshold, aggregate: Aggregate, before: Aggregate | None) -> float:
    if threshold.op != "max-drop" or before is None or before.value is None:
        return threshold.value
    return before.value - threshold.value if aggregate.higher_is_better else before.value + threshold.value


def _best_value(threshold: Threshold, aggregate: Aggregate, facts: GateFacts) -> float | None:
    """The value if all that is missing came out as well as it can; None where that cannot be told."""
    value, unscored = aggregate.value or 0.0, aggregate.missing + _unanswered(facts)
    gained = unscored * aggregate.weight if _wants_more(threshold, aggregate) else 0
    if aggregate.unit == "share":
        return ((aggregate.numerator or 0.0) + gained) / (aggregate.denominator + unscored * aggregate.weight)
    if aggregate.unit == "count":
        return value + gained
    is_sum_with_a_ceiling = aggregate.unit == "micro_usd" and not _wants_more(threshold, aggregate)
    return value if is_sum_with_a_ceiling or not _absent(facts) else None


# --- Words --------------------------------------------------------------------------------------------------------------


def say_demand(threshold: Threshold, aggregate: Aggregate, before: Aggregate | None = None) -> str:
    """`al menos 92 %`, `a lo más 0`, `no empeorar más de 3 puntos frente a 95 %`."""
    if threshold.op == "max-drop":
        allowed = say_points(threshold.value).lstrip("+") if aggregate.unit == "share" else say_limit(aggregate.unit, threshold.value)
        since = "" if before is None or before.value is None else f" frente a {say_limit(aggregate.unit, before.value)}"
        return f"no empeorar más de {allowed}{since}"
    words = {">=": "al menos", "<=": "a lo más"}[threshold.op]
    return f"{words} {say_limit(aggregate.unit, threshold.value)}"


def _label(aggregate: Aggregate) -> str:
    return aggregate.label or aggregate.metric


def _reason(decision: Decision, aggregate: Aggregate, tail: str = "", keys: tuple[str, ...] = ()) -> Reason:
    text = f"{_label(aggregate)}: {say_aggregate(aggregate)}{f', {tail}' if tail else ''}"
    return Reason(decision, text.rstrip(".") + ".", aggregate.metric, keys)


def _notes(decision: Decision, facts: GateFacts) -> Iterator[Reason]:
    if decision == Decision.PASS and facts.model_kind != "real":
        yield Reason(Decision.PASS, CODE_ONLY)
    if facts.limitations_passing:
        text = f"Casos con una limitación conocida que ahora pasan: {len(facts.limitations_passing)}. Mira si todavía hay que disculparlos."
        yield Reason(Decision.PASS, text, keys=facts.limitations_passing)
