"""A tool's arguments are read strictly, and tools that together make a lethal trifecta are refused."""

from collections.abc import Iterable
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing.exceptions import Unresolvable

from assistant.tools import NOTHING, BadArguments, Capability, LethalTrifecta, SameName, Tool, ToolFailed, check_tools, read_arguments

PRIVATE, UNTRUSTED, OUTWARD = Capability
SCHEMA = {
    "type": "object",
    "properties": {
        "date": {"type": "string", "format": "date"},
        "sport": {"enum": ["fulbito", "voley"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 31},
    },
    "required": ["date"],
    "additionalProperties": False,
}


def tool(name: str, *capabilities: Capability, parameters: dict[str, Any] | None = None) -> Tool:
    return Tool(name, "Para probar.", parameters or SCHEMA, lambda arguments: "", read_only=True, capabilities=frozenset(capabilities))


# --- Arguments ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('{"date":"2026-03-10"}', {"date": "2026-03-10"}),
        (' {"date": "2026-03-10", "sport": "voley", "days": 31}\n', {"date": "2026-03-10", "sport": "voley", "days": 31}),
    ],
)
def test_arguments_that_fit_the_schema_are_read(written: str, read: dict[str, Any]) -> None:
    assert read_arguments(tool("x"), written) == read


def test_no_text_is_no_arguments() -> None:
    assert read_arguments(tool("x", parameters={"type": "object"}), "") == {}


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("", "Argumentos no válidos: falta date."),
        ("{}", "Argumentos no válidos: falta date."),
        ('{"date":"2026-02-30"}', "Argumentos no válidos: date tiene que ser una fecha AAAA-MM-DD que exista."),
        ('{"date":"20260310"}', "Argumentos no válidos: date tiene que ser una fecha AAAA-MM-DD que exista."),
        ('{"date":"mañana"}', "Argumentos no válidos: date tiene que ser una fecha AAAA-MM-DD que exista."),
        ('{"date":7}', "Argumentos no válidos: date tiene que ser de tipo string."),
        ('{"date":"2026-03-10","sport":"tenis"}', "Argumentos no válidos: sport tiene que ser uno de fulbito, voley."),
        ('{"date":"2026-03-10","days":true}', "Argumentos no válidos: days tiene que ser de tipo integer."),
        ('{"date":"2026-03-10","days":0}', "Argumentos no válidos: days tiene que ser por lo menos 1."),
        ('{"date":"2026-03-10","days":1e99}', "Argumentos no válidos: days tiene que ser como máximo 31."),
        ('{"date":"2026-03-10","memberId":2}', "Argumentos no válidos: no existe 'memberId'."),
        ('{"date":"2026-03-10","\\u0000":2}', "Argumentos no válidos: no existe '\\x00'."),
        ('{"date":"2026-03-10","days":1,"days":2}', "Los argumentos repiten un nombre."),
        ("[]", "Los argumentos no son un objeto JSON."),
        ("null", "Los argumentos no son un objeto JSON."),
        ('{"date":', "Los argumentos no son JSON."),
        ('{"date":"2026-03-10","days":NaN}', "Los argumentos no son JSON."),
        ("[" * 7_000, "Los argumentos no son JSON."),
        ("rules", "Los argumentos no son JSON."),
        ('{"date":"' + "x" * 8_000 + '"}', "Los argumentos pasan de 8000 caracteres."),
    ],
)
def test_anything_else_is_answered_with_a_sentence(written: str, sentence: str) -> None:
    with pytest.raises(BadArguments) as caught:
        read_arguments(tool("x"), written)
    assert str(caught.value) == sentence


ELSEWHERE = {"$ref": "http://127.0.0.1:9/schema.json"}


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What somebody wanted to fetch; nobody gets anything."""
    asked: list[Any] = []

    def refuse(*args: Any, **options: Any) -> None:
        asked.append(args)
        raise OSError

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    return asked


def test_a_schema_from_elsewhere_makes_us_fetch_nothing(fetched: list[Any]) -> None:
    with pytest.raises(ToolFailed, match="no se puede leer"):
        read_arguments(tool("x", parameters=ELSEWHERE), "{}")
    assert fetched == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_control_the_library_alone_would_fetch_it(fetched: list[Any]) -> None:
    with pytest.raises(Unresolvable):
        list(Draft202012Validator(ELSEWHERE).iter_errors({}))
    assert len(fetched) == 1


def test_a_tool_is_offered_in_the_openai_form() -> None:
    assert tool("rules").as_openai() == {
        "type": "function",
        "function": {"name": "rules", "description": "Para probar.", "parameters": SCHEMA},
    }


# --- The lethal trifecta ------------------------------------------------------------------------------------------------

# Exercise 6 of the course: which capabilities each configuration has, and what breaks it. A pull request is a way out, whoever
# may read it; what neighbours wrote (the names of their teams) is untrusted also when it comes from our own database.
READ_ISSUES, READ_REPOSITORY, OPEN_PULL_REQUEST = (
    tool("read_public_issues", UNTRUSTED),
    tool("read_repository", PRIVATE),
    tool("pr", OUTWARD),
)
READ_NEIGHBOURS = tool("read_neighbours", PRIVATE, UNTRUSTED)
READ_MAIL, LOAD_IMAGE = tool("read_mail", PRIVATE, UNTRUSTED), tool("load_image_by_url", OUTWARD)
CONFIGURATIONS = {
    "a: reads public issues, opens pull requests in a private repository": (
        (READ_ISSUES, READ_REPOSITORY, OPEN_PULL_REQUEST),
        {PRIVATE, UNTRUSTED, OUTWARD},
        [READ_ISSUES, READ_REPOSITORY, OPEN_PULL_REQUEST],
    ),
    "b: reads the neighbours' database, no network, only the administrator reads the answer": (
        (READ_NEIGHBOURS,),
        {PRIVATE, UNTRUSTED},
        [],
    ),
    "c: summarises mail and loads images by URL": (
        (READ_MAIL, LOAD_IMAGE),
        {PRIVATE, UNTRUSTED, OUTWARD},
        [READ_MAIL, LOAD_IMAGE],
    ),
}


def together(tools: Iterable[Tool]) -> set[Capability]:
    return {capability for one in tools for capability in one.capabilities}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_configurations_of_the_course_have_these_capabilities(name: str) -> None:
    tools, capabilities, _ = CONFIGURATIONS[name]
    assert together(tools) == capabilities
    if len(capabilities) < 3:
        check_tools(tools)
        return
    with pytest.raises(LethalTrifecta) as caught:
        check_tools(tools)
    assert set(caught.value.by_capability) == set(Capability)
    assert all(one.name in str(caught.value) for one in tools)


@pytest.mark.parametrize("name", [name for name, (_, capabilities, _) in CONFIGURATIONS.items() if len(capabilities) == 3])
def test_taking_one_side_away_breaks_it(name: str) -> None:
    tools, _, breaking = CONFIGURATIONS[name]
    for without in breaking:
        check_tools([one for one in tools if one is not without])


def test_b_becomes_lethal_with_a_way_out() -> None:
    with pytest.raises(LethalTrifecta):
        check_tools([READ_NEIGHBOURS, LOAD_IMAGE])


def test_one_tool_that_has_all_three_is_enough() -> None:
    with pytest.raises(LethalTrifecta):
        check_tools([tool("everything", PRIVATE, UNTRUSTED, OUTWARD)])
    assert frozenset() == NOTHING


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(SameName, match="rules"):
        check_tools([tool("rules"), tool("rules")])
