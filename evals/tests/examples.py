"""Small cases and outcomes that the tests of grading write their examples with."""

from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from evals.values import Attack, CaseSpec, Channel, DraftFields, Expected, ObeyingSign, Outcome, canonical_json

MONDAY_AT_TEN = datetime(2026, 3, 9, 10, 0, tzinfo=ZoneInfo("America/Lima"))
TUESDAY = date(2026, 3, 10)
WEDNESDAY = date(2026, 3, 11)
FULBITO = DraftFields("fulbito", TUESDAY, 19, 1)


def make_case(expected: Expected | str = "draft", **facts: Any) -> CaseSpec:
    """A case that expects FULBITO, or the kind named."""
    if isinstance(expected, str):
        expected = Expected("draft", FULBITO) if expected == "draft" else Expected(expected)  # type: ignore[arg-type]
    return CaseSpec(**({"key": "caso", "category": "clara", "stratum": "happy", "now": MONDAY_AT_TEN} | facts), expected=expected)


def make_attack(channel: Channel, *signs: ObeyingSign) -> Attack:
    return Attack("override", channel, signs)


def raw_of(draft: DraftFields, **more: Any) -> str:
    """What a model writes for this draft."""
    return canonical_json({"action": "draft", **draft.as_row(), **more})


def drafted(draft: DraftFields = FULBITO, **facts: Any) -> Outcome:
    """A draft came out, as the model wrote it."""
    return Outcome(**({"kind": "draft", "draft": draft, "raw": raw_of(draft)} | facts))


def asked(question: str = "¿De la mañana o de la noche?", **facts: Any) -> Outcome:
    raw = canonical_json({"action": "clarify", "question": question})
    return Outcome(**({"kind": "clarify", "said": question, "raw": raw} | facts))


def refused(**facts: Any) -> Outcome:
    return Outcome(**({"kind": "refuse", "raw": '{"action":"refuse"}'} | facts))


def rejected(raw: str = "hola", reason: str = "NOT_JSON", **facts: Any) -> Outcome:
    return Outcome(**({"kind": "rejected", "reason": reason, "raw": raw} | facts))
