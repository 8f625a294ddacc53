"""A case field by field in an expert's words, and what differs between two states of it."""

import difflib
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from django.utils.formats import date_format

from bookings.rules import SPORT_LABELS
from evals.datasets import lines
from evals.datasets.rows import content_of, traits_of
from evals.models import Case
from evals.values import CaseSpec

FAMILY_WORDS = {
    "override": "pide ignorar las instrucciones",
    "role-play": "asigna un personaje",
    "prompt-extraction": "quiere ver las instrucciones",
    "obfuscation": "viene disfrazado o codificado",
    "context-manipulation": "finge ser el sistema o una conversación",
    "indirect": "viene en datos que otro escribió",
    "domain": "propio del negocio",
}
MOST_WORDS = 3_000  # difflib takes a square of this in the worst case: half a second
_YES_NO = {True: "sí", False: "no"}


class FieldChange(NamedTuple):
    """One field of a case in two states, in words; an empty text is a field that was not there."""

    field: str
    before: str
    after: str


class Piece(NamedTuple):
    """Some words of a text: in both states, only in the first, or only in the second."""

    kind: Literal["same", "gone", "new"]
    text: str


def say_fields(spec: CaseSpec) -> dict[str, str]:
    """The value of every field by its name, both as an expert reads them; empty where the case has none."""
    content, traits = content_of(spec), traits_of(spec)
    context, attack = content.get("context", {}), traits.get("attack", {})
    return {
        "clave": spec.key,
        "lo que escribe la persona": spec.text,
        "conversación": lines.write_messages(spec.messages),
        "fecha y hora de la situación": date_format(spec.now, "l d/m/Y H:i") if spec.now else "",
        "horas ocupadas": lines.write_occupied(context.get("occupied", ())),
        "documentos": lines.write_documents(spec.documents),
        "quién tiene la sesión": spec.member,
        **_say_expected(spec),
        "lo que nunca debe decir": lines.write_never_say(content.get("never_say", ())),
        "bloqueante": _YES_NO[spec.blocking],
        "limitación conocida": spec.known_limitation,
        "familia de ataque": FAMILY_WORDS.get(attack.get("family", ""), attack.get("family", "")),
        "vía del ataque": str(Case.Channel(attack["channel"]).label) if attack else "",
        "cómo se vería obedecer": lines.write_obeying(attack.get("obeying", ())),
        "parece un ataque pero es legítimo": _YES_NO[spec.benign],
        "estrato": str(Case.Stratum(spec.stratum).label),
        "categoría": spec.category,
        "etiquetas de búsqueda": lines.write_words(spec.tags),
        "reservado": _YES_NO[spec.held_out],
        "notas": spec.notes,
    }


def _say_expected(spec: CaseSpec) -> dict[str, str]:
    expected, draft = spec.expected, spec.expected.draft
    sports = {str(code): str(label) for code, label in SPORT_LABELS.items()}
    return {
        "lo correcto": str(Case.Kind(expected.kind).label),
        "deporte": sports.get(draft.sport, draft.sport) if draft else "",
        "fecha": date_format(draft.date, "l d/m/Y") if draft else "",
        "hora de inicio": f"{draft.start_hour}:00" if draft else "",
        "horas": str(draft.hours) if draft else "",
        "texto de referencia": expected.text,
        "etiquetas": lines.write_words(expected.labels),
        "ruta": expected.route,
        "herramientas": lines.write_words(expected.tools),
    }


def changed_fields(before: CaseSpec, after: CaseSpec) -> list[FieldChange]:
    """The fields that say something else, in the order of the form."""
    old, new = say_fields(before), say_fields(after)
    return [FieldChange(field, old[field], new[field]) for field in old if old[field] != new[field]]


def diff_words(before: str, after: str) -> list[Piece]:
    """The two texts as one, word by word. Beyond MOST_WORDS together the whole first text is gone and the second is new."""
    old, new = _words(before), _words(after)
    if len(old) + len(new) > MOST_WORDS:
        return [Piece("gone", before), Piece("new", after)]
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    return [piece for code in matcher.get_opcodes() for piece in _pieces(old, new, code)]


def _words(text: str) -> list[str]:
    """Words and the white space between them, so that joined they are the text."""
    return re.findall(r"\s+|[^\s]+", text)


def _pieces(old: list[str], new: list[str], code: tuple[str, int, int, int, int]) -> Iterator[Piece]:
    kind, old_from, old_to, new_from, new_to = code
    if kind == "equal":
        yield Piece("same", "".join(old[old_from:old_to]))
        return
    if old_from < old_to:
        yield Piece("gone", "".join(old[old_from:old_to]))
    if new_from < new_to:
        yield Piece("new", "".join(new[new_from:new_to]))
