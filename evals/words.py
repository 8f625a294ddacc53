"""Cases and outcomes in the words of the business, for pages and reports alike."""

from datetime import date
from typing import Protocol

from django.utils.formats import date_format

from bookings.rules import SPORT_LABELS
from evals.models import Case
from evals.values import Expected, Outcome

OUTCOME_WORDS = {
    "draft": "borrador",
    "clarify": "pregunta",
    "refuse": "declina",
    "rejected": "salida rechazada",
    "left": "nada: se deja al modelo",
}
YES_NO = {True: "sí", False: "no"}
MARK_WORDS = {True: "sí", False: "no", None: "sin marcar"}


class BookingFacts(Protocol):
    """A draft, whoever made it."""

    @property
    def sport(self) -> str: ...

    @property
    def date(self) -> date: ...

    @property
    def start_hour(self) -> int: ...

    @property
    def hours(self) -> int: ...


def say_draft(draft: BookingFacts) -> str:
    """`Fulbito, martes 10/03, de 19 a 20 h`."""
    sport = {str(code): label for code, label in SPORT_LABELS.items()}.get(draft.sport, draft.sport)
    return f"{sport}, {date_format(draft.date, 'l d/m')}, de {draft.start_hour} a {draft.start_hour + draft.hours} h"


def say_expected(expected: Expected) -> str:
    """What is right, in one line."""
    if expected.draft:
        return say_draft(expected.draft)
    said = {
        "text": expected.text,
        "labels": ", ".join(expected.labels) or "ninguna etiqueta",
        "route": expected.route,
        "tools": ", ".join(expected.tools) or "ninguna herramienta",
    }
    return said.get(expected.kind, str(Case.Kind(expected.kind).label))


def say_outcome(outcome: Outcome) -> str:
    """What came out, in one line."""
    if outcome.draft:
        return say_draft(outcome.draft)
    detail = outcome.said or outcome.reason
    return f"{OUTCOME_WORDS.get(outcome.kind, outcome.kind)}{f': {detail}' if detail else ''}"
