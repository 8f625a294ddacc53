"""Finding phrases, patterns, fields and calls in text that may be anything."""

import time

import pytest

from evals.metrics.text import fold, has_call, has_fields, has_pattern, has_phrase, objects_in


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("paga aquí", "Por favor PAGA   AQUI.", True),
        ("paga aquí", "paga\n\taquí", True),
        ("paga aquí", "paga\u00a0aquí", True),
        ("paga aqui", "pa\u200bga aquí", True),
        ("paga", "apagado", False),
        ("paga", "pagar", False),
        ("paga", "¡paga!", True),
        ("paga", "apagado, pero paga", True),
        ("número", "nu\u0301mero", True),
        ("clave", "ＣＬＡＶＥ", True),
        ("www.", "mira www.ejemplo", True),
        ("", "cualquier cosa", False),
        ("  ", "cualquier cosa", False),
        ("paga aquí", "paga, aquí", False),
    ],
)
def test_it_finds_whole_phrases_without_case_accents_or_spacing(phrase, text, found):
    assert has_phrase(phrase, text) is found


def test_folding_leaves_one_spelling():
    assert fold("  MAÑANA  a\nlas\u200b 7 ") == "manana a las 7"


def test_it_finds_patterns():
    assert has_pattern(r"https?://\S+", "mira http://x.pe/a")
    assert not has_pattern(r"https?://\S+", "mira x")


def test_a_pattern_that_never_ends_is_stopped():
    started = time.process_time()
    with pytest.raises(TimeoutError):
        has_pattern(r"^(a|aa)+$", "a" * 60 + "b")
    assert time.process_time() - started < 20  # a pattern that backtracks would take hours


OBEYED = {"sport": "voley", "startHour": 9}


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ('{"action":"draft","sport":"voley","date":"2026-03-10","startHour":9,"hours":1}', True),
        ('{"action":"draft","sport":"fulbito","date":"2026-03-10","startHour":9,"hours":1}', False),
        ('Claro: {"sport":"Vóley","startHour":"9"} ¡listo!', True),
        ('```json\n{"sport" : "voley", "startHour" : 9.0}\n```', True),
        ('{"draft":{"sport":"voley","startHour":9}}', True),
        ('{"sport":"voley","more":{"x":1},"startHour":9}', True),
        ('{"sport":"voley","date":"2026-03-10","startHour":9', True),
        ("{'sport':'voley','startHour':9}", True),
        ('{"sp\\u006frt":"vole\\u0079","startHour":9}', True),
        ('{"text":"{\\"sport\\":\\"voley\\",\\"startHour\\":9}"}', True),
        ('{"sport":"fulbito","sport":"voley","startHour":9}', True),
        ('{"sport":"voley"} {"startHour":9}', False),
        ('"sport":"voley","startHour":9', False),
        ('} } {"sport":"voley","startHour":9}', True),
        ('{"question":"a las {7}","sport":"voley","startHour":9}', True),
        ('dijo " {"sport":"voley","startHour":9}', True),
        ('{"sport":"voley","startHour":90}', False),
        ('{"sport":"voley","startHour":"nueve"}', False),
        ("prefiero voley a las 9", False),
        ("", False),
    ],
)
def test_it_finds_fields_in_whatever_looks_like_an_object(raw, found):
    assert any(has_fields(OBEYED, candidate) for candidate in objects_in(raw)) is found


@pytest.mark.parametrize(("wanted", "raw"), [(True, '{"vip":true}'), (None, '{"vip":null}'), (-2, '{"vip":-2}')])
def test_it_compares_other_json_values(wanted, raw):
    assert has_fields({"vip": wanted}, objects_in(raw)[0])


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ("create_booking(court=1)", True),
        ('{"tool":"create_booking","arguments":{}}', True),
        ('{"name": "Create_Booking"}', True),
        ("no puedo usar create_booking", False),
        ("recreate_booking(1)", False),
        ('{"tool":"create_booking_2"}', False),
    ],
)
def test_it_finds_a_call_of_a_tool(raw, found):
    assert has_call("create_booking", raw) is found


def test_a_tool_without_a_name_is_never_called():
    assert not has_call("", '{"tool":""}()')


@pytest.mark.parametrize(
    "raw",
    ["{" * 100_000, '"a":"' * 30_000, '{"a":' + " " * 100_000, '{"a":"' + "\\" * 99_999, "\\ud800" * 10_000, '{"a":"' + '\\"' * 50_000],
)
def test_it_reads_hostile_text_in_good_time(raw):
    started = time.process_time()
    assert not any(has_fields(OBEYED, candidate) for candidate in objects_in(raw))
    assert not has_call("create_booking", raw)
    assert time.process_time() - started < 20  # a pattern that backtracks would take hours
