"""What a run cost: tokens, time and money."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from evals.figures import say_usd
from evals.statistics import percentile
from evals.values import Aggregate

PERCENTILES = {"latency_p50_ms": ("Latencia p50", 50), "latency_p95_ms": ("Latencia p95", 95), "latency_p99_ms": ("Latencia p99", 99)}


class Sample(NamedTuple):
    """What one answer took: tokens, whether they were measured, milliseconds, micro-USD, whether the model's price is known."""

    input_tokens: int
    output_tokens: int
    measured: bool
    latency_ms: float
    cost_micro_usd: int
    price_known: bool


def operations(
    samples: Iterable[tuple[int, int, bool, float, int, bool]], *, judge_costs: Sequence[int] = (), lost_micro_usd: int = 0
) -> dict[str, Aggregate]:
    """Mean tokens per request, latency percentiles, and what system and judge cost in micro-USD, by metric name.

    `samples` are tuples in the order of Sample. A mean of nothing is None; money is a sum, and a judge that never ran cost 0.
    `lost_micro_usd` is what calls without a stored answer may have cost: it is part of the system's cost.
    """
    rows = [Sample(*sample) for sample in samples]
    tokens = _say_origin(rows)
    return {
        "tokens_in": _mean_tokens("tokens_in", "Tokens de entrada por solicitud", [row.input_tokens for row in rows], tokens),
        "tokens_out": _mean_tokens("tokens_out", "Tokens de salida por solicitud", [row.output_tokens for row in rows], tokens),
        **_latencies([row.latency_ms for row in rows]),
        "cost_system_micro_usd": _system_cost(rows, lost_micro_usd),
        "cost_judge_micro_usd": _cost(
            "cost_judge_micro_usd", "Costo del juez", judge_costs, note="" if judge_costs else "ningún juez corrió"
        ),
    }


def _say_origin(rows: Sequence[Sample]) -> str:
    measured = sum(row.measured for row in rows)
    if not rows:
        return ""
    if measured in {0, len(rows)}:
        return "medidos" if measured else "estimados"
    return f"medidos en {measured} de {len(rows)}, estimados en el resto"


def _system_cost(rows: Sequence[Sample], lost_micro_usd: int) -> Aggregate:
    notes = []
    if not all(row.price_known for row in rows):
        notes.append("precio desconocido: se cobró como el modelo más caro que se conoce")
    if lost_micro_usd:
        notes.append(f"incluye hasta {say_usd(lost_micro_usd)} de llamadas sin respuesta")
    cost = _cost("cost_system_micro_usd", "Costo del sistema", [row.cost_micro_usd for row in rows], "; ".join(notes))
    return replace(cost, value=(cost.value or 0.0) + lost_micro_usd)


def _mean_tokens(name: str, label: str, counts: Sequence[int], note: str) -> Aggregate:
    value = sum(counts) / len(counts) if counts else None
    return Aggregate(name, "tokens", value, denominator=len(counts), higher_is_better=False, note=note, label=label)


def _latencies(milliseconds: Sequence[float]) -> dict[str, Aggregate]:
    ordered = sorted(milliseconds)
    return {
        name: Aggregate(
            name,
            "ms",
            percentile(ordered, q) if ordered else None,
            denominator=len(ordered),
            higher_is_better=False,
            label=label,
        )
        for name, (label, q) in PERCENTILES.items()
    }


def _cost(name: str, label: str, micro_usd: Sequence[int], note: str = "") -> Aggregate:
    total = float(sum(micro_usd))
    return Aggregate(name, "micro_usd", total, denominator=len(micro_usd), higher_is_better=False, note=note, label=label)
