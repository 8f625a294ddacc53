"""promptfoo's tests come in as cases: what both sides can say goes over exactly, the rest is refused by name and place."""

from typing import Any

import pytest
import regex
import yaml

from evals.datasets.rows import row_of
from evals.datasets.spreadsheet import FileRead, read_cases
from evals.metrics.text import has_pattern, has_phrase

YAML = """
# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
description: Preguntas de la recepción
prompts: [file://prompt.txt]
tests:
  - description: El horario
    vars:
      question: "¿A qué hora abren mañana?"
      now: 2026-03-09T10:00
    assert:
      - type: equals
        value: De 7 a 22 horas.
      - type: not-icontains
        value: gratis
    metadata:
      category: Horarios
      idioma: [es, pe]
  - vars: {question: 0123}
    assert:
      - {type: not-regex, value: '\\d{9}'}
      - {type: not-llm-rubric, value: regaña a la persona}
"""


def read(text: str, name: str = "pruebas.yaml") -> FileRead:
    return read_cases(text.encode(), name=name)


def problems(text: str, name: str = "pruebas.yaml") -> list[tuple[int, str]]:
    return [(problem.line, problem.field) for problem in read(text, name).problems]


def one(*asserts: str) -> str:
    return "- vars: {input: hola}\n  assert:\n" + "".join(f"    - {each}\n" for each in asserts)


def test_a_test_becomes_a_case() -> None:
    found = read(YAML)
    assert found.problems == []
    first, second = (row_of(row.spec) for row in found.rows)
    assert first.pop("key").startswith("a-que-hora-abren-manana-")
    assert first == {
        "category": "promptfoo",
        "stratum": "happy",
        "input": {"text": "¿A qué hora abren mañana?"},
        "context": {"now": "2026-03-09T10:00"},
        "expected": {"kind": "text", "text": "De 7 a 22 horas."},
        "never_say": [{"kind": "phrase", "text": "gratis"}],
        "tags": ["category-horarios", "idioma-es", "idioma-pe"],
        "notes": "El horario",
    }
    assert second["input"] == {"text": "0123"}
    assert second["expected"] == {"kind": "none"}
    assert second["never_say"] == [{"kind": "pattern", "text": r"\d{9}"}, {"kind": "rule", "text": "regaña a la persona"}]
    assert "No se leyó lo que dice cómo correr: description, prompts." in found.notes


CHECKS = [
    ("contains", "Hola, ñ", ["¡Hola, ñandú!"], ["hola, ñ", ""]),
    ("icontains", "hola", ["¡HOLA!"], ["chau"]),
    ("contains-any", ["uno", "dos."], ["van dos."], ["dosx", "tres"]),
    ("contains-all", ["uno", "dos"], ["dos y uno"], ["uno", "dos"]),
    ("regex", "^a.c$", ["abc"], ["xabc"]),
    ("starts-with", "Hola", ["Hola, ¿qué tal?"], ["Ah, Hola"]),
    ("not-equals", "no", ["no sé", ""], ["no"]),
    ("not-starts-with", "Hola", ["Ah, Hola"], ["Hola a todos"]),
    ("not-contains-all", ["uno", "dos"], ["uno"], ["dos, uno"]),
    ("not-regex", r"\d{3}", ["12"], ["x 1234"]),
    ("not-contains", "gratis", ["cuesta"], ["es GRATIS"]),
    ("not-contains-any", ["uno", "dos"], ["tres"], ["un dos"]),
    ("contains", "dos\nlíneas", ["van dos\nlíneas"], ["dos líneas"]),
]


@pytest.mark.parametrize(("kind", "value", "good", "bad"), CHECKS, ids=[f"{check[0]} {check[1]}" for check in CHECKS])
def test_an_answer_is_forbidden_exactly_where_the_assert_would_fail(kind: str, value: Any, good: list[str], bad: list[str]) -> None:
    found = read(yaml.safe_dump([{"vars": {"input": "hola"}, "assert": [{"type": kind, "value": value}]}], allow_unicode=True))
    assert found.problems == []
    lines = found.rows[0].spec.never_say

    def is_forbidden(answer: str) -> bool:
        return any((has_pattern if line.kind == "pattern" else has_phrase)(line.text, answer) for line in lines)

    assert [is_forbidden(answer) for answer in (*good, *bad)] == [False] * len(good) + [True] * len(bad)


@pytest.mark.parametrize("kind", ["llm-rubric", "javascript", "similar", "is-json", "latency", "not-similar", "inventado"])
def test_what_we_cannot_check_is_refused_by_its_name_and_place(kind: str) -> None:
    [problem] = read(one("{type: contains, value: a}", f"{{type: {kind}, value: x}}")).problems
    assert (problem.line, problem.field) == (1, "assert#2")
    assert kind in problem.message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (one("{type: contains, value: a, threshold: 0.5}"), (1, "assert#1.threshold")),
        ("- vars: {input: a, tono: b}\n  assert: [{type: equals, value: x}]\n", (1, "vars.tono")),
        ("- vars: {input: file://a.txt}\n  assert: [{type: equals, value: x}]\n", (1, "vars.input")),
        ("- vars: {input: a}\n  options: {x: 1}\n  assert: [{type: equals, value: x}]\n", (1, "options")),
        ("- vars: {input: a}\n", (1, "assert")),
        ("- vars: {input: a}\n  assert: [{type: regex, value: '('}]\n", (1, "never_say#1.text")),
        ("tests:\n- file://otras.yaml\n- vars: {input: a}\n  assert: [{type: equals, value: x}]\n", (1, "")),
        (one("{type: equals, value: a}") + one("{type: equals, value: b}"), (2, "vars")),
    ],
)
def test_other_parts_are_refused_by_place(text: str, place: tuple[int, str]) -> None:
    assert place in problems(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tests: file://pruebas.yaml\n", "no se abren"),
        ("defaultTest: {assert: []}\ntests:\n- vars: {input: a}\n", "defaultTest"),
        ("- vars: &a [x]\n  assert: *a\n", "alias"),
        ("- vars: {input: a, input: b}\n", "dos veces"),
        ("- vars: " + "[" * 50 + "]" * 50 + "\n", "niveles"),
        ("- vars: {input: a\n", "línea"),
    ],
)
def test_a_file_that_is_not_a_list_of_tests_is_refused(text: str, words: str) -> None:
    [problem] = read(text).problems
    assert problem.line == 0
    assert words in problem.message


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    levels = "".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    [problem] = read(f"- vars:\n  a0: &a0 [ja]\n{levels}").problems
    assert "alias" in problem.message


def test_yaml_that_asks_for_objects_makes_none() -> None:
    assert read("- vars: !!python/object/apply:os.getcwd []\n  assert: [{type: equals, value: x}]\n").rows == []


CSV = (
    "question,__expected1,__expected2,__description,__metadata:nivel,__metadata:temas[]\r\n"
    '¿Abren hoy?,"contains: 7, 22",not-contains:gratis,El horario,facil,"horas,dias\\,fechas"\r\n'
    "¿Y mañana?,Sí.,,,,\r\n"
    "Nota: ojo,Nota: sí,,,,\r\n"
)


def test_a_csv_of_promptfoo_is_known_by_its_columns() -> None:
    found = read(CSV, "pruebas.csv")
    assert (found.problems, found.unit) == ([], "fila")
    first, second, third = (row_of(row.spec) for row in found.rows)
    assert first["never_say"] == [
        {"kind": "pattern", "text": r"\A(?![\s\S]*?(?:7, 22))"},
        {"kind": "phrase", "text": "gratis"},
    ]
    assert (first["tags"], first["notes"]) == (["nivel-facil", "temas-horas", "temas-dias-fechas"], "El horario")
    assert [second["expected"], third["expected"]] == [{"kind": "text", "text": "Sí."}, {"kind": "text", "text": "Nota: sí"}]


@pytest.mark.parametrize("column", ["__prefix", "__threshold", "__providerOutput", "__config:__expected:threshold"])
def test_a_column_of_a_csv_that_changes_the_test_is_refused(column: str) -> None:
    assert problems(f"input,__expected,{column}\nhola,chau,x\n", "pruebas.csv") == [(2, column)]


def test_a_kind_that_a_csv_names_and_we_cannot_check_is_refused() -> None:
    text = "input,__expected\nhola,llm-rubric: es amable\ny,similar(0.8):x\n"
    assert problems(text, "pruebas.csv") == [(2, "assert#1"), (3, "assert#1")]


def test_the_same_file_again_has_the_same_keys() -> None:
    assert [row.spec.key for row in read(YAML).rows] == [row.spec.key for row in read(YAML.replace("De 7", "Desde las 7")).rows]


def test_every_pattern_that_is_made_compiles() -> None:
    found = read(one(*(f"{{type: contains, value: {word!r}}}" for word in ("a.b", "(x)", "[", "a b", "\\\\d"))))
    assert found.problems == []
    assert all(regex.compile(line.text) for line in found.rows[0].spec.never_say)
