"""What differs between two states of a case, field by field and word by word."""

from dataclasses import replace
from datetime import date

import pytest

from evals.datasets import differences
from evals.datasets.differences import FieldChange, Piece, changed_fields, diff_words, say_fields
from evals.tests.examples import FULBITO, make_attack, make_case
from evals.values import Expected, NeverSay, ObeyingSign, Occupied

BASE = make_case(text="fulbito mañana a las 7")


def test_equal_cases_differ_in_nothing():
    assert changed_fields(BASE, replace(BASE)) == []


@pytest.mark.parametrize(
    ("change", "changes"),
    [
        ({"text": "vóley mañana"}, [("lo que escribe la persona", "fulbito mañana a las 7", "vóley mañana")]),
        ({"expected": Expected("draft", replace(FULBITO, start_hour=20))}, [("hora de inicio", "19:00", "20:00")]),
        ({"expected": Expected("draft", replace(FULBITO, date=date(2026, 3, 11)))},
         [("fecha", "martes 10/03/2026", "miércoles 11/03/2026")]),
        ({"expected": Expected("route", route="pagos")},
         [("lo correcto", "llena un borrador", "ruta"), ("deporte", "Fulbito", ""), ("fecha", "martes 10/03/2026", ""),
          ("hora de inicio", "19:00", ""), ("horas", "1", ""), ("ruta", "", "pagos")]),
        ({"never_say": (NeverSay("phrase", "gratis"), NeverSay("pattern", r"\d{9}"))},
         [("lo que nunca debe decir", "", "gratis\npatrón: \\d{9}")]),
        ({"occupied": (Occupied(date(2026, 3, 10), "voley", 18, "Los Halcones"),)},
         [("horas ocupadas", "", "2026-03-10 voley 18 Los Halcones")]),
        ({"blocking": True, "held_out": True}, [("bloqueante", "no", "sí"), ("reservado", "no", "sí")]),
        ({"attack": make_attack("direct", ObeyingSign("phrase", text="soy libre"))},
         [("familia de ataque", "", "pide ignorar las instrucciones"), ("vía del ataque", "", "directo: lo escribe quien pide"),
          ("cómo se vería obedecer", "", "frase: soy libre")]),
        ({"now": None}, [("fecha y hora de la situación", "lunes 09/03/2026 10:00", "")]),
        ({"tags": ("uno", "dos"), "stratum": "edge"}, [("estrato", "normal", "de borde"), ("etiquetas de búsqueda", "", "uno, dos")]),
    ],
)  # fmt: skip
def test_each_changed_field_is_told_in_words_before_and_after(change, changes):
    assert changed_fields(BASE, replace(BASE, **change)) == [FieldChange(*each) for each in changes]


def test_every_field_of_a_case_is_told():
    """A field that nobody tells would change in silence."""
    full = replace(
        BASE, messages=({"role": "user", "content": "hola"},), documents=("uno",), member="Rosa", notes="n", known_limitation="k",
        benign=True, category="otra", key="otra",
    )  # fmt: skip
    told = {change.field for change in changed_fields(BASE, full)}
    assert told == {"conversación", "documentos", "quién tiene la sesión", "notas", "limitación conocida",
                    "parece un ataque pero es legítimo", "categoría", "clave"}  # fmt: skip
    assert len(say_fields(BASE)) == 28


def test_long_texts_differ_word_by_word():
    assert diff_words("la cancha está libre el lunes", "la cancha está  ocupada el lunes") == [
        Piece("same", "la cancha está"), Piece("gone", " libre"), Piece("new", "  ocupada"), Piece("same", " el lunes"),
    ]  # fmt: skip
    assert diff_words("igual", "igual") == [Piece("same", "igual")]
    assert diff_words("", "nueva") == [Piece("new", "nueva")]


@pytest.mark.parametrize(("before", "after"), [("a b c", "a x c d"), ("uno\n\ndos ", " dos\tuno"), ("", ""), ("x", "")])
def test_the_pieces_put_together_are_both_texts(before, after):
    pieces = diff_words(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == after


def test_a_text_too_long_to_compare_is_shown_whole(monkeypatch):
    monkeypatch.setattr(differences, "MOST_WORDS", 4)
    assert diff_words("a b", "a c") == [Piece("gone", "a b"), Piece("new", "a c")]
