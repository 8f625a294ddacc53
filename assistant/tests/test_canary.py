"""A tiny call finds an outage when nobody uses the assistant; it is paid like any other and holds nothing of anybody."""

import datetime as dt
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.conf import settings as site
from django.core.management import call_command
from django.core.management.base import CommandError

from assistant.breaker import circuit_of
from assistant.canary import Sung, send_canary
from assistant.llm.provider import provider_from_settings
from assistant.models import ModelCall
from assistant.tasks import canary
from assistant.tests.loopback_provider import LoopbackProvider, Reply
from assistant.tests.neighbours import point_at
from kallpa.models import Incident

pytestmark = pytest.mark.django_db

SHOW_BEAT = "from kallpa.celery import app; import json; print(json.dumps(app.conf.beat_schedule.get('canary')))"


@pytest.fixture
def provider(settings: Any) -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as server:
        point_at(settings, server)
        yield server


@pytest.fixture
def dead(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackProvider]:
    monkeypatch.setattr("assistant.llm.provider.RETRYABLE", ())  # a call is one request, and none waits
    with LoopbackProvider(lambda call: Reply(status=503)) as server:
        point_at(settings, server)
        yield server


def test_one_that_is_answered_is_a_call_in_the_ledger(provider: LoopbackProvider, now: dt.datetime) -> None:
    assert send_canary(now=now) == Sung("", "", asked=True)
    (call,) = provider.calls
    assert (call.payload["max_tokens"], call.text) == (5, "Responde con una palabra: ok")
    assert ModelCall.objects.values_list("purpose", "reference", "outcome").get() == ("canary", "canary", "ok")
    assert not Incident.objects.exists()


def test_one_that_is_not_answered_opens_the_incident_at_once(dead: LoopbackProvider, now: dt.datetime) -> None:
    sung = send_canary(now=now)
    assert (sung.cause, sung.asked) == ("server-error", True)
    incident = Incident.objects.get()
    assert (incident.subject, incident.cause, incident.closed_at) == (f"gpt-4o-mini en {dead.host}", "server-error", None)
    assert ModelCall.objects.get().outcome == "server-error"


def test_the_next_one_that_is_answered_ends_it(provider: LoopbackProvider, now: dt.datetime) -> None:
    circuit = circuit_of(provider_from_settings())
    assert circuit is not None
    circuit.alarm("timeout", "El modelo no respondió a tiempo", now=now, counts={})
    send_canary(now=now + dt.timedelta(minutes=15))
    assert Incident.objects.get().closed_at is not None


def test_it_feeds_the_circuit_and_is_a_probe_like_any_other(dead: LoopbackProvider, now: dt.datetime) -> None:
    for _ in range(5):
        send_canary(now=now)
    assert send_canary(now=now).cause == "circuit-open"
    assert len(dead.calls) == 5
    assert Incident.objects.get().signs >= 5


@pytest.mark.parametrize(("name", "value"), [("ASSISTANT_DAILY_BUDGET_USD", 0), ("CACHES", None)])
def test_what_keeps_us_from_asking_is_no_outage_of_the_model(
    provider: LoopbackProvider, now: dt.datetime, settings: Any, name: str, value: Any
) -> None:
    away = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}
    setattr(settings, name, away if name == "CACHES" else value)
    assert send_canary(now=now).asked is False
    assert provider.calls == []
    assert not Incident.objects.exists()


@pytest.mark.parametrize(("name", "cause"), [("modelo-bonito:free", "forbidden-model"), ("gpt-4o-mini", "not-configured")])
def test_a_model_that_can_never_be_asked_is_an_incident(
    provider: LoopbackProvider, now: dt.datetime, settings: Any, name: str, cause: str
) -> None:
    settings.LLM_MODEL = name
    if cause == "not-configured":
        settings.LLM_API_KEY = "clave\ncon salto"
    assert send_canary(now=now).cause == cause
    assert (Incident.objects.get().subject, Incident.objects.get().cause) == (f"{name} en {provider.host}", cause)
    assert provider.calls == []


def run_command() -> tuple[int, str]:
    out, err = StringIO(), StringIO()
    try:
        call_command("canary", stdout=out, stderr=err)
    except SystemExit as leaving:
        return int(leaving.code or 0), err.getvalue()
    except CommandError as error:
        return error.returncode, str(error)
    return 0, out.getvalue()


def test_the_command_says_it_and_its_exit_code_does(provider: LoopbackProvider, settings: Any) -> None:
    assert run_command() == (0, "gpt-4o-mini responde.\n")
    settings.ASSISTANT_DAILY_BUDGET_USD = 0
    assert run_command() == (3, "gpt-4o-mini no respondió. Se alcanzó el tope de gasto del día.\n")
    settings.LLM_MODEL = ""
    code, said = run_command()
    assert code == 2
    assert "LLM_MODEL" in said


def test_the_command_fails_when_the_model_is_down(dead: LoopbackProvider) -> None:
    assert run_command() == (1, "gpt-4o-mini no respondió. El servidor del modelo falló (HTTP 503).\n")


def test_the_task_asks(provider: LoopbackProvider) -> None:
    canary()
    assert len(provider.calls) == 1


def beat(**environment: str) -> Any:
    """The canary's line in the schedule of a process started with these variables."""
    shown = subprocess.run(
        [sys.executable, "-c", SHOW_BEAT],
        cwd=site.BASE_DIR,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(shown.stdout)


def test_beat_sends_it_where_there_is_a_model_unless_it_is_switched_off() -> None:
    model = {"LLM_BASE_URL": "http://127.0.0.1:1/v1", "LLM_MODEL": "prueba"}
    assert beat(**model) == {"task": "assistant.tasks.canary", "schedule": 900.0, "options": {"expires": 900}}
    assert beat() is None
    assert beat(**model, CANARY_EVERY_S="0") is None
