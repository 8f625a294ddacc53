"""`manage.py model_check` against servers that take tools, ignore them, refuse them, are too small, or are not there."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from assistant.llm import estimate_request
from assistant.model_check import DEAREST_CHARACTER, largest_request, typical_request
from assistant.models import ModelCall
from assistant.tests.loopback_provider import Answer, Call, LoopbackProvider, Reply, completion, json_reply
from bookings.clock import now_in_lima

pytestmark = pytest.mark.django_db

USAGE = {"prompt_tokens": 500, "completion_tokens": 20, "total_tokens": 520}
LARGE_USAGE = {"prompt_tokens": 3_000, "completion_tokens": 20, "total_tokens": 3_020}


def asks_for_tool(name: str = "get_availability", arguments: str = '{"date": "2026-03-10"}') -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(call: Call, *, tool: dict[str, Any] | None = None, usage: dict[str, Any] | None = None) -> Reply:
    """A server that takes tools; a large prompt counts as many tokens as its length makes expect."""
    if call.payload.get("tools"):
        made = completion(None, call, usage=USAGE)
        made["choices"][0]["message"]["tool_calls"] = [tool or asks_for_tool()]
        return json_reply(made)
    is_large = DEAREST_CHARACTER in call.text
    return json_reply(completion('{"action":"refuse"}', call, usage=(usage or LARGE_USAGE) if is_large else USAGE))


def check(settings: Any, server: LoopbackProvider, *words: str) -> tuple[int, str]:
    """Exit code and what was said."""
    settings.LLM_BASE_URL, settings.LLM_MODEL = server.base_url, "gpt-4o-mini"
    settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = [server.host], True
    settings.LLM_MAX_TOKENS, settings.AGENT_CONTEXT_TOKENS = 200, 8_000
    out = StringIO()
    try:
        call_command("model_check", *words, stdout=out)
    except SystemExit as leaving:
        return int(leaving.code or 0), out.getvalue()
    except CommandError as error:
        return error.returncode, f"{out.getvalue()}{error}"
    return 0, out.getvalue()


def checked(settings: Any, answers: Answer, *words: str, listing: object = None) -> tuple[int, str, list[Call]]:
    with LoopbackProvider(answers, listing=json_reply(listing) if listing is not None else None) as server:
        code, said = check(settings, server, *words)
        return code, said, server.calls


def test_a_model_that_does_answers_the_three_questions_in_order(settings: Any) -> None:
    code, said, calls = checked(settings, answer, listing={"data": [{"id": "gpt-4o-mini", "context_length": 128_000}]})
    lines = said.splitlines()
    assert code == 0
    assert [line.partition(" ")[0] for line in lines[1:]] == ["0.", "1.", "2.", "3."]
    assert lines[2] == "1. ¿Pide herramientas? Sí: pidió get_availability con argumentos válidos."
    assert "Sí: hacen falta 3,200 tokens (3,000 de pedido y 200 de respuesta) y su contexto es de 128,000." in lines[3]
    # 500 x 0.15 + 20 x 0.60 = 87 micro-USD; 3,000 x 0.15 + 20 x 0.60 = 462
    assert "1,000 pedidos típicos cuestan USD 0.09 (500 tokens de entrada y 20 de salida cada uno, medidos)" in lines[4]
    assert "de los más grandes USD 0.46." in lines[4]
    assert ["tools" in call.payload for call in calls] == [True, False, False]


def test_every_call_lands_in_the_ledger_as_a_check(settings: Any) -> None:
    checked(settings, answer)
    rows = list(ModelCall.objects.order_by("pk").values_list("purpose", "model", "input_tokens", "reference", "outcome"))
    assert rows == [("check", "gpt-4o-mini", tokens, "model_check", "ok") for tokens in (500, 500, 3_000)]


# --- 0. Forbidden -------------------------------------------------------------------------------------------------------


def test_a_forbidden_model_is_not_called(settings: Any) -> None:
    code, said, calls = checked(settings, answer, "bonito:free")
    assert (code, calls) == (1, [])
    assert "0. ¿Está permitido? No." in said


# --- 1. Tools -----------------------------------------------------------------------------------------------------------


def refuses_tools(call: Call) -> Reply:
    return json_reply({"error": {"message": "no tools"}}, 400) if call.payload.get("tools") else answer(call)


def breaks_on_tools(call: Call) -> Reply:
    return json_reply({"error": {"message": "boom"}}, 500) if call.payload.get("tools") else answer(call)


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (lambda call: '{"date": "2026-03-10"}', "contestó con texto en vez de pedir la herramienta"),
        (refuses_tools, "el servidor rechaza un pedido con herramientas"),
        (breaks_on_tools, "el servidor falla en cuanto se le ofrecen herramientas, y sin ellas responde"),
        (lambda call: answer(call, tool=asks_for_tool("get_rules", "{}")), "pidió otra herramienta"),
        (lambda call: answer(call, tool=asks_for_tool("rm_rf", "{}")), "pidió otra herramienta que la que hacía falta ('rm_rf')"),
        (lambda call: answer(call, tool=asks_for_tool(arguments='{"fecha": "mañana"}')), "con argumentos que no sirven"),
        (lambda call: answer(call, tool=asks_for_tool(arguments="mañana")), "con argumentos que no sirven"),
    ],
    ids=["ignores", "refuses", "breaks", "another", "unknown", "wrong-arguments", "no-json"],
)
def test_without_tools_nothing_else_is_asked(settings: Any, monkeypatch: pytest.MonkeyPatch, answers: Answer, why: str) -> None:
    monkeypatch.setattr("assistant.llm.provider.FIRST_BACKOFF_S", 0.0)
    code, said, calls = checked(settings, answers)
    assert code == 1
    assert why in said
    assert "2." not in said
    assert not any(DEAREST_CHARACTER in call.text for call in calls)


# --- 2. The tray --------------------------------------------------------------------------------------------------------


def test_the_largest_prompt_is_larger_than_what_production_sends() -> None:
    now = now_in_lima()
    content = largest_request(now, 200).messages[1]["content"]
    assert content.count("fulbito: 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21") == 15
    assert content.count(DEAREST_CHARACTER) == 300
    assert estimate_request(largest_request(now, 200)) > 2 * estimate_request(typical_request(now, 200))


@pytest.mark.parametrize("listing", [{"data": [{"id": "gpt-4o-mini", "max_model_len": 1_024}]}, None])
def test_a_context_that_is_too_small_on_paper_is_refused_without_a_large_call(settings: Any, listing: object) -> None:
    words = () if listing else ("--context", "1024")
    code, said, calls = checked(settings, answer, *words, listing=listing)
    assert code == 1
    assert "y su contexto es de 1,024." in said
    assert len(calls) == 1
    assert "3." not in said


def test_a_context_that_the_measured_tokens_pass_is_refused(settings: Any) -> None:
    code, said, _ = checked(settings, answer, "--context", "3100")
    assert code == 1
    assert "No: hacen falta 3,200 tokens (3,000 de pedido y 200 de respuesta) y su contexto es de 3,100." in said


def test_a_server_that_refuses_a_call_of_that_size_is_a_no(settings: Any) -> None:
    def small(call: Call) -> Reply:
        return json_reply({"error": {"code": 400}}, 400) if DEAREST_CHARACTER in call.text else answer(call)

    code, said, _ = checked(settings, small)
    assert code == 1
    assert "el servidor rechaza un pedido de ese tamaño" in said


def test_a_server_that_cuts_the_prompt_in_silence_is_found_out(settings: Any) -> None:
    code, said, _ = checked(settings, lambda call: answer(call, usage={"prompt_tokens": 900, "completion_tokens": 20}))
    assert code == 1
    assert "recorta el pedido sin avisar" in said


def test_a_context_that_nobody_knows_is_said(settings: Any) -> None:
    code, said, _ = checked(settings, answer)
    assert code == 0
    assert "El servidor no dice su contexto: pásalo con --context" in said


def test_a_context_below_what_the_agent_may_use_says_what_to_set(settings: Any) -> None:
    code, said, _ = checked(settings, answer, "--context", "4096")
    assert code == 0
    assert "baja AGENT_CONTEXT_TOKENS de 8,000 a 3,896 o menos" in said


@pytest.mark.parametrize(
    "listing",
    [
        {"data": [{"id": "gpt-4o-mini", "meta": {"n_ctx": 3_100, "n_ctx_train": 8_192}}]},
        {"data": [{"id": "otro-nombre", "max_context_length": 3_100}]},
        {"data": [{"id": "otro", "context_length": 99}, {"id": "gpt-4o-mini", "context_length": 3_100}]},
    ],
)
def test_it_reads_the_listings_that_servers_give(settings: Any, listing: object) -> None:
    code, said, _ = checked(settings, answer, listing=listing)
    assert code == 1
    assert "su contexto es de 3,100." in said


@pytest.mark.parametrize(
    "listing", [[], {"data": None}, {"data": ["x"]}, {"data": [{"context_length": True}]}, {"data": [{"context_length": -1}]}, "x"]
)
def test_a_listing_that_says_nothing_of_use_is_no_failure(settings: Any, listing: object) -> None:
    code, said, _ = checked(settings, answer, listing=listing)
    assert code == 0
    assert "no dice su contexto" in said


# --- 3. The price -------------------------------------------------------------------------------------------------------


def test_an_unknown_price_is_the_dearest_and_marked(settings: Any) -> None:
    code, said, _ = checked(settings, answer, "modelo-nuevo")
    assert code == 0
    assert "1,000 pedidos típicos cuestan USD 9.00" in said  # 500 x 15 + 20 x 75 = 9,000 micro-USD
    assert "No conocemos su precio: se contó como el modelo más caro que conocemos." in said


@pytest.mark.parametrize(("most", "code"), [("0.08", 1), ("0.09", 0)])
def test_a_limit_makes_the_price_a_question_too(settings: Any, most: str, code: int) -> None:
    assert checked(settings, answer, "--max-usd", most)[0] == code


# --- No answer ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 500])
def test_a_server_that_fails_is_no_answer(settings: Any, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setattr("assistant.llm.provider.FIRST_BACKOFF_S", 0.0)
    code, said, _ = checked(settings, lambda call: json_reply({"error": {"message": "boom"}}, status))
    assert code == 3
    assert "No se pudo preguntar." in said
    assert ModelCall.objects.exists()


def test_without_settings_it_says_what_to_set(settings: Any) -> None:
    settings.LLM_BASE_URL = ""
    with pytest.raises(CommandError, match="LLM_BASE_URL") as refused:
        call_command("model_check", "prueba", stdout=StringIO())
    assert refused.value.returncode == 2


@pytest.mark.parametrize("words", [("--context", "0"), ("--context", "mucho"), ("--max-usd", "-1"), ("--max-usd", "NaN")])
def test_a_number_that_is_none_is_a_mistake_of_use(words: tuple[str, str]) -> None:
    with pytest.raises(CommandError):
        call_command("model_check", "prueba", *words, stdout=StringIO())


def test_the_key_is_in_nothing_that_it_says(settings: Any) -> None:
    settings.LLM_API_KEY = "canary-key-77"
    seen: list[str] = []

    def echo(call: Call) -> Reply:
        seen.append(json.dumps(call.headers))
        return json_reply({"error": "canary-key-77"}, 401)

    _, said, _ = checked(settings, echo)
    assert "canary-key-77" in seen[0]
    assert "canary-key-77" not in said
