import datetime as dt

import pytest

from assistant.drafts import AssistantResult, Draft
from assistant.llm import ModelRequest, ModelTimeout, Usage
from assistant.llm.scripted import ScriptedModel
from assistant.pipeline import propose
from bookings.clock import LIMA
from bookings.values import OccupiedHour

NOW = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)
TUESDAY = dt.date(2026, 3, 10)
DRAFT = '{"action":"draft","sport":"fulbito","date":"2026-03-10","startHour":19,"hours":1}'


def ask(text: str, model: ScriptedModel, variant: str = "base") -> AssistantResult:
    occupied = [OccupiedHour(TUESDAY, "fulbito", 18, "Los Halcones")]
    return propose(text, model=model, now=NOW, occupied=occupied, variant=variant)


def test_it_proposes_a_draft_with_usage_and_the_whole_trace() -> None:
    model = ScriptedModel(DRAFT, name="guion", record=True)
    result = ask("quiero fulbito mañana a las 7 de la noche", model)
    assert (result.kind, result.draft) == ("draft", Draft("fulbito", TUESDAY, 19, 1))
    assert result.trace is not None
    assert (result.raw, result.trace.raw, result.trace.finish_reason) == (DRAFT, DRAFT, "stop")
    assert (result.trace.attempts, result.trace.provider_ms, result.trace.model) == (1, 0.0, "guion")
    assert result.trace.messages == model.calls[0].messages
    assert result.usage == Usage(
        input_tokens=sum(len(m["content"]) for m in result.trace.messages) // 4 + 1, output_tokens=21, measured=False
    )
    assert (model.calls[0].temperature, model.calls[0].max_tokens) == (0.0, 200)
    assert "quiero fulbito mañana a las 7 de la noche" in model.calls[0].messages[1]["content"]


@pytest.mark.parametrize(
    ("output", "kind"),
    [('{"action":"clarify","question":"¿Qué día?"}', "clarify"), ('{"action":"refuse"}', "refuse"), ("Claro que sí", "rejected")],
)
def test_each_answer_of_the_model_becomes_one_result(output: str, kind: str) -> None:
    result = ask("fulbito", ScriptedModel(output))
    assert (result.kind, result.raw, result.usage is None, result.trace is None) == (kind, output, False, False)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u00a0", "\u200b\u2060", "\x00"])
def test_a_blank_text_never_reaches_the_model(text: str) -> None:
    model = ScriptedModel(DRAFT, record=True)
    assert ask(text, model) == AssistantResult("rejected", reason="INPUT_BLANK")
    assert model.calls == []


def test_a_text_over_300_characters_never_reaches_the_model() -> None:
    model = ScriptedModel(DRAFT, record=True)
    assert ask("x" * 301, model).reason == "INPUT_TOO_LONG"
    assert model.calls == []
    assert ask("x" * 300, model).kind == "draft"
    assert len(model.calls) == 1


def test_an_answer_cut_by_the_limit_is_never_parsed() -> None:
    result = ask("fulbito", ScriptedModel(DRAFT, finish_reason="length"))
    assert (result.kind, result.reason, result.draft, result.raw) == ("rejected", "TRUNCATED", None, DRAFT)
    assert result.usage is not None
    assert result.trace is not None


def test_an_outage_is_not_an_answer() -> None:
    def fail(request: ModelRequest) -> str:
        raise ModelTimeout(attempts=3)

    with pytest.raises(ModelTimeout):
        ask("fulbito", ScriptedModel(fail))


def test_team_names_reach_the_model_only_in_the_measuring_variant() -> None:
    model = ScriptedModel(DRAFT, record=True)
    for variant in ("base", "con-nombres"):
        ask("fulbito", model, variant)
    assert ["Los Halcones" in call.messages[1]["content"] for call in model.calls] == [False, True]
