"""The scripted model: known text in, known text out, nothing kept unless asked."""

import pytest

from assistant.llm import ModelRequest, ModelResponse, ModelTimeout, Usage, estimate_tokens
from assistant.llm.scripted import ScriptedModel

REQUEST = ModelRequest(({"role": "system", "content": "12345678"}, {"role": "user", "content": "fulbito"}), temperature=0.0, max_tokens=50)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("ñandú", 2), ("x" * 400, 100)])
def test_it_estimates_four_characters_a_token_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_it_answers_the_text_with_estimated_usage() -> None:
    response = ScriptedModel('{"action":"refuse"}').complete(REQUEST)
    assert response == ModelResponse(
        '{"action":"refuse"}', Usage(4, 5, measured=False), "stop", provider_ms=0.0, attempts=1, model="scripted"
    )


def test_it_can_answer_by_request_and_end_for_another_reason() -> None:
    model = ScriptedModel(lambda request: request.messages[-1]["content"].upper(), name="scripted:eco", finish_reason="length")
    response = model.complete(REQUEST)
    assert (response.text, response.finish_reason, response.model, model.kind) == ("FULBITO", "length", "scripted:eco", "scripted")


def test_a_script_can_fail_as_a_provider_would() -> None:
    def fail(request: ModelRequest) -> str:
        raise ModelTimeout(attempts=2)

    with pytest.raises(ModelTimeout) as caught:
        ScriptedModel(fail).complete(REQUEST)
    assert (caught.value.cause, caught.value.attempts) == ("timeout", 2)


def test_it_keeps_requests_only_when_asked() -> None:
    silent, recording = ScriptedModel("x"), ScriptedModel("x", record=True)
    for model in (silent, recording):
        model.complete(REQUEST)
    assert (silent.calls, recording.calls) == ([], [REQUEST])


def test_a_request_does_not_show_what_people_wrote_in_its_repr() -> None:
    assert "fulbito" not in repr(REQUEST)
