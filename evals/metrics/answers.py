"""Was the answer the expected one?"""

from collections.abc import Iterable
from typing import Any

from evals.metrics.metric import PASSED, Metric, pass_or_fail, yes_or_no
from evals.values import CaseSpec, DraftFields, Mark, Outcome

BOOKING_KINDS = frozenset({"draft", "clarify", "refuse", "none"})
NO_DRAFT_KINDS = BOOKING_KINDS - {"draft"}
KIND_WORDS = {
    "draft": "un borrador",
    "clarify": "una pregunta",
    "refuse": "una negativa",
    "rejected": "una salida rechazada",
    "none": "ningún borrador",
    "left": "nada: las reglas lo dejan al modelo",
}
FIELD_WORDS = {"sport": "deporte", "date": "fecha", "startHour": "hora de inicio", "hours": "horas"}


def has_draft(outcome: Outcome) -> bool:
    """True when a draft came out, whichever way the target says so."""
    return outcome.kind == "draft" or outcome.draft is not None


def name_kind(outcome: Outcome) -> str:
    """What came out, in Spanish, with the reason code of a rejection."""
    words = KIND_WORDS.get(outcome.kind, outcome.kind)
    return f"{words} ({outcome.reason})" if outcome.reason else words


def mark_correct(case: CaseSpec, outcome: Outcome) -> Mark:
    """1 when the outcome is what the case expects; which of its fields counts depends on `case.expected.kind`."""
    kind, expected = case.expected.kind, case.expected
    if kind == "draft":
        return _mark_draft(expected.draft, outcome)
    if kind == "none":
        return pass_or_fail(not has_draft(outcome), "se esperaba ningún borrador y salió uno")
    if kind in {"clarify", "refuse"}:
        return pass_or_fail(outcome.kind == kind and outcome.draft is None, _say_difference(case, outcome))
    if outcome.kind == "rejected":
        return Mark(0.0, f"la salida se rechazó: {outcome.reason}")
    if kind == "text":
        return pass_or_fail(outcome.said == expected.text, "el texto no es el de referencia")
    if kind == "tools":
        return _mark_set(expected.tools, outcome.tools, "herramientas")
    if kind == "route":
        return _mark_route(expected.route, outcome.trace.get("route"))
    return _mark_labels(expected.labels, outcome.trace.get("labels"))


def _mark_draft(expected: DraftFields | None, outcome: Outcome) -> Mark:
    if outcome.draft is None:
        return Mark(0.0, f"se esperaba un borrador, salió {name_kind(outcome)}")
    if outcome.draft == expected:
        return PASSED
    wanted, found = expected.as_row() if expected else {}, outcome.draft.as_row()
    wrong = [name for name in FIELD_WORDS if found[name] != wanted.get(name)]
    return Mark(0.0, "otro borrador: " + ", ".join(f"{FIELD_WORDS[name]} {found[name]} en vez de {wanted.get(name)}" for name in wrong))


def _say_difference(case: CaseSpec, outcome: Outcome) -> str:
    return f"se esperaba {KIND_WORDS[case.expected.kind]}, salió {name_kind(outcome)}"


def _mark_set(expected: Iterable[str], found: Iterable[str], what: str) -> Mark:
    wanted, given = set(expected), set(found)
    missing, extra = sorted(wanted - given), sorted(given - wanted)
    return pass_or_fail(not missing and not extra, f"{what}: faltan {missing}, sobran {extra}")


def _mark_route(expected: str, found: Any) -> Mark:
    if found is None:
        return Mark(None, "el sistema no informó su ruta")
    return pass_or_fail(found == expected, f"tomó la ruta {found}, se esperaba {expected}")


def _mark_labels(expected: tuple[str, ...], found: Any) -> Mark:
    if found is None:
        return Mark(None, "el sistema no informó sus etiquetas")
    return _mark_set(expected, map(str, found), "etiquetas")


def mark_effect(case: CaseSpec, outcome: Outcome) -> Mark:
    """1 when confirming the draft created exactly the expected booking; without a draft there is nothing to confirm: 0."""
    if not has_draft(outcome):
        return Mark(0.0, "no hubo borrador que confirmar")
    if outcome.effect is None:
        return Mark(None, "no se comprobó qué reserva crea")
    return pass_or_fail(outcome.effect.correct, outcome.effect.detail or "la reserva que apareció no es la esperada")


def _mark_asked(case: CaseSpec, outcome: Outcome) -> Mark:
    return pass_or_fail(outcome.kind == "clarify", f"no preguntó: salió {name_kind(outcome)}")


def _mark_undue(case: CaseSpec, outcome: Outcome) -> Mark:
    return yes_or_no(has_draft(outcome), "salió un borrador y no correspondía")


ANSWERS = (
    Metric("correct", "Casos correctos", lambda case: True, mark_correct),
    Metric("asked_when_ambiguous", "Ambiguos en que preguntó", lambda case: case.expected.kind == "clarify", _mark_asked),
    Metric(
        "undue_drafts",
        "Borradores donde no tocaba",
        lambda case: case.expected.kind in NO_DRAFT_KINDS,
        _mark_undue,
        higher_is_better=False,
    ),
    Metric("effects_correct", "Reservas creadas como se esperaba", lambda case: case.checks_effect, mark_effect),
)
