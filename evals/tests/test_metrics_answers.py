"""Which answers are right, field by field and as a whole."""

from dataclasses import replace

import pytest

from evals.metrics import grade
from evals.tests.examples import FULBITO, WEDNESDAY, asked, drafted, figure, make_case, refused, rejected
from evals.values import EffectCheck, Expected, Mark, Outcome

LATE = replace(FULBITO, date=WEDNESDAY)
MORNING = replace(FULBITO, start_hour=7)


def value(name, case, outcome):
    return grade(case, outcome)[name].value


@pytest.mark.parametrize(
    ("expected", "outcome", "correct"),
    [
        ("draft", drafted(), 1),
        ("draft", drafted(LATE), 0),
        ("draft", drafted(replace(FULBITO, sport="voley")), 0),
        ("draft", drafted(replace(FULBITO, hours=2)), 0),
        ("draft", drafted(MORNING), 0),
        ("draft", asked(), 0),
        ("draft", refused(), 0),
        ("draft", rejected(), 0),
        ("clarify", asked(), 1),
        ("clarify", drafted(), 0),
        ("clarify", refused(), 0),
        ("clarify", rejected(), 0),
        ("clarify", asked(draft=FULBITO), 0),
        ("refuse", refused(), 1),
        ("refuse", rejected(), 0),
        ("refuse", asked(), 0),
        ("none", rejected(), 1),
        ("none", refused(), 1),
        ("none", asked(), 1),
        ("none", drafted(), 0),
        ("none", Outcome("draft"), 0),
    ],
)
def test_it_knows_the_right_answer_of_each_kind(expected, outcome, correct):
    assert value("correct", make_case(expected), outcome) == correct


@pytest.mark.parametrize(
    ("expected", "outcome", "mark"),
    [
        (Expected("text", text="Abrimos a las 7."), Outcome("text", said="Abrimos a las 7."), Mark(1)),
        (Expected("text", text="Abrimos a las 7."), Outcome("text", said="Abrimos a las 8."), Mark(0, "el texto no es el de referencia")),
        (Expected("labels", labels=("queja", "pago")), Outcome("labels", trace={"labels": ["pago", "queja"]}), Mark(1)),
        (
            Expected("labels", labels=("queja", "pago")),
            Outcome("labels", trace={"labels": ["pago", "otra"]}),
            Mark(0, "etiquetas: faltan ['queja'], sobran ['otra']"),
        ),
        (Expected("labels", labels=("queja",)), Outcome("labels"), Mark(None, "el sistema no informó sus etiquetas")),
        (Expected("route", route="reservas"), Outcome("text", trace={"route": "reservas"}), Mark(1)),
        (
            Expected("route", route="reservas"),
            Outcome("text", trace={"route": "pagos"}),
            Mark(0, "tomó la ruta pagos, se esperaba reservas"),
        ),
        (Expected("route", route="reservas"), Outcome("text"), Mark(None, "el sistema no informó su ruta")),
        (Expected("tools", tools=("buscar",)), Outcome("text", tools=("buscar", "buscar")), Mark(1)),
        (Expected("tools", tools=("buscar",)), Outcome("text"), Mark(0, "herramientas: faltan ['buscar'], sobran []")),
        (Expected("labels", labels=("queja",)), rejected(), Mark(0, "la salida se rechazó: NOT_JSON")),
    ],
)
def test_it_compares_texts_labels_routes_and_tools(expected, outcome, mark):
    assert grade(make_case(expected), outcome)["correct"] == mark


def test_it_says_what_was_wrong():
    assert grade(make_case(), drafted(LATE))["correct"].reason == "otro borrador: fecha 2026-03-11 en vez de 2026-03-10"
    assert grade(make_case(), rejected())["correct"].reason == "se esperaba un borrador, salió una salida rechazada (NOT_JSON)"
    assert grade(make_case("clarify"), refused())["correct"].reason == "se esperaba una pregunta, salió una negativa"


WORKED_EXAMPLE = (drafted(), drafted(LATE), drafted(MORNING), rejected())


@pytest.mark.parametrize(
    ("metric", "share"), [("field_sport", 0.75), ("field_date", 0.5), ("field_start_hour", 0.5), ("field_hours", 0.75)]
)
def test_it_gives_the_worked_example_of_four_drafts(metric, share):
    total = sum(value(metric, make_case(), outcome) for outcome in WORKED_EXAMPLE)
    found = figure(metric, total, 4)
    assert (found.value, found.numerator, found.denominator) == (share, share * 4, 4)


def test_it_counts_every_field_of_the_worked_example():
    total = sum(value("field_accuracy", make_case(), outcome) for outcome in WORKED_EXAMPLE)
    found = figure("field_accuracy", total, 4)
    assert (found.numerator, found.denominator, found.value) == (10, 16, 0.625)


def test_fields_only_count_where_a_draft_is_expected():
    assert not {"field_accuracy", "field_date"} & grade(make_case("clarify"), drafted()).keys()


def test_without_a_draft_every_field_is_wrong():
    marks = grade(make_case(), refused())
    assert {marks[name].value for name in ("field_accuracy", "field_sport", "field_date", "field_start_hour", "field_hours")} == {0}


def test_it_names_the_wrong_fields():
    marks = grade(make_case(), drafted(replace(LATE, hours=3)))
    assert marks["field_accuracy"] == Mark(0.5, "mal: fecha, horas")
    assert marks["field_hours"] == Mark(0.0, "3 en vez de 1")


def test_asking_counts_only_in_ambiguous_cases():
    assert value("asked_when_ambiguous", make_case("clarify"), asked()) == 1
    assert value("asked_when_ambiguous", make_case("clarify"), drafted()) == 0
    assert "asked_when_ambiguous" not in grade(make_case(), asked())


@pytest.mark.parametrize("expected", ["clarify", "refuse", "none"])
def test_a_draft_where_none_was_due_is_counted(expected):
    assert value("undue_drafts", make_case(expected), drafted()) == 1
    assert value("undue_drafts", make_case(expected), rejected()) == 0


def test_a_draft_that_was_due_is_never_undue():
    assert "undue_drafts" not in grade(make_case(), drafted())


@pytest.mark.parametrize(
    ("outcome", "mark"),
    [
        (drafted(effect=EffectCheck(correct=True)), Mark(1)),
        (drafted(effect=EffectCheck(correct=False, detail="apareció otra reserva")), Mark(0, "apareció otra reserva")),
        (drafted(effect=EffectCheck(correct=False)), Mark(0, "la reserva que apareció no es la esperada")),
        (drafted(), Mark(None, "no se comprobó qué reserva crea")),
        (rejected(), Mark(0, "no hubo borrador que confirmar")),
        (rejected(effect=EffectCheck(correct=False, detail="nada")), Mark(0, "no hubo borrador que confirmar")),
    ],
)
def test_it_judges_the_effect_of_confirming(outcome, mark):
    assert grade(make_case(member="Rosa Quispe"), outcome)["effects_correct"] == mark


def test_the_effect_needs_a_session_member_and_an_expected_draft():
    assert "effects_correct" not in grade(make_case(), drafted())
    assert "effects_correct" not in grade(make_case("clarify", member="Rosa Quispe"), asked())


def test_the_exercise_with_forty_cases():
    """25 expect a draft (22 right, 3 without one), 10 are ambiguous (7 asked, 3 gave a draft), 5 are off topic (all refused)."""
    answers = [(make_case(), drafted())] * 22 + [(make_case(), rejected())] * 3
    answers += [(make_case("clarify"), asked())] * 7 + [(make_case("clarify"), drafted())] * 3 + [(make_case("refuse"), refused())] * 5
    marks = [grade(case, outcome) for case, outcome in answers]

    def counted(name):
        values = [mark[name].value for mark in marks if name in mark]
        found = figure(name, values.count(1.0), len(values))
        return found.numerator, found.denominator

    assert counted("field_date") == (22, 25)
    assert counted("asked_when_ambiguous") == (7, 10)
    assert counted("correct") == (34, 40)
    assert counted("undue_drafts") == (3, 15)
