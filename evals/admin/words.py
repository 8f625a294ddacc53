"""Cases and outcomes in an expert's words."""

from collections.abc import Mapping
from typing import Any

from django.utils.formats import date_format
from django.utils.timezone import localtime

from assistant.drafts import parse_output
from evals.datasets import lines
from evals.datasets.rows import content_of, traits_of
from evals.models import Case, DatasetVersion, Recording, Result
from evals.values import CaseSpec, Outcome
from evals.words import OUTCOME_WORDS, say_draft, say_expected, say_outcome


def say_answer(result: Result) -> str:
    """What came out of a result, or why nothing did."""
    if result.outcome:
        return say_outcome(Outcome.from_row(result.outcome))
    return result.error_detail or result.error_cause or str(result.get_status_display())


def say_signature(version: DatasetVersion) -> str:
    """Who signed a version and when; the signature must be loaded with it."""
    signature = getattr(version, "signature", None)
    return f"{signature.signed_by}, {localtime(signature.signed_at):%d/%m/%Y}" if signature else "sin firmar"


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
