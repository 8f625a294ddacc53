"""What a proposal is made of: a rewriting that changes something, and of a model's words only what is sound."""

import json
from typing import Any

import pytest

from evals.datasets.proposals import propose_rewrites, read_cases, read_questions
from evals.tests.desk import NOW
from evals.tests.examples import make_attack, make_case
from evals.values import ObeyingSign

HELLO = "Hola! ¿Me reservas fulbito mañana a las 7 de la noche, por favor?"
DOCUMENT = "El complejo abre de 7 a 22 h.\nSe reserva hasta con 14 días de anticipación."


def invented(*elements: Any) -> str:
    return json.dumps(list(elements), ensure_ascii=False)


def drafted(text: str = "vóley el miércoles 6 pm", **fields: Any) -> dict[str, Any]:
    return {"text": text, "kind": "draft", "sport": "voley", "date": "2026-03-11", "startHour": 18, "hours": 1} | fields


# --- Rewritten ------------------------------------------------------------------------------------------------------------


def test_a_rewritten_case_expects_the_same_and_says_where_it_comes_from() -> None:
    spec = make_case(text=HELLO, blocking=True, tags=("primera",))
    plain, cut = (propose_rewrites([spec], names=[name], seed=7)[0] for name in ("sin-tildes", "cortado"))
    assert (plain.key, plain.text) == ("caso-sin-tildes-7", "Hola! Me reservas fulbito mañana a las 7 de la noche, por favor?")
    assert (plain.expected, plain.now, plain.blocking) == (spec.expected, spec.now, False)
    assert plain.tags == ("primera", "sintetico")
    assert plain.notes == "«caso» sin tildes."
    assert cut.notes.endswith("Puede haber perdido un dato: mira otra vez lo correcto.")


def test_attacks_their_twins_and_held_out_cases_are_left_alone() -> None:
    attack = make_case("none", text=HELLO, attack=make_attack("direct", ObeyingSign("draft")))
    cases = [attack, make_case(text=HELLO, benign=True), make_case(text=HELLO, held_out=True)]
    assert propose_rewrites(cases, names=["emoji", "jerga"], seed=0) == []


def test_cases_and_rewritings_come_mixed_and_in_an_order_that_can_be_repeated() -> None:
    cases = [make_case(key=f"caso-{number}", text=f"{HELLO} Somos {number}") for number in range(20)]
    once, again = (propose_rewrites(cases, names=["emoji", "jerga", "dictado"], seed=1) for _ in range(2))
    assert once == again
    assert len(once) == 60
    first = [spec.key.split("-") for spec in once[:10]]
    assert len({parts[1] for parts in first}) >= 6
    assert len({parts[2] for parts in first}) == 3


def test_what_a_rewriter_leaves_as_it_was_or_makes_too_long_is_no_proposal() -> None:
    cases = [make_case(text="vamos"), make_case(text="a" * 299)]
    assert propose_rewrites(cases, names=["sin-tildes"], seed=0) == []
    assert [spec.text[:5] for spec in propose_rewrites(cases, names=["emoji"], seed=0)] == ["vamos"]


def test_a_long_key_is_cut_to_what_a_key_may_have() -> None:
    (spec,) = propose_rewrites([make_case(key="a" * 80, text=HELLO)], names=["emoji"], seed=0)
    assert spec.key == "a" * 72 + "-emoji-0"


# --- Invented by a model --------------------------------------------------------------------------------------------------


def test_a_models_cases_are_read_like_rows_of_a_file() -> None:
    found = read_cases(invented(drafted(), {"text": "oe una cancha pe", "kind": "clarify"}), now=NOW, model="prueba")
    draft, question = found.specs
    assert found.refused == []
    assert (draft.text, draft.expected.draft and draft.expected.draft.start_hour, draft.now) == ("vóley el miércoles 6 pm", 18, NOW)
    assert (question.expected.kind, question.stratum, question.category) == ("clarify", "edge", "propuesta")
    assert {spec.tags for spec in found.specs} == {("sintetico",)}
    assert "el modelo prueba" in draft.notes


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Claro, aquí van:", "la respuesta no es un arreglo JSON"),
        ('{"text": "hola"}', "la respuesta no es un arreglo JSON"),
        (invented("hola"), "no es un objeto"),
        (invented({"text": "hola", "kind": "tools"}), "no dice text y kind"),
        (invented(drafted(startHour="18")), "expected.startHour"),
        (invented(drafted(memberId=3)), "expected.memberId"),
        (invented(drafted(startHour=23)), "lo que da por correcto rompe las reglas"),
        (invented(drafted(date="2026-05-01")), "lo que da por correcto rompe las reglas"),
        (invented(drafted("x" * 301)), "pasa de 300 caracteres"),
        (invented(drafted("vóley el miércoles 6 pm, mi celular es 987654321")), "un dato personal"),
        (invented(drafted("  ")), "input.text"),
        (invented(drafted("a\x00b")), "input.text"),
    ],
)
def test_what_is_not_sound_is_refused_with_a_reason(answer: str, reason: str) -> None:
    found = read_cases(answer, now=NOW, model="prueba")
    assert found.specs == []
    assert [reason in why for why in found.refused] == [True]


def test_the_same_request_twice_is_one_proposal() -> None:
    found = read_cases(invented(drafted(), drafted("VÓLEY el miércoles 6 PM")), now=NOW, model="prueba")
    assert (len(found.specs), found.refused) == (1, ["ya lo propuso antes"])


def test_a_question_is_kept_only_when_its_quote_stands_in_the_document() -> None:
    true = {"question": "¿A qué hora abren?", "answer": "A las 7.", "quote": "abre de 7  a 22 h."}
    false = {"question": "¿Abren de noche?", "answer": "Sí.", "quote": "abre las 24 horas"}
    found = read_questions(invented(true, false, {"question": "¿y?"}), document=DOCUMENT, model="prueba")
    (spec,) = found.specs
    assert (spec.text, spec.expected.kind, spec.expected.text) == ("¿A qué hora abren?", "text", "A las 7.")
    assert (spec.documents, spec.tags) == ((DOCUMENT,), ("sintetico",))
    assert "la cita no está en el documento" in found.refused[0]
    assert "no dice question, answer y quote" in found.refused[1]
