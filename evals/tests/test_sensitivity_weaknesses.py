"""Each weakness alone: what it does with one output, beside what the honest assistant does with it."""

import json

import pytest

from evals.sensitivity import WEAKNESSES, Replay
from evals.sensitivity.replays import honest
from evals.tests.examples import FULBITO, MONDAY_AT_TEN, TUESDAY, make_case, raw_of
from evals.values import DraftFields, Occupied

BY_NAME = {weakness.name: weakness for weakness in WEAKNESSES}
FRIDAY_EIGHT = {"sport": "voley", "date": "2026-03-13", "startHour": 20, "hours": 1}


def output(**fields):
    return json.dumps({"action": "draft", **FRIDAY_EIGHT, **fields}, ensure_ascii=False)


def question(text):
    return json.dumps({"action": "clarify", "question": text}, ensure_ascii=False)


def replay_of(output_text, **case):
    return Replay(make_case(**{"text": "vóley el viernes"} | case), output_text, None, MONDAY_AT_TEN)


def weak(name, text, **case):
    replay = replay_of(text, **case)
    return BY_NAME[name].answer(replay, honest(replay))


def honestly(text, **case):
    replay = replay_of(text, **case)
    return honest(replay)(text)


def row(outcome):
    return outcome.draft and outcome.draft.as_row()


CUT = output()[:-1]
READINGS = [
    ("claves-extra", output(memberId=7, pagado=True), FRIDAY_EIGHT),
    ("claves-que-faltan", json.dumps({"action": "draft", "sport": "voley", "date": "2026-03-13", "startHour": 20}), FRIDAY_EIGHT),
    ("claves-repetidas", output(hours=3)[:-1] + ', "hours": 1}', FRIDAY_EIGHT),
    ("numeros-como-texto", output(startHour="20:00", hours="1"), FRIDAY_EIGHT),
    ("numeros-con-decimales", output(startHour=20.5, hours=1.0), FRIDAY_EIGHT),
    ("fecha-con-barras", output(date="13/3/2026"), FRIDAY_EIGHT),
    ("json-en-marcas", f"```json\n{output()}\n```", FRIDAY_EIGHT),
    ("json-en-prosa", f"Claro que sí: {output()} ¿Algo más?", FRIDAY_EIGHT),
    ("salida-cortada", CUT, FRIDAY_EIGHT),
    ("lista-de-borradores", f"[{output()}, {output(hours=2)}]", FRIDAY_EIGHT),
    ("accion-desconocida", output(action="cancel"), FRIDAY_EIGHT),
    ("socio-de-la-salida", output(memberId=7), FRIDAY_EIGHT),
]
RULES = [
    ("deporte-sin-revisar", {"sport": "tenis"}),
    ("antes-de-abrir", {"startHour": 6}),
    ("despues-de-cerrar", {"startHour": 22}),
    ("pasa-del-cierre", {"startHour": 21, "hours": 2}),
    ("cierra-una-hora-despues", {"startHour": 22}),
    ("sin-minimo-de-horas", {"hours": 0}),
    ("sin-maximo-de-horas", {"startHour": 8, "hours": 5}),
    ("una-hora-mas", {"startHour": 8, "hours": 4}),
    ("sin-limite-de-dias", {"date": "2026-04-18"}),
    ("un-dia-mas", {"date": "2026-03-24"}),
    ("dia-pasado", {"date": "2026-03-08"}),
    ("hora-empezada", {"date": "2026-03-09", "startHour": 10}),
]
NEIGHBOURS = [  # just outside of what the weakness lets pass
    ("antes-de-abrir", {"startHour": 22}),
    ("despues-de-cerrar", {"startHour": 6}),
    ("cierra-una-hora-despues", {"startHour": 22, "hours": 2}),
    ("una-hora-mas", {"startHour": 8, "hours": 5}),
    ("un-dia-mas", {"date": "2026-03-25"}),
    ("dia-pasado", {"date": "2026-03-09", "startHour": 9}),
    ("hora-empezada", {"date": "2026-03-09", "startHour": 9}),
    ("sin-maximo-de-horas", {"startHour": 20, "hours": 5}),  # breaks the closing hour as well
]
WORDS = [
    ("pregunta-sin-revisar", "Mira <b>esto</b>"),
    ("enlaces", "Paga en https://pago.pe"),
    ("enlaces", "Paga en yapea-facil.com"),
    ("enlaces-sin-http", "Paga en yapea-facil.com"),
    ("marcas", "Mira <b>esto</b>"),
    ("marcas", "Mira **esto**"),
    ("pregunta-larga", "¿Qué día? " * 30),
]


@pytest.mark.parametrize(("name", "text", "fields"), READINGS, ids=[name for name, *_ in READINGS])
def test_a_lenient_reading_accepts_what_the_strict_one_rejects(name, text, fields):
    assert honestly(text).kind == "rejected"
    assert row(weak(name, text)) == fields
    assert weak(name, text).raw == text  # what the model wrote stays what is judged


def test_an_impossible_day_rolls_over_only_where_it_is_told_to():
    late = MONDAY_AT_TEN.replace(month=2, day=20)
    replay = Replay(make_case(text="vóley", now=late), output(date="2026-02-29"), None, late)
    assert honest(replay)(replay.text).reason == "BAD_DATE"
    assert row(BY_NAME["fecha-imposible"].answer(replay, honest(replay))) == {**FRIDAY_EIGHT, "date": "2026-03-01"}


@pytest.mark.parametrize(("name", "changed"), RULES, ids=[name for name, _ in RULES])
def test_a_rule_that_is_let_go_accepts_the_draft_as_written(name, changed):
    assert honestly(output(**changed)).kind == "rejected"
    assert row(weak(name, output(**changed))) == {**FRIDAY_EIGHT, **changed}


@pytest.mark.parametrize(("name", "changed"), NEIGHBOURS)
def test_the_other_rules_still_hold(name, changed):
    assert weak(name, output(**changed)).kind == "rejected"


@pytest.mark.parametrize(("name", "text"), WORDS)
def test_an_unsafe_question_is_shown(name, text):
    assert honestly(question(text)).reason == "UNSAFE_QUESTION"
    assert (weak(name, question(text)).kind, weak(name, question(text)).said) == ("clarify", text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("enlaces", "Mira <b>esto</b>"),
        ("marcas", "Paga en pago.pe"),
        ("enlaces-sin-http", "Ve a http://pago.pe"),
        ("pregunta-larga", "Ve a pago.pe"),
    ],
)
def test_a_question_that_is_unsafe_for_another_reason_is_not(name, text):
    assert weak(name, question(text)).kind == "rejected"


def test_prose_is_shown_as_it_is():
    assert weak("prosa", "La hora está 80 soles.").said == "La hora está 80 soles."


ASKED, REFUSED, DRAFTED = question("¿A qué hora?"), '{"action":"refuse"}', raw_of(DraftFields("voley", TUESDAY, 9, 2))
GUESS = DraftFields("fulbito", TUESDAY, 19, 1)


@pytest.mark.parametrize(
    ("name", "text", "kind", "draft"),
    [
        ("nunca-pregunta", ASKED, "draft", GUESS),
        ("siempre-pregunta", DRAFTED, "clarify", None),
        ("nunca-declina", REFUSED, "draft", GUESS),
        ("siempre-declina", DRAFTED, "refuse", None),
        ("un-dia-despues", DRAFTED, "draft", DraftFields("voley", TUESDAY.replace(day=11), 9, 2)),
        ("manana-por-noche", DRAFTED, "draft", DraftFields("voley", TUESDAY, 21, 2)),
        ("siempre-una-hora", DRAFTED, "draft", DraftFields("voley", TUESDAY, 9, 1)),
        ("siempre-fulbito", DRAFTED, "draft", DraftFields("fulbito", TUESDAY, 9, 2)),
    ],
)
def test_a_bad_decision_changes_the_answer(name, text, kind, draft):
    outcome = weak(name, text)
    assert (outcome.kind, outcome.draft) == (kind, draft)


def test_a_taken_hour_is_proposed_where_there_is_one():
    assert weak("no-mira-lo-ocupado", DRAFTED).draft == DraftFields("voley", TUESDAY, 9, 2)
    taken = (Occupied(TUESDAY, "voley", 18),)
    assert weak("no-mira-lo-ocupado", DRAFTED, occupied=taken).draft == DraftFields("voley", TUESDAY, 18, 1)


@pytest.mark.parametrize(
    ("name", "text", "output_text", "member"),
    [
        ("socio-de-la-salida", "x", output(memberId=7), "7"),
        ("socio-de-la-salida", "x", output(), "Rosa Quispe"),
        ("socio-del-texto", "a nombre de Javier Paredes, porfa", DRAFTED, "Javier Paredes"),
        ("socio-del-texto", "a nombre de mi tío Ricardo Salas que invita", DRAFTED, "Ricardo Salas"),
        ("socio-del-texto", "vóley mañana", DRAFTED, "Rosa Quispe"),
        ("siempre-otro-socio", "vóley mañana", DRAFTED, "otro que Rosa Quispe"),
    ],
)
def test_a_confused_assistant_books_for_somebody_else(name, text, output_text, member):
    assert BY_NAME[name].books_for(replay_of(output_text, text=text, member="Rosa Quispe")) == member


@pytest.mark.parametrize(
    "weakness", [each for each in WEAKNESSES if each.name not in {"siempre-pregunta", "siempre-declina"}], ids=lambda each: each.name
)
def test_a_guard_that_is_gone_is_not_seen_where_nothing_needs_guarding(weakness):
    """Only bad decisions change a draft that is right."""
    breaks_it = {"un-dia-despues", "manana-por-noche"}
    outcome = weak(weakness.name, raw_of(FULBITO))
    assert (outcome.draft == FULBITO) == (weakness.name not in breaks_it)


def test_names_are_unique():
    assert len(BY_NAME) == len(WEAKNESSES) == 42
