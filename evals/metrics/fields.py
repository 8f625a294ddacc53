"""Field by field: only cases that expect a draft count, and no draft means that every field is wrong."""

from collections.abc import Callable
from typing import Any

from evals.metrics.answers import FIELD_WORDS
from evals.metrics.metric import Metric, pass_or_fail
from evals.values import CaseSpec, Mark, Outcome

FIELDS = {
    "sport": ("field_sport", "Deporte correcto"),
    "date": ("field_date", "Fecha correcta"),
    "startHour": ("field_start_hour", "Hora de inicio correcta"),
    "hours": ("field_hours", "Duración correcta"),
}


def _expects_draft(case: CaseSpec) -> bool:
    return case.expected.kind == "draft"


def _rows(case: CaseSpec, outcome: Outcome) -> tuple[dict[str, Any], dict[str, Any]]:
    """The expected fields and those that came out; the latter empty without a draft."""
    expected = case.expected.draft.as_row() if case.expected.draft else {}
    return expected, outcome.draft.as_row() if outcome.draft else {}


def _mark_all(case: CaseSpec, outcome: Outcome) -> Mark:
    """The share of the four fields that are right."""
    expected, found = _rows(case, outcome)
    wrong = [name for name in FIELDS if name not in found or found[name] != expected.get(name)]
    return Mark(1 - len(wrong) / len(FIELDS), f"mal: {', '.join(FIELD_WORDS[name] for name in wrong)}" if wrong else "")


def _mark_one(name: str) -> Callable[[CaseSpec, Outcome], Mark]:
    def mark(case: CaseSpec, outcome: Outcome) -> Mark:
        expected, found = _rows(case, outcome)
        if not found:
            return Mark(0.0, "no salió borrador")
        return pass_or_fail(found[name] == expected.get(name), f"{found[name]} en vez de {expected.get(name)}")

    return mark


FIELD_METRICS = (
    Metric("field_accuracy", "Exactitud por campo", _expects_draft, _mark_all, weight=len(FIELDS)),
    *(Metric(metric, label, _expects_draft, _mark_one(name)) for name, (metric, label) in FIELDS.items()),
)
