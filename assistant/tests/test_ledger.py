"""Each call that is bought leaves one row: what it cost, for what, and not a word of what was said."""

import datetime as dt
import json
from typing import Any

import pytest
from django.core import serializers
from django.db import IntegrityError, transaction

from assistant.ledger import RecordedModel, record_calls
from assistant.limits import BudgetReached, metered_model
from assistant.llm import ForbiddenModel, Model, ModelError, ModelKind, ModelRequest
from assistant.llm.absent import production_model
from assistant.llm.provider import provider_from_settings
from assistant.llm.scripted import ScriptedModel
from assistant.models import Interaction, ModelCall, Purpose
from assistant.prompts import prompt_hash
from assistant.services import ask_assistant
from assistant.tests.loopback_provider import Answer, Call, LoopbackProvider, Reply, json_reply
from assistant.tests.provider_faults import status
from bookings.models import Member

TEXT = "fulbito mañana a las 7 de la noche, canario-5b21"
REFUSAL = '{"action":"refuse"}'
REQUEST = ModelRequest(({"role": "user", "content": TEXT},), temperature=0.0, max_tokens=100)


def point_at(settings: Any, provider: LoopbackProvider, model: str = "claude-haiku-4-5") -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_API_KEY = provider.base_url, model, "clave-canario"
    settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = [provider.host], True


def ask(settings: Any, member: Member, now: dt.datetime, answer: Answer, **model: str) -> Interaction:
    with LoopbackProvider(answer=answer) as provider:
        point_at(settings, provider, **model)
        return ask_assistant(member=member, text=TEXT, model=production_model(), now=now)


def facts(call: ModelCall) -> tuple[Any, ...]:
    return call.purpose, call.outcome, call.attempts, call.tokens_measured, call.price_known


def first_fails(failure: Answer) -> Answer:
    """The first call gets this failure, the second a refusal."""
    return lambda call: failure(call) if call.number == 1 else REFUSAL


def test_a_use_of_the_assistant_lands_with_what_it_cost(settings: Any, member: Member, now: dt.datetime) -> None:
    used = ask(settings, member, now, lambda call: REFUSAL)
    call = ModelCall.objects.get()
    assert facts(call) == ("assistant", "ok", 1, True, True)
    assert (call.created_at, call.model, call.reference) == (now, "claude-haiku-4-5", f"interaction:{used.pk}")
    assert call.server.startswith("127.0.0.1:")
    assert call.prompt_hash == prompt_hash("base")
    assert (call.input_tokens, call.output_tokens) == (used.input_tokens, used.output_tokens)
    assert call.cost_micro_usd == used.cost_micro_usd == used.input_tokens + 5 * used.output_tokens


def test_an_outage_lands_with_its_cause(settings: Any, member: Member, now: dt.datetime) -> None:
    used = ask(settings, member, now, status(401))
    assert facts(ModelCall.objects.get()) == ("assistant", "auth", 1, False, True)
    assert (ModelCall.objects.get().cost_micro_usd, used.cost_micro_usd, used.cause) == (0, 0, "auth")


def test_an_answer_that_got_lost_lands_as_the_most_it_may_have_cost(settings: Any, member: Member, now: dt.datetime) -> None:
    used = ask(settings, member, now, lambda call: Reply(200, b"<html>", (("Content-Type", "text/html"),)))
    call = ModelCall.objects.get()
    assert facts(call) == ("assistant", "bad-response", 1, False, True)
    assert call.output_tokens == settings.LLM_MAX_TOKENS
    assert call.cost_micro_usd == used.cost_micro_usd == call.input_tokens + 5 * settings.LLM_MAX_TOKENS


def test_a_failed_attempt_before_the_answer_is_counted_and_may_cost(settings: Any, member: Member, now: dt.datetime) -> None:
    ask(settings, member, now, first_fails(status(408)))
    ask(settings, member, now, first_fails(status(429, Retry_After="0")))
    limited, timed_out = ModelCall.objects.order_by("-pk")
    assert (limited.attempts, timed_out.attempts) == (2, 2)
    assert limited.cost_micro_usd == limited.input_tokens + 5 * limited.output_tokens
    assert timed_out.cost_micro_usd > limited.cost_micro_usd + 5 * settings.LLM_MAX_TOKENS


def test_a_model_of_unknown_price_is_marked(settings: Any, member: Member, now: dt.datetime) -> None:
    ask(settings, member, now, lambda call: REFUSAL, model="modelo-nuevo-2026-03")
    call = ModelCall.objects.get()
    assert call.cost_micro_usd == 15 * call.input_tokens + 75 * call.output_tokens
    assert not call.price_known


def test_no_word_of_prompt_answer_or_key_is_kept(settings: Any, member: Member, now: dt.datetime) -> None:
    ask(settings, member, now, lambda call: "respuesta-canaria")
    ask(settings, member, now, lambda call: json_reply({"error": {"message": "canario en el error"}}, 400))
    kept = serializers.serialize("json", ModelCall.objects.all())
    assert len(json.loads(kept)) == 2
    for word in ("canari", "fulbito", "Rosa", "987"):
        assert word not in kept


def test_a_use_and_what_it_bought_are_stored_together_or_not_at_all(
    settings: Any, member: Member, now: dt.datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise IntegrityError

    monkeypatch.setattr("assistant.services.record_calls", fail)
    with pytest.raises(IntegrityError):
        ask(settings, member, now, lambda call: REFUSAL)
    assert not Interaction.objects.exists()


# --- What was not bought -------------------------------------------------------------------------------------------------


class UnaskedModel:
    """Raises before it calls anybody."""

    name = "alguno:free"
    kind: ModelKind = "real"

    def complete(self, request: ModelRequest) -> Any:
        raise ForbiddenModel


@pytest.mark.parametrize("model", [ScriptedModel(REFUSAL), UnaskedModel()], ids=["scripted", "forbidden"])
def test_what_called_no_provider_leaves_no_row(member: Member, now: dt.datetime, model: Model) -> None:
    ask_assistant(member=member, text=TEXT, model=model, now=now)
    assert Interaction.objects.count() == 1
    assert not ModelCall.objects.exists()


def test_a_site_without_a_model_buys_nothing(settings: Any, member: Member, now: dt.datetime) -> None:
    settings.LLM_BASE_URL = ""
    assert ask_assistant(member=member, text=TEXT, model=production_model(), now=now).cause == "not-configured"
    assert not ModelCall.objects.exists()


def test_a_call_over_the_budget_leaves_no_row(settings: Any, member: Member, now: dt.datetime) -> None:
    settings.ASSISTANT_DAILY_BUDGET_USD = 0
    with LoopbackProvider() as provider:
        point_at(settings, provider)
        assert ask_assistant(member=member, text=TEXT, model=production_model(), now=now).cause == "budget"
        assert provider.calls == []
    assert not ModelCall.objects.exists()


# --- The entry for others ------------------------------------------------------------------------------------------------


def three_steps(settings: Any, provider: LoopbackProvider, now: dt.datetime) -> list[ModelCall]:
    """Calls of one agent: an answer, a refused key, an answer."""
    point_at(settings, provider)
    metered = metered_model(provider_from_settings(), purpose=Purpose.AGENT, who=7, now=now, prompt_hash="a" * 64)
    metered.complete(REQUEST)
    with pytest.raises(ModelError):
        metered.complete(REQUEST)
    metered.complete(REQUEST)
    assert metered.cost.micro_usd == sum(call.cost_micro_usd for call in metered.calls) > 0
    return metered.calls


def refuse_the_second(call: Call) -> Reply | str:
    return Reply(401) if call.number == 2 else REFUSAL


@pytest.mark.django_db
def test_each_call_of_an_agent_is_a_row_under_its_reference(settings: Any, now: dt.datetime) -> None:
    with LoopbackProvider(answer=refuse_the_second) as provider:
        calls = three_steps(settings, provider, now)
    record_calls(calls, reference="agent:3")
    assert calls == []  # a second record stores nothing twice
    rows = ModelCall.objects.order_by("pk").values_list("purpose", "outcome", "reference", "prompt_hash")
    assert list(rows) == [("agent", outcome, "agent:3", "a" * 64) for outcome in ("ok", "auth", "ok")]


@pytest.mark.django_db
def test_the_agent_has_a_budget_of_its_own(settings: Any, now: dt.datetime) -> None:
    settings.ASSISTANT_DAILY_BUDGET_USD, settings.AGENT_DAILY_BUDGET_USD = 1, 0
    with LoopbackProvider() as provider:
        point_at(settings, provider)
        with pytest.raises(BudgetReached):
            metered_model(provider_from_settings(), purpose=Purpose.AGENT, who=7, now=now).complete(REQUEST)
        assert provider.calls == []
        metered_model(provider_from_settings(), purpose=Purpose.CANARY, who=0, now=now).complete(REQUEST)
        settings.ASSISTANT_DAILY_BUDGET_USD = 0  # which the canary shares
        with pytest.raises(BudgetReached):
            metered_model(provider_from_settings(), purpose=Purpose.CANARY, who=0, now=now).complete(REQUEST)


def test_a_bug_in_the_middle_of_a_call_counts_as_a_lost_answer(now: dt.datetime) -> None:
    class BuggyModel(UnaskedModel):
        name = "claude-haiku-4-5"

        def complete(self, request: ModelRequest) -> Any:
            raise ZeroDivisionError

    recorded = RecordedModel(BuggyModel(), purpose=Purpose.TARGET, now=now)
    with pytest.raises(ZeroDivisionError):
        recorded.complete(REQUEST)
    assert [(call.outcome, call.cost_micro_usd) for call in recorded.calls] == [("crash", 12 + 5 * 100)]


@pytest.mark.parametrize("wrong", [{"purpose": "otro"}, {"attempts": 0}, {"outcome": ""}, {"model": ""}, {"tokens_measured": True}])
def test_the_database_refuses_a_row_that_cannot_be(db: None, now: dt.datetime, wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {"created_at": now, "purpose": "agent", "model": "m", "outcome": "timeout", "attempts": 1}
    counts = {"input_tokens": 0, "output_tokens": 0, "tokens_measured": False, "cost_micro_usd": 0, "price_known": True, "latency_ms": 1}
    ModelCall.objects.create(**right, **counts)
    with pytest.raises(IntegrityError), transaction.atomic():
        ModelCall.objects.create(**(right | counts | wrong))
