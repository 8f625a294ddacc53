"""/readyz says how the model is without failing the site, and names no model, server or key to whoever reads it."""

import datetime as dt
from typing import Any

import pytest
from django.test import Client

from assistant.breaker import circuit_of
from assistant.canary import send_canary
from assistant.llm.provider import provider_from_settings
from assistant.tests.loopback_provider import LoopbackProvider
from assistant.tests.neighbours import point_at

pytestmark = pytest.mark.django_db

KEY = "canario-clave-77aa"


@pytest.fixture
def host(settings: Any) -> str:
    settings.LLM_API_KEY = KEY
    with LoopbackProvider() as provider:
        point_at(settings, provider)
        return provider.host


def ready(client: Client) -> Any:
    response = client.get("/readyz")
    assert response.status_code == 200
    return response.json()


def test_a_model_that_answers_is_ok(client: Client, host: str) -> None:
    assert ready(client) == {"status": "ok", "database": "ok", "model": {"state": "ok"}, "incidents": []}


def test_a_model_that_fails_is_told_and_the_site_stays_ready(client: Client, host: str, now: dt.datetime) -> None:
    circuit = circuit_of(provider_from_settings())
    assert circuit is not None
    for _ in range(5):
        circuit.note_failure("auth", probe=False, now=now)
    said = ready(client)
    assert said["model"] == {"state": "failing", "cause": "auth"}
    assert said["incidents"] == [{"kind": "model", "cause": "auth", "since": now.astimezone(dt.UTC).isoformat()}]
    assert not any(secret in str(said) for secret in (KEY, host, "gpt-4o-mini", "rechazó"))


def test_a_model_that_may_not_be_asked_is_told(client: Client, host: str, settings: Any) -> None:
    settings.LLM_MODEL = "modelo-bonito:free"
    assert ready(client)["model"] == {"state": "forbidden-model"}
    settings.LLM_MODEL = ""
    assert ready(client)["model"] == {"state": "not-configured"}


def test_with_the_counters_away_the_state_is_unknown(client: Client, host: str, settings: Any) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}
    assert ready(client)["model"] == {"state": "unknown"}


def test_what_the_canary_alone_has_seen_is_told_too(client: Client, settings: Any, now: dt.datetime) -> None:
    """One failure opens an incident and no circuit: two answers to one question would be one too many."""
    with LoopbackProvider() as provider:
        point_at(settings, provider)
    assert send_canary(now=now).cause == "unreachable"
    assert ready(client)["model"] == {"state": "failing", "cause": "unreachable"}


def test_after_the_probe_it_is_ok_again(client: Client, host: str, now: dt.datetime) -> None:
    circuit = circuit_of(provider_from_settings())
    assert circuit is not None
    for _ in range(5):
        circuit.note_failure("timeout", probe=False, now=now)
    circuit.note_success(probe=True, now=now)
    assert ready(client)["model"] == {"state": "ok"}
