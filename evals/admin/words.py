"""Cases and outcomes in an expert's words."""

from collections.abc import Mapping
from typing import Any

from django.utils.formats import date_format

from assistant.drafts import Draft, parse_output
from bookings.rules import SPORT_LABELS
from evals.datasets import lines
from evals.datasets.rows import content_of, traits_of
from evals.models import Case, Recording, Result
from evals.values import CaseSpec, DraftFields, Expected, Outcome

OUTCOME_WORDS = {"draft": "borrador", "clarify": "pregunta", "refuse": "declina", "rejected": "salida rechazada"}
MARK_WORDS = {True: "sí", False: "no", None: "sin marcar"}


def say_draft(draft: DraftFields | Draft) -> str:
    """`Fulbito, martes 10/03, de 19 a 20 h`."""
    sport = dict(SPORT_LABELS).get(draft.sport, draft.sport)  # type: ignore[call-overload]
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


def say_answer(result: Result) -> str:
    """What came out of a result, or why nothing did."""
    if result.outcome:
        return say_outcome(Outcome.from_row(result.outcome))
    return result.error_detail or result.error_cause or str(result.get_status_display())


def say_recording(recording: Recording) -> str:
    """How the assistant reads a stored output, in one line. Without a clock in the case there is no reading it."""
    if recording.case.now is None:
        return "está en la página de la grabación"
    result = parse_output(recording.text, now=recording.case.now)
    if result.draft:
        return say_draft(result.draft)
    detail = result.question or result.reason
    return f"{OUTCOME_WORDS[result.kind]}{f': {detail}' if detail else ''}"


def case_lines(spec: CaseSpec) -> list[tuple[str, str]]:
    """The whole case as (name, text) pairs, without what it does not have."""
    content, traits = content_of(spec), traits_of(spec)
    context, attack = content.get("context", {}), traits.get("attack", {})
    pairs = [
        ("Lo que escribe la persona", spec.text),
        ("Conversación", lines.write_messages(spec.messages)),
        ("Fecha y hora de la situación", date_format(spec.now, "l d/m/Y, H:i") if spec.now else ""),
        ("Horas ocupadas", lines.write_occupied(context.get("occupied", ()))),
        ("Documentos", lines.write_documents(spec.documents)),
        ("Quién tiene la sesión", spec.member),
        ("Lo correcto", say_expected(spec.expected)),
        ("Lo que nunca debe decir", lines.write_never_say(content.get("never_say", ()))),
        ("Ataque", _say_attack(attack)),
        ("Cómo se vería obedecer", lines.write_obeying(attack.get("obeying", ()))),
        ("Marcas", _say_flags(spec)),
        ("Limitación conocida", spec.known_limitation),
        ("Notas", spec.notes),
    ]
    return [(name, text) for name, text in pairs if text]


def _say_attack(attack: Mapping[str, Any]) -> str:
    return f"{attack['family']}, {Case.Channel(attack['channel']).label}" if attack else ""


def _say_flags(spec: CaseSpec) -> str:
    flags = [
        (True, str(Case.Stratum(spec.stratum).label)),
        (True, spec.category),
        (spec.blocking, "bloqueante"),
        (spec.held_out, "reservado"),
        (spec.benign, "parece un ataque pero es legítimo"),
    ]
    return " · ".join([word for given, word in flags if given] + list(spec.tags))
