"""Tools and forms in the protocol: what is sent, what is read, and what is no tool call."""

import json
from typing import Any

import pytest

from assistant.llm import ModelBadResponse, ModelRequest, ModelResponse, ModelTimeout, Usage, estimate_usage
from assistant.llm.provider import ProviderConfig, ProviderModel
from assistant.llm.scripted import ReplayModel, ScriptEnded, Turn
from assistant.tests.loopback_provider import Call, LoopbackProvider, Reply, json_reply
from kallpa.outbound import OutboundClient, OutboundPolicy

TOOL = {"type": "function", "function": {"name": "rules", "description": "Reglas.", "parameters": {"type": "object"}}}
FORM = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
MESSAGES = ({"role": "user", "content": "hola"},)
PLAIN = ModelRequest(MESSAGES, temperature=0.0, max_tokens=50)
WITH_TOOLS = ModelRequest(MESSAGES, temperature=0.0, max_tokens=50, tools=(TOOL,))
GOOD = {"id": "call_1", "type": "function", "function": {"name": "rules", "arguments": "{}"}}


def tool_call(**changes: Any) -> dict[str, Any]:
    """A right call with some of its parts changed; None takes a part away."""
    call = {**GOOD, "function": {**GOOD["function"]}}  # type: ignore[dict-item]
    for name, value in changes.items():
        part = call["function"] if name in ("name", "arguments") else call
        part[name] = value  # type: ignore[index]
        if value is None:
            del part[name]  # type: ignore[attr-defined]
    return call


def answer_with(message: Any, request: ModelRequest = WITH_TOOLS) -> tuple[ModelResponse, dict[str, Any]]:
    """What we make of a server's message, and the payload that it received."""

    def answer(call: Call) -> Reply:
        return json_reply({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})

    with LoopbackProvider(answer) as provider:
        policy = OutboundPolicy(frozenset({provider.host}), allow_loopback=True, allow_http=True)
        client = OutboundClient(policy)
        try:
            response = ProviderModel("gpt-4o-mini", ProviderConfig(provider.base_url, timeout_s=5), client).complete(request)
        finally:
            client.close()
        return response, provider.calls[0].payload


def test_tools_and_form_travel_untranslated_and_only_when_there_are_any() -> None:
    asked = ModelRequest(MESSAGES, temperature=0.0, max_tokens=50, tools=(TOOL,), response_format=FORM)
    _, payload = answer_with({"role": "assistant", "content": "hola"}, asked)
    assert (payload["tools"], payload["response_format"]) == ([TOOL], FORM)
    _, payload = answer_with({"role": "assistant", "content": "hola"}, PLAIN)
    assert set(payload) == {"model", "messages", "temperature", "max_tokens", "stream"}


@pytest.mark.parametrize("content", [{"content": None}, {}, {"content": ""}, {"content": "Voy a mirar."}])
def test_tool_calls_are_read_with_or_without_a_text(content: dict[str, Any]) -> None:
    response, _ = answer_with({"role": "assistant", **content, "tool_calls": [GOOD, tool_call(id="call_2", arguments='{"día":1}')]})
    assert response.text == (content.get("content") or "")
    assert [call["function"]["arguments"] for call in response.tool_calls] == ["{}", '{"día":1}']
    assert response.finish_reason == "tool_calls"


def test_the_message_goes_back_as_it_came_with_what_else_the_provider_put_in_its_calls() -> None:
    marked = {**GOOD, "extra_content": {"signature": "abc"}}
    response, _ = answer_with({"role": "assistant", "content": None, "tool_calls": [marked]})
    assert response.message == {"role": "assistant", "content": None, "tool_calls": [marked]}
    follow_up = ModelRequest((*MESSAGES, response.message, {"role": "tool", "tool_call_id": "call_1", "content": "7 a 22 h"}), 0.0, 50)
    _, payload = answer_with({"role": "assistant", "content": "De 7 a 22."}, follow_up)
    assert payload["messages"][1:] == [response.message, {"role": "tool", "tool_call_id": "call_1", "content": "7 a 22 h"}]


def test_an_answer_without_calls_is_a_plain_message() -> None:
    absent: tuple[dict[str, Any], ...] = ({}, {"tool_calls": None}, {"tool_calls": []})
    for nothing in absent:
        response, _ = answer_with({"role": "assistant", "content": "hola", **nothing})
        assert response.message == {"role": "assistant", "content": "hola"}
        assert response.tool_calls == ()


BROKEN: dict[str, Any] = {
    "no id": tool_call(id=None),
    "id is a number": tool_call(id=7),
    "endless id": tool_call(id="x" * 201),
    "no type": tool_call(type=None),
    "another type": tool_call(type="code_interpreter"),
    "no function": tool_call(function=None),
    "function is a name": tool_call(function="rules"),
    "no name": tool_call(name=None),
    "name is a list": tool_call(name=["rules"]),
    "endless name": tool_call(name="x" * 201),
    "no arguments": tool_call(arguments=None),
    "arguments are an object": tool_call(arguments={"date": "2026-03-10"}),
    "NUL in the arguments": tool_call(arguments="a\0b"),
    "half a surrogate pair in the name": tool_call(name="\ud83d"),
    "NUL in what else it carries": {**GOOD, "extra": {"\0": 1}},
    "NaN in what else it carries": {**GOOD, "extra": float("nan")},
    "too large": tool_call(arguments="x" * 32_000),
    "a text": "rules()",
    "null": None,
}


@pytest.mark.parametrize("broken", BROKEN)
def test_anything_else_is_a_bad_response(broken: str) -> None:
    with pytest.raises(ModelBadResponse):
        answer_with({"role": "assistant", "content": None, "tool_calls": [BROKEN[broken]]})


@pytest.mark.parametrize("calls", [GOOD, "rules()", 7, [GOOD] * 17, [GOOD, None]])
def test_so_is_a_list_that_is_none_or_too_long(calls: Any) -> None:
    with pytest.raises(ModelBadResponse):
        answer_with({"role": "assistant", "content": "hola", "tool_calls": calls})


@pytest.mark.parametrize("message", [{"content": None}, {"content": None, "tool_calls": []}, {"content": [], "tool_calls": [GOOD]}])
def test_so_is_an_answer_of_neither_text_nor_calls(message: dict[str, Any]) -> None:
    with pytest.raises(ModelBadResponse):
        answer_with({"role": "assistant", **message})


def test_calls_that_nobody_offered_do_not_count() -> None:
    response, _ = answer_with({"role": "assistant", "content": "hola", "tool_calls": [GOOD]}, PLAIN)
    assert (response.text, response.tool_calls) == ("hola", ())
    with pytest.raises(ModelBadResponse):
        answer_with({"role": "assistant", "content": None, "tool_calls": [GOOD]}, PLAIN)


def test_an_estimate_counts_tools_forms_and_calls() -> None:
    assert estimate_usage(PLAIN, "12345678") == Usage(1, 2, measured=False)
    tools_and_form = len(json.dumps((TOOL,))) + len(json.dumps(FORM))
    asked = ModelRequest(MESSAGES, 0.0, 50, tools=(TOOL,), response_format=FORM)
    assert estimate_usage(asked, "").input_tokens == -(-(4 + tools_and_form) // 4)
    calls = len(json.dumps([GOOD]))
    history = ModelRequest((*MESSAGES, {"role": "assistant", "content": None, "tool_calls": [GOOD]}), 0.0, 50)
    assert estimate_usage(history, "").input_tokens == -(-(4 + calls) // 4)
    assert estimate_usage(PLAIN, "", (GOOD,)).output_tokens == -(-calls // 4)


def test_neither_request_nor_response_shows_what_is_in_it() -> None:
    response, _ = answer_with({"role": "assistant", "content": None, "tool_calls": [tool_call(arguments="canario")]})
    assert "canario" not in repr(response)
    assert "Reglas" not in repr(WITH_TOOLS)


# --- A script with tool calls -------------------------------------------------------------------------------------------


def test_a_script_plays_its_turns_and_keeps_the_requests() -> None:
    model = ReplayModel([Turn(calls=(("rules", {"día": 1}), ("rules", "{no es JSON"))), Turn("listo")])
    first, second = model.complete(WITH_TOOLS), model.complete(PLAIN)
    assert [call["function"] for call in first.tool_calls] == [
        {"name": "rules", "arguments": '{"día": 1}'},
        {"name": "rules", "arguments": "{no es JSON"},
    ]
    assert len({call["id"] for call in first.tool_calls}) == 2
    assert (first.text, first.finish_reason, second.text, second.finish_reason) == ("", "tool_calls", "listo", "stop")
    assert model.calls == [WITH_TOOLS, PLAIN]


def test_a_script_can_fail_and_says_when_it_is_over() -> None:
    model = ReplayModel([ModelTimeout()])
    with pytest.raises(ModelTimeout):
        model.complete(PLAIN)
    with pytest.raises(ScriptEnded, match="call 2"):
        model.complete(PLAIN)
