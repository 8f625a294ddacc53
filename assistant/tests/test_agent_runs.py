"""A task of the staff: what is sent, what is kept of it, what it may spend, and a person's yes or no to one call."""

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from assistant import agent_runs
from assistant.agent_runs import NotWaiting, ask_agent, decide_agent_call, prune_agent_runs
from assistant.limits import LimitReached
from assistant.llm import Model, ModelKind, ModelRateLimited, ModelRequest, ModelResponse, Usage
from assistant.llm.absent import production_model
from assistant.llm.scripted import ReplayModel, Turn
from assistant.models import AgentRun, ModelCall
from assistant.staff_tools import staff_tools
from assistant.tasks import prune_agent_runs as prune_task
from assistant.tests.loopback_provider import Call, LoopbackProvider, Reply, json_reply
from assistant.tests.neighbours import point_at
from assistant.tests.provider_faults import FAULTS
from assistant.tools import NOTHING, Capability, LethalTrifecta, Tool
from bookings.models import Court, Member
from kallpa import counters
from kallpa.celery import app

pytestmark = pytest.mark.django_db
LOOK = Turn(calls=(("list_bookings", {"date": "2026-03-10"}),))
DONE = Turn("El martes no hay reservas.")
PRIVATE = "¿Rosa Quispe (987 654 321) juega el martes?"


class Priced(ReplayModel):
    """A script from a provider with a price, which counts 1,000 tokens in and 100 out: 210 micro-USD a call."""

    kind: ModelKind = "real"

    def complete(self, request: ModelRequest) -> ModelResponse:
        response = super().complete(request)
        return ModelResponse(response.text, Usage(1_000, 100, measured=True), "stop", 1.0, 1, self.name, response.tool_calls)


@pytest.fixture
def staff(db: None) -> User:
    return User.objects.create_user("desk")


def priced(*turns: Any) -> Priced:
    return Priced(turns, name="gpt-4o-mini")


@pytest.fixture
def ask(staff: User, now: dt.datetime) -> Callable[..., AgentRun]:
    def ask_one(model: Model, task: str = "¿Qué hay el martes?", **options: Any) -> AgentRun:
        given = {"user": staff, "key": uuid.uuid4(), "tools": staff_tools(now), "now": now, **options}
        return ask_agent(task=task, model=model, **given)

    return ask_one


# --- What is sent and kept -----------------------------------------------------------------------------------------------


def test_a_run_is_kept_with_its_steps_tokens_and_money(ask: Callable[..., AgentRun], staff: User, now: dt.datetime) -> None:
    ask(priced(LOOK, DONE))
    run = AgentRun.objects.get()
    assert (run.user, run.created_at, run.stop, run.answer, run.cause) == (staff, now, "model", "El martes no hay reservas.", "")
    assert (run.input_tokens, run.output_tokens, run.tokens_measured, run.model_calls) == (2_000, 200, True, 2)
    assert (run.cost_micro_usd, run.price_known, run.model, len(run.prompt_hash)) == (420, True, "gpt-4o-mini", 64)
    assert (run.running_since, run.conversation) == (None, None)
    step = run.steps[0]
    assert (step["label"], step["arguments"]) == ("list_bookings(2026-03-10)", '{"date": "2026-03-10"}')
    assert step["result"].startswith("Reservas del 2026-03-10: 0 confirmadas")
    assert (step["ok"], step["wasCut"], step["costMicroUsd"]) == (True, False, 210)
    assert step["contextTokens"] > 500


def test_the_instructions_say_the_day_in_lima(ask: Callable[..., AgentRun]) -> None:
    model = ReplayModel([DONE])
    ask(model)
    assert "Hoy es lunes 2026-03-09 y son las 10:00" in model.calls[0].messages[0]["content"]


def test_names_and_phones_of_the_task_reach_neither_model_nor_database(ask: Callable[..., AgentRun], member: Member) -> None:
    model = ReplayModel([Turn(calls=(("get_rules", {"quién": "Rosa Quispe"}),)), Turn("Rosa Quispe: 987 654 321.")])
    run = ask(model, PRIVATE)
    assert "Rosa" not in str(model.calls)
    assert "987" not in str(model.calls)
    run.refresh_from_db()
    assert run.masked_task == "¿[NOMBRE] ([CELULAR]) juega el martes?"
    assert run.answer == "[NOMBRE]: [CELULAR]."
    assert "Rosa" not in str(run.steps)


def test_control_without_the_mask_they_would(ask: Callable[..., AgentRun], member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    class Bare:
        def __init__(self, text: str, **options: Any) -> None:
            self.text = text

    monkeypatch.setattr(agent_runs, "mask", Bare)
    model = ReplayModel([DONE])
    assert "987 654 321" in ask(model, PRIVATE).masked_task
    assert "Rosa Quispe" in str(model.calls[0].messages)


def test_what_our_own_tools_say_comes_through_the_mask_unchanged(court: Court, member: Member, now: dt.datetime) -> None:
    for tool in staff_tools(now):
        dates = [name for name in tool.parameters["properties"] if name.startswith("date")]
        told = tool.run(dict.fromkeys(dates, "2026-03-10"))
        assert agent_runs.mask(told, known_names=["Rosa Quispe"]).text == told


# --- Once, often enough, and paid ----------------------------------------------------------------------------------------


def test_the_same_form_sent_twice_is_asked_once(ask: Callable[..., AgentRun]) -> None:
    key, model = uuid.uuid4(), ReplayModel([DONE])
    assert ask(model, key=key) == ask(model, key=key)
    assert len(model.calls) == 1


def test_two_forms_at_once_are_one_run(ask: Callable[..., AgentRun], monkeypatch: pytest.MonkeyPatch) -> None:
    key, model = uuid.uuid4(), ReplayModel([DONE])
    first = ask(model, key=key)
    monkeypatch.setattr("django.db.models.query.QuerySet.first", lambda self: None)  # it looked before the other was there
    assert ask(model, key=key) == first
    assert len(model.calls) == 1


def test_who_asks_too_often_is_told_and_nothing_is_kept(ask: Callable[..., AgentRun], settings: Any) -> None:
    settings.AGENT_PER_MINUTE = 2
    for _ in range(2):
        ask(ReplayModel([DONE]))
    with pytest.raises(LimitReached):
        ask(ReplayModel([]))
    assert AgentRun.objects.count() == 2


def test_the_days_budget_stops_a_run_between_two_calls(ask: Callable[..., AgentRun], settings: Any) -> None:
    settings.AGENT_DAILY_BUDGET_USD = Decimal("0.0006")  # the first call costs 210 of these 600 micro-USD, and the next may cost 490
    model = priced(LOOK, DONE)
    run = ask(model)
    assert (run.stop, run.cause, len(run.steps), len(model.calls), run.cost_micro_usd) == ("budget", "budget", 1, 1, 210)


def test_control_with_a_larger_budget_it_ends(ask: Callable[..., AgentRun], settings: Any) -> None:
    settings.AGENT_DAILY_BUDGET_USD = Decimal("0.0100")
    assert ask(priced(LOOK, DONE)).stop == "model"


def test_each_call_lands_in_the_ledger(ask: Callable[..., AgentRun], now: dt.datetime) -> None:
    run = ask(priced(LOOK, DONE))
    calls = list(ModelCall.objects.all())
    assert {(call.purpose, call.reference, call.cost_micro_usd, call.prompt_hash) for call in calls} == {
        ("agent", f"agent:{run.pk}", 210, run.prompt_hash)
    }
    assert sum(call.cost_micro_usd for call in calls) == run.cost_micro_usd


def test_a_call_that_failed_and_may_be_charged_is_in_both(ask: Callable[..., AgentRun], settings: Any) -> None:
    with LoopbackProvider(FAULTS["cut JSON"].answer) as provider:
        point_at(settings, provider)
        run = ask(production_model())
    assert (run.stop, run.cause) == ("unavailable", "bad-response")
    assert run.cost_micro_usd == ModelCall.objects.get().cost_micro_usd > 0


def test_an_outage_is_kept_with_its_cause_and_what_was_done(ask: Callable[..., AgentRun]) -> None:
    run = ask(ReplayModel([LOOK, ModelRateLimited(attempts=4)]))
    assert (run.stop, run.cause, len(run.steps), run.answer) == ("unavailable", "rate-limited", 1, "")


def test_a_site_without_a_model_says_so(ask: Callable[..., AgentRun], settings: Any) -> None:
    settings.LLM_BASE_URL = ""
    run = ask(production_model())
    assert (run.stop, run.cause) == ("unavailable", "not-configured")


def test_without_counters_nobody_asks(ask: Callable[..., AgentRun], monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*args: Any, **options: Any) -> None:
        raise counters.CountersDown

    monkeypatch.setattr(counters, "hit", down)
    model = ReplayModel([DONE])
    run = ask(model)
    assert (run.stop, run.cause, model.calls) == ("unavailable", "counters-down", [])


def test_a_real_server_with_tools(ask: Callable[..., AgentRun], court: Court, settings: Any) -> None:
    def answer(call: Call) -> str | Reply:
        if call.number > 1:
            return f"Hay: {call.payload['messages'][-1]['content'][:30]}"
        function = {"name": "get_availability", "arguments": '{"date":"2026-03-10"}'}
        message = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
        return json_reply({"choices": [{"message": message, "finish_reason": "tool_calls"}]})

    with LoopbackProvider(answer) as provider:
        point_at(settings, provider)
        run = ask(production_model())
        assert len(provider.calls[0].payload["tools"]) == 4
    assert (run.stop, run.answer) == ("model", "Hay: Disponibilidad del 2026-03-10.")


def test_a_bug_in_a_tool_ends_the_run_and_tells_nobody_what_was_said(
    ask: Callable[..., AgentRun], caplog: pytest.LogCaptureFixture
) -> None:
    def crash(arguments: dict[str, Any]) -> str:
        raise RuntimeError("canario")

    broken = Tool("broken", "Se cae.", {"type": "object"}, crash, read_only=True, capabilities=NOTHING)
    run = ask(priced(Turn(calls=(("broken", {}),))), tools=(broken,))
    assert (run.stop, run.cause, run.running_since) == ("unavailable", "crash", None)
    assert ModelCall.objects.count() == 1
    assert "RuntimeError" in caplog.text
    assert "canario" not in caplog.text


def test_a_lethal_trifecta_is_refused_before_anything_is_kept(ask: Callable[..., AgentRun], now: dt.datetime) -> None:
    outward = Tool("send", "Manda.", {"type": "object"}, str, read_only=True, capabilities=frozenset(set(Capability) - {"private-data"}))
    with pytest.raises(LethalTrifecta, match="list_bookings"):
        ask(ReplayModel([]), tools=(*staff_tools(now), outward))
    assert not AgentRun.objects.exists()


# --- A person's yes or no -------------------------------------------------------------------------------------------------


class Agenda:
    """A tool that writes, with what it wrote; and a model that wants to use it twice."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.tools = (Tool("add_note", "Anota.", {"type": "object"}, self._add, read_only=False, capabilities=NOTHING, origin="agenda"),)

    def _add(self, arguments: dict[str, Any]) -> str:
        self.written.append(arguments["text"])
        return "Anotado: llamar a Rosa Quispe."

    def model(self, notes: Sequence[str] = ("uno", "dos")) -> ReplayModel:
        return ReplayModel([*(Turn(calls=(("add_note", {"text": text}),)) for text in notes), Turn("Listo.")])


@pytest.fixture
def agenda() -> Agenda:
    return Agenda()


def test_a_call_that_writes_waits_in_the_database(ask: Callable[..., AgentRun], agenda: Agenda) -> None:
    run = ask(agenda.model(), tools=agenda.tools)
    run.refresh_from_db()
    assert (run.stop, agenda.written, len(run.waiting_call)) == ("approval", [], 64)
    assert run.conversation is not None
    assert run.conversation["pending"][0]["function"] == {"name": "add_note", "arguments": '{"text": "uno"}'}


@pytest.mark.parametrize(("approved", "written"), [(True, ["uno"]), (False, [])])
def test_it_goes_on_after_the_persons_word(
    ask: Callable[..., AgentRun], agenda: Agenda, now: dt.datetime, approved: bool, written: list[str], member: Member
) -> None:
    model = agenda.model(["uno"])
    run = ask(model, tools=agenda.tools)
    run = decide_agent_call(run=run, call=run.waiting_call, approved=approved, model=model, tools=agenda.tools, now=now)
    run.refresh_from_db()
    assert (run.stop, run.answer, agenda.written) == ("model", "Listo.", written)
    assert (run.conversation, run.waiting_call) == (None, "")
    assert run.steps[0]["ok"] is approved
    assert "Rosa" not in str(run.steps) + str(model.calls)  # what is not ours is masked


def test_a_yes_is_for_one_call_and_counts_once(ask: Callable[..., AgentRun], agenda: Agenda, now: dt.datetime) -> None:
    model = agenda.model(["uno", "uno"])  # the same call twice, still two questions
    run = ask(model, tools=agenda.tools)
    stale, first = AgentRun.objects.get(), run.waiting_call
    given: dict[str, Any] = {"approved": True, "model": model, "tools": agenda.tools, "now": now}
    run = decide_agent_call(run=run, call=first, **given)
    assert (run.stop, agenda.written, run.waiting_call != first) == ("approval", ["uno"], True)
    for late in (stale, AgentRun.objects.get()):
        with pytest.raises(NotWaiting):
            decide_agent_call(run=late, call=first, **given)
    assert agenda.written == ["uno"]


@pytest.mark.parametrize("call", ["", "0" * 64])
def test_a_yes_to_nothing_is_none(ask: Callable[..., AgentRun], agenda: Agenda, now: dt.datetime, call: str) -> None:
    run = ask(agenda.model(), tools=agenda.tools)
    with pytest.raises(NotWaiting):
        decide_agent_call(run=run, call=call, approved=True, model=ReplayModel([]), tools=agenda.tools, now=now)
    done = ask(ReplayModel([DONE]))
    with pytest.raises(NotWaiting):
        decide_agent_call(run=done, call=call, approved=True, model=ReplayModel([]), tools=agenda.tools, now=now)
    assert agenda.written == []


# --- Rows -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "facts",
    [
        {"stop": "asleep"},
        {"stop": "model", "answer": ""},
        {"stop": "unavailable", "cause": ""},
        {"stop": "max-steps", "cause": "timeout"},
        {"stop": ""},
        {"stop": "approval", "conversation": None, "waiting_call": "x"},
        {"stop": "approval", "conversation": {}, "waiting_call": ""},
        {"stop": "max-steps", "conversation": {}},
    ],
)
def test_the_database_refuses_a_row_that_makes_no_sense(staff: User, now: dt.datetime, facts: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        AgentRun.objects.create(user=staff, key=uuid.uuid4(), created_at=now, **facts)
    AgentRun.objects.create(user=staff, key=uuid.uuid4(), created_at=now, stop="max-steps")


def used_at(moment: dt.datetime) -> AgentRun:
    return AgentRun.objects.create(key=uuid.uuid4(), created_at=moment, stop="max-steps")


def test_old_runs_are_deleted_by_service_command_and_beat(now: dt.datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_runs, "PRUNE_BATCH", 2)
    old = now - dt.timedelta(days=180, seconds=1)
    kept = used_at(now - dt.timedelta(days=180))
    for _ in range(5):
        used_at(old)
    assert prune_agent_runs(now=now) == 5
    assert AgentRun.objects.get() == kept
    used_at(timezone.now() - dt.timedelta(days=181))
    used_at(timezone.now())
    said = StringIO()
    AgentRun.objects.filter(pk=kept.pk).delete()
    call_command("prune_agent_runs", stdout=said)
    assert said.getvalue() == "Usos del agente borrados: 1 (con más de 180 días).\n"
    entry = app.conf.beat_schedule["prune-agent-runs"]
    assert (entry["schedule"], entry["task"]) == (3600.0, prune_task.name)
    used_at(timezone.now() - dt.timedelta(days=181))
    prune_task()
    assert AgentRun.objects.count() == 1
