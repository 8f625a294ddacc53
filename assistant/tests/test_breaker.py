"""A model that keeps failing is left alone for a while, people are told kindly, and the incident opens and closes with it."""

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assistant.breaker import Breaker, Circuit, CircuitOpen, circuit_of, end_silent_alarms
from assistant.limits import BudgetReached, CountersClosed, TooManyAtOnce
from assistant.llm import Model, ModelError, ModelNotConfigured, ModelRequest, ModelTimeout
from assistant.llm.absent import AbsentModel
from assistant.llm.provider import provider_from_settings
from assistant.llm.scripted import ScriptedModel
from assistant.models import Interaction, ModelCall
from assistant.tests.loopback_provider import Answer, Call, LoopbackProvider, Reply, always_refuse
from assistant.tests.neighbours import ask, log_in, point_at
from bookings.models import Member
from kallpa.models import Incident

TEXT = "fulbito mañana a las 7 de la noche"
REQUEST = ModelRequest(({"role": "user", "content": TEXT},), temperature=0.0, max_tokens=10)

pytestmark = pytest.mark.django_db


class Switch:
    """A provider's answer that can be changed while it runs."""

    def __init__(self) -> None:
        self.answer: Answer = always_refuse

    def __call__(self, call: Call) -> Any:
        return self.answer(call)


@pytest.fixture
def switch() -> Switch:
    return Switch()


@pytest.fixture
def provider(switch: Switch, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackProvider]:
    monkeypatch.setattr("assistant.llm.provider.RETRYABLE", ())  # a call is one request, and none waits
    with LoopbackProvider(switch) as server:
        point_at(settings, server)
        yield server


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, now: dt.datetime) -> Callable[[float], None]:
    """The neighbours' clock; calling it lets seconds pass."""
    at = [now]
    monkeypatch.setattr("assistant.api.now_in_lima", lambda: at[0])

    def let_pass(seconds: float) -> None:
        at[0] += dt.timedelta(seconds=seconds)

    return let_pass


def status(code: int) -> Answer:
    return lambda call: Reply(status=code)


def causes() -> list[str]:
    return list(Interaction.objects.order_by("pk").values_list("cause", flat=True))


def test_after_five_failures_nobody_calls_until_one_may_try(
    member: Member, switch: Switch, provider: LoopbackProvider, clock: Callable[[float], None]
) -> None:
    client, switch.answer = log_in(member), status(500)
    for _ in range(8):
        assert ask(client, TEXT).status_code == 201
    assert causes() == ["server-error"] * 5 + ["circuit-open"] * 3
    assert len(provider.calls) == 5
    assert ModelCall.objects.count() == 5  # what was not asked was not bought
    clock(31)
    ask(client, TEXT), ask(client, TEXT)
    assert causes()[8:] == ["server-error", "circuit-open"]
    switch.answer = always_refuse
    clock(31)
    ask(client, TEXT), ask(client, TEXT)
    assert causes()[10:] == ["", ""]
    assert len(provider.calls) == 8


def test_the_incident_opens_and_closes_with_the_circuit(
    member: Member, switch: Switch, provider: LoopbackProvider, clock: Callable[[float], None]
) -> None:
    client, switch.answer = log_in(member), status(401)
    for _ in range(4):
        ask(client, TEXT)
    assert not Incident.objects.exists()
    ask(client, TEXT)
    incident = Incident.objects.get()
    assert (incident.subject, incident.cause, incident.closed_at) == (f"gpt-4o-mini en {provider.host}", "auth", None)
    assert incident.detail == "El servidor del modelo rechazó la clave"
    assert incident.counts == {"streak": 5, "failures": 5, "calls": 5}
    switch.answer = always_refuse
    clock(31)
    ask(client, TEXT)
    incident.refresh_from_db()
    assert incident.closed_at is not None


def test_control_without_the_breaker_every_request_is_a_call(
    member: Member, switch: Switch, provider: LoopbackProvider, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.breaker.circuit_of", lambda model: None)
    client, switch.answer = log_in(member), status(500)
    for _ in range(8):
        ask(client, TEXT)
    assert len(provider.calls) == 8
    assert not Incident.objects.exists()


def test_an_answer_ends_an_incident_that_somebody_else_opened(provider: LoopbackProvider, now: dt.datetime) -> None:
    circuit = circuit_of(provider_from_settings())
    assert circuit is not None
    circuit.alarm("timeout", "El modelo no respondió a tiempo", now=now, counts={})
    call(provider_from_settings(), now)
    assert Incident.objects.get().closed_at is not None


def test_another_model_and_another_server_have_circuits_of_their_own(switch: Switch, provider: LoopbackProvider, now: dt.datetime) -> None:
    switch.answer = status(500)
    for _ in range(6):
        with pytest.raises(ModelError):
            call(provider_from_settings(), now)
    assert len(provider.calls) == 5
    with pytest.raises(ModelError) as failed:
        call(provider_from_settings("otro"), now)
    assert failed.value.cause == "server-error"


@pytest.mark.parametrize("error", [BudgetReached, CountersClosed, TooManyAtOnce, CircuitOpen, ModelNotConfigured])
def test_what_is_no_failure_of_the_provider_is_not_counted(error: type[ModelError], provider: LoopbackProvider, now: dt.datetime) -> None:
    for _ in range(6):
        with pytest.raises(error), Breaker(provider_from_settings(), now=now).call():
            raise error
    call(provider_from_settings(), now)
    assert not Incident.objects.exists()


@pytest.mark.parametrize(
    "model", [ScriptedModel(lambda request: fail()), AbsentModel(ModelNotConfigured("falta LLM_MODEL"))], ids=["scripted", "absent"]
)
def test_a_model_without_a_server_has_no_circuit(model: Model, now: dt.datetime) -> None:
    for _ in range(6):
        with pytest.raises(ModelError) as failed:
            call(model, now)
        assert failed.value.cause != "circuit-open"
    assert not Incident.objects.exists()


def test_with_the_counters_away_calls_go_on(switch: Switch, provider: LoopbackProvider, now: dt.datetime, settings: Any) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}
    switch.answer = status(500)
    for _ in range(7):
        with pytest.raises(ModelError):
            call(provider_from_settings(), now)
    assert len(provider.calls) == 7


def test_an_incident_that_cannot_be_written_spoils_no_answer(
    provider: LoopbackProvider, now: dt.datetime, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        from django.db import OperationalError

        raise OperationalError("database is locked")

    monkeypatch.setattr("assistant.breaker.close_incident", refuse)
    call(provider_from_settings(), now)
    assert "an incident could not be written" in caplog.text


def test_the_incident_of_a_model_that_nobody_asks_any_more_ends_after_a_day(now: dt.datetime) -> None:
    replaced, asked = Circuit("viejo", "modelos.example"), Circuit("nuevo", "modelos.example")
    for circuit in (replaced, asked):
        circuit.alarm("auth", "El servidor del modelo rechazó la clave", now=now, counts={})
    asked.alarm("auth", "El servidor del modelo rechazó la clave", now=now + dt.timedelta(hours=20), counts={})
    assert end_silent_alarms(now=now + dt.timedelta(hours=23)) == 0
    assert end_silent_alarms(now=now + dt.timedelta(hours=25)) == 1
    assert list(Incident.objects.filter(closed_at=None).values_list("subject", flat=True)) == ["nuevo en modelos.example"]


def call(model: Model, now: dt.datetime) -> None:
    with Breaker(model, now=now).call():
        model.complete(REQUEST)


def fail() -> str:
    raise ModelTimeout
