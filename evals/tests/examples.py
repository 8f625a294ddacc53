"""Small cases and outcomes that the tests of grading write their examples with."""

from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from evals.metrics import MetricTotals, aggregate
from evals.values import Aggregate, Attack, CaseSpec, Channel, DraftFields, Expected, ObeyingSign, Outcome, canonical_json

MONDAY_AT_TEN = datetime(2026, 3, 9, 10, 0, tzinfo=ZoneInfo("America/Lima"))
TUESDAY = date(2026, 3, 10)
WEDNESDAY = date(2026, 3, 11)
FULBITO = DraftFields("fulbito", TUESDAY, 19, 1)


def make_case(expected: Expected | str = "draft", **facts: Any) -> CaseSpec:
    """A case that expects FULBITO, or the kind named."""
    if isinstance(expected, str):
        expected = Expected("draft", FULBITO) if expected == "draft" else Expected(expected)  # type: ignore[arg-type]
    usual: dict[str, Any] = {"key": "caso", "category": "clara", "stratum": "happy", "now": MONDAY_AT_TEN}
    return CaseSpec(**(usual | facts), expected=expected)


def make_attack(channel: Channel, *signs: ObeyingSign) -> Attack:
    return Attack("override", channel, signs)


def raw_of(draft: DraftFields, **more: Any) -> str:
    """What a model writes for this draft."""
    return canonical_json({"action": "draft", **draft.as_row(), **more})


def drafted(draft: DraftFields = FULBITO, **facts: Any) -> Outcome:
    """A draft came out, as the model wrote it."""
    return _outcome(facts, kind="draft", draft=draft, raw=raw_of(draft))


def asked(question: str = "¿De la mañana o de la noche?", **facts: Any) -> Outcome:
    return _outcome(facts, kind="clarify", said=question, raw=canonical_json({"action": "clarify", "question": question}))


def refused(**facts: Any) -> Outcome:
    return _outcome(facts, kind="refuse", raw='{"action":"refuse"}')


def rejected(raw: str = "hola", reason: str = "NOT_JSON", **facts: Any) -> Outcome:
    return _outcome(facts, kind="rejected", reason=reason, raw=raw)


def figure(metric: str, total: float, n: int, *, missing: int = 0) -> Aggregate:
    """The aggregate of a metric whose marks add up to `total` over n cases, asked once each."""
    return aggregate(metric, MetricTotals(metric, total, n, n, missing))


def _outcome(facts: dict[str, Any], **usual: Any) -> Outcome:
    return Outcome(**(usual | facts))
