"""The rules of thumb that tell a request typed by a person from one written for an exam, by example."""

import pytest

from evals.datasets.health import CaseFacts, DatasetFacts, Level, check_health
from evals.datasets.health.writing import SIGNS, signs_of
from evals.tests.examples import MONDAY_AT_TEN, make_case

ACCENTS, MISTAKES, LOWER, CUT, CLIPPED = SIGNS

STIFF = (
    "Buenas tardes, quisiera reservar la cancha de vóley para el próximo miércoles a las ocho de la noche.",
    "¿Me podrían separar la cancha de fútbol el sábado a las diez de la mañana, por favor?",
    "Quiero tres horas de básquet el domingo, empezando a las tres de la tarde.",
    "Disculpe, ¿quedará libre la cancha el viernes? Si es así, resérvela para nosotros, gracias.",
    "Los precios de la semana pasada ya no valen; necesito saber cuánto cuesta la reserva ahora.",
)


@pytest.mark.parametrize("text", STIFF)
def test_a_tidy_request_shows_no_sign(text):
    assert signs_of(text) == frozenset()


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("Reserva para manana, el miercoles no puedo ir", ACCENTS),
        ("Necesito informacion sobre las canchas del complejo", ACCENTS),
        ("Hola, me guardas la cancha del domingo?", ACCENTS),
        ("Kiero la cancha de vóley para el domingo", MISTAKES),
        ("Fulbitooo este domingo con toda la gente", MISTAKES),
        ("Resevar la cancha para el domingo que viene", MISTAKES),
        ("Quiero la canhca de vóley para el domingo", MISTAKES),  # two letters swapped
        ("Para el doming quiero la pichanga de siempre", MISTAKES),
        ("Nesecito la cancha de vóley para el domingo", MISTAKES),
        ("Vóley alas 5 con toda la gente del barrio", MISTAKES),
        ("quisiera la cancha de vóley para el domingo", LOWER),
        ("QUISIERA LA CANCHA DE VÓLEY PARA EL DOMINGO", LOWER),
        ("Vóley domingo cinco", CUT),
        ("Quisiera la cancha de vóley para el domingo a las", CUT),
        ("Quisiera la cancha de vóley para el domingo...", CUT),
        ("Separa la cancha de vóley el domingo a las 4pm", CLIPPED),
        ("Oe causa, separa la cancha de vóley del domingo", CLIPPED),
        ("Hola, xfa la cancha de vóley del domingo", CLIPPED),
    ],
)
def test_each_sign_is_seen_where_it_stands(text, sign):
    assert sign in signs_of(text)


def levels(*texts):
    cases = tuple(CaseFacts(make_case(key=f"c{n}", text=text)) for n, text in enumerate(texts))
    writing = next(each for each in check_health(DatasetFacts(cases, True, MONDAY_AT_TEN)).checks if each.name == "writing")
    return writing.level, writing.count, writing.total


def test_a_dataset_of_tidy_requests_lacks_real_ones():
    assert levels(*STIFF) == (Level.LACKING, 0, 5)


def test_half_of_the_requests_with_signs_of_several_kinds_is_good():
    assert levels(*STIFF[:3], "kiero boley mañana", "4pm xfa", "miercoles alas 5") == (Level.GOOD, 3, 6)


def test_only_small_letters_are_one_kind_of_sign_and_not_enough():
    assert levels(*(f"{text[0].lower()}{text[1:]}" for text in STIFF if text[0].isalpha())) == (Level.CARE, 4, 4)


def test_nothing_is_divided_by_no_text():
    assert levels()[1:] == (0, 0)
