"""/metrics: what the database knows, so that it is one truth however many processes serve the site.

What is older than an hour does not change any more: its sums are kept in the cache, and a reading adds up the last hour alone.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Q, Sum
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from assistant.health import report_model
from assistant.models import Interaction, Kind, ModelCall
from kallpa.counters import CountersDown, store_answers
from kallpa.incidents import open_incidents
from kallpa.models import Incident

SECONDS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0)  # upper ends of the latency's buckets; the rest is over a minute
BY = ["purpose", "model"]
GROUP = (*BY, "outcome")
SETTLED_AFTER = dt.timedelta(hours=1)  # a call is stored minutes after its money was reserved, at most
SETTLED, KEEP_S = "metrics:settled", 7 * 86_400

Row = dict[str, Any]


class SiteCollector(Collector):
    """Four queries: calls since the last full hour but one, uses of the assistant, open incidents, that of the settings' model."""

    def __init__(self, *, now: dt.datetime) -> None:
        self._now = now

    def collect(self) -> Iterator[Metric]:
        yield from _call_metrics(_sum_calls(self._now))
        yield from _use_metrics(list(Interaction.objects.order_by().values_list("kind", "reason", "cause").annotate(n=Count("id"))))
        yield from _state_metrics()


def _sum_calls(now: dt.datetime) -> list[Row]:
    """Sums of the whole ledger by purpose, model and outcome."""
    until = now.replace(minute=0, second=0, microsecond=0) - SETTLED_AFTER
    return _merge([*_settled(until), *_sums(Q(created_at__gte=until))])


def _settled(until: dt.datetime) -> list[Row]:
    """The sums up to `until`: those of an earlier reading, and what has settled since."""
    before, rows = _kept()
    if before == until:
        return rows
    if before is None or before > until:
        rows = _merge(_sums(Q(created_at__lt=until)))
    else:
        rows = _merge([*rows, *_sums(Q(created_at__gte=before, created_at__lt=until))])
    with suppress(CountersDown), store_answers():
        cache.set(SETTLED, (until, rows), timeout=KEEP_S)
    return rows


def _kept() -> tuple[dt.datetime | None, list[Row]]:
    """What an earlier reading left in the cache, if it answers."""
    with suppress(CountersDown), store_answers():
        return cache.get(SETTLED) or (None, [])
    return None, []


def _sums(which: Q) -> Iterable[Row]:
    within = {f"within_{at}": Count("id", filter=Q(latency_ms__lte=round(end * 1_000))) for at, end in enumerate(SECONDS)}
    sums = {f"sum_{name}": Sum(name) for name in ("input_tokens", "output_tokens", "cost_micro_usd", "latency_ms")}
    return ModelCall.objects.filter(which).order_by().values(*GROUP).annotate(n=Count("id"), **sums, **within)


def _merge(rows: Iterable[Row], by: tuple[str, ...] = GROUP) -> list[Row]:
    """One row for each value of `by`, its figures added up."""
    merged: dict[tuple[str, ...], Counter[str]] = {}
    for row in rows:
        figures = {name: value for name, value in row.items() if name not in GROUP}
        merged.setdefault(tuple(row[name] for name in by), Counter()).update(figures)
    return [dict(zip(by, key, strict=True)) | figures for key, figures in merged.items()]


def _call_metrics(rows: list[Row]) -> Iterator[Metric]:
    calls = CounterMetricFamily("kallpa_model_calls", "Calls bought from a provider.", labels=BY)
    failures = CounterMetricFamily("kallpa_model_failures", "Calls without an answer, by cause.", labels=[*BY, "cause"])
    tokens = CounterMetricFamily("kallpa_model_tokens", "Tokens, counted by the provider or estimated.", labels=[*BY, "direction"])
    cost = CounterMetricFamily("kallpa_model_cost_usd", "What the calls cost, by the price list.", labels=BY)
    seconds = HistogramMetricFamily("kallpa_model_call_seconds", "Time of a call with its retries.", labels=BY)
    for of_pair in _merge(rows, by=("purpose", "model")):
        labels = [of_pair["purpose"], of_pair["model"]]
        calls.add_metric(labels, of_pair["n"])
        cost.add_metric(labels, of_pair["sum_cost_micro_usd"] / 1_000_000)
        for direction in ("input", "output"):
            tokens.add_metric([*labels, direction], of_pair[f"sum_{direction}_tokens"])
        buckets = [*((str(end), of_pair[f"within_{at}"]) for at, end in enumerate(SECONDS)), ("+Inf", of_pair["n"])]
        seconds.add_metric(labels, buckets=buckets, sum_value=of_pair["sum_latency_ms"] / 1_000)
    for row in rows:
        if row["outcome"] != ModelCall.OK:
            failures.add_metric([row["purpose"], row["model"], row["outcome"]], row["n"])
    yield from (calls, failures, tokens, cost, seconds)


def _use_metrics(rows: list[tuple[str, str, str, int]]) -> Iterator[Metric]:
    """Every kind is there, so that an alert can tell 0 from nothing."""
    kinds, reasons, causes = Counter({kind.value: 0 for kind in Kind}), Counter[str](), Counter[str]()
    for kind, reason, cause, n in rows:
        kinds[kind] += n
        reasons[reason] += n
        causes[cause] += n
    del reasons[""], causes[""]
    yield _counter("kallpa_assistant_interactions", "Uses of the assistant, by what came out.", "kind", kinds)
    yield _counter("kallpa_assistant_rejections", "Outputs that were rejected, by reason.", "reason", reasons)
    yield _counter("kallpa_assistant_unavailable", "Uses while the model could not be asked, by cause.", "cause", causes)


def _state_metrics() -> Iterator[Metric]:
    open_now = Counter({kind.value: 0 for kind in Incident.Kind})
    open_now.update(open_incidents().values_list("kind", flat=True))
    incidents = GaugeMetricFamily("kallpa_incidents_open", "Incidents that are not over.", labels=["kind"])
    for kind, n in open_now.items():
        incidents.add_metric([kind], n)
    state = report_model()["state"]
    model = GaugeMetricFamily(
        "kallpa_model_state", "1 for the state that the settings' model is in, as /readyz tells it.", labels=["state"]
    )
    for one in dict.fromkeys(["ok", "failing", "unknown", state]):
        model.add_metric([one], int(one == state))
    yield from (incidents, model)


def _counter(name: str, documentation: str, label: str, counts: Counter[str]) -> Metric:
    family = CounterMetricFamily(name, documentation, labels=[label])
    for value, n in counts.items():
        family.add_metric([value], n)
    return family
