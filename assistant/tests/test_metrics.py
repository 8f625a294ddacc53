"""/metrics: what monitoring reads, for who may, in few queries, and the same whether the cache knows the past or not."""

import datetime as dt
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries

from assistant.models import Interaction, ModelCall
from kallpa.models import Incident
from kallpa.tokens import create_token, revoke_token

pytestmark = pytest.mark.django_db

CALL = {
    "purpose": "assistant",
    "model": "gpt-4o-mini",
    "input_tokens": 1_000,
    "output_tokens": 50,
    "tokens_measured": False,
    "cost_micro_usd": 180,
    "price_known": True,
    "latency_ms": 400,
    "attempts": 1,
    "outcome": "ok",
}


@pytest.fixture
def token(now: dt.datetime) -> str:
    owner = User.objects.create_user("vigilante")
    return create_token(name="monitor", scopes=["metrics"], owner=owner, days=365, now=dt.datetime.now(dt.UTC)).secret


def read(token: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample by its name and labels, as Prometheus's own parser understands it."""
    response = Client().get("/metrics", headers={"authorization": f"Bearer {token}"})
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = text_string_to_metric_families(response.content.decode())
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for family in families for sample in family.samples}


def sample(metrics: dict[Any, float], name: str, **labels: str) -> float:
    return metrics[name, tuple(sorted(labels.items()))]


def add_calls(now: dt.datetime) -> None:
    """Three calls, one of them without an answer and one of another purpose."""
    for fields in ({}, {"latency_ms": 3_000, "outcome": "timeout"}, {"purpose": "canary", "latency_ms": 70_000}):
        ModelCall.objects.create(**CALL | fields, created_at=now)


def check_calls(metrics: dict[Any, float]) -> None:
    pair = {"purpose": "assistant", "model": "gpt-4o-mini"}
    assert sample(metrics, "kallpa_model_calls_total", **pair) == 2
    assert sample(metrics, "kallpa_model_calls_total", **pair | {"purpose": "canary"}) == 1
    assert sample(metrics, "kallpa_model_failures_total", **pair, cause="timeout") == 1
    assert sample(metrics, "kallpa_model_tokens_total", **pair, direction="input") == 2_000
    assert sample(metrics, "kallpa_model_tokens_total", **pair, direction="output") == 100
    assert sample(metrics, "kallpa_model_cost_usd_total", **pair) == 0.00036
    assert [sample(metrics, "kallpa_model_call_seconds_bucket", **pair, le=le) for le in ("0.25", "0.5", "2.0", "5.0", "+Inf")] == [
        *(0, 1, 1, 2, 2)
    ]
    assert sample(metrics, "kallpa_model_call_seconds_sum", **pair) == 3.4
    assert sample(metrics, "kallpa_model_call_seconds_bucket", **pair | {"purpose": "canary"}, le="60.0") == 0


def test_it_tells_calls_failures_tokens_cost_and_latency(token: str) -> None:
    add_calls(dt.datetime.now(dt.UTC))
    check_calls(read(token))


def test_it_tells_the_same_of_the_past_with_and_without_the_cache(token: str, settings: Any) -> None:
    add_calls(dt.datetime.now(dt.UTC) - dt.timedelta(days=3))
    check_calls(read(token))
    check_calls(read(token))
    settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid.uuid4().hex}}
    check_calls(read(token))


def test_what_has_settled_since_the_last_reading_is_added(token: str) -> None:
    from assistant.prometheus import _sum_calls

    old, now = dt.datetime(2026, 3, 9, 7, 30, tzinfo=dt.UTC), dt.datetime(2026, 3, 9, 10, 59, tzinfo=dt.UTC)
    for moment in (old, now - dt.timedelta(minutes=100), now - dt.timedelta(minutes=90), now):
        ModelCall.objects.create(**CALL, created_at=moment)
    for _ in range(2):
        for hours in (0, 1, 2, 26):
            (row,) = _sum_calls(now + dt.timedelta(hours=hours))
            assert (row["n"], row["sum_input_tokens"]) == (4, 4_000)


def test_it_is_told_from_the_database_alone_when_the_cache_is_away(token: str, settings: Any) -> None:
    add_calls(dt.datetime.now(dt.UTC) - dt.timedelta(days=3))
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}
    check_calls(read(token))


def test_it_tells_what_came_out_of_the_assistant(token: str, now: dt.datetime) -> None:
    for fields in ({"kind": "refuse"}, {"kind": "rejected", "reason": "NOT_JSON"}, {"kind": "unavailable", "cause": "circuit-open"}):
        Interaction.objects.create(created_at=now, prompt_hash="0" * 64, **fields)
    metrics = read(token)
    kinds = {kind: sample(metrics, "kallpa_assistant_interactions_total", kind=kind) for kind in ("draft", "refuse", "rejected")}
    assert kinds == {"draft": 0, "refuse": 1, "rejected": 1}
    assert sample(metrics, "kallpa_assistant_interactions_total", kind="unavailable") == 1
    assert sample(metrics, "kallpa_assistant_rejections_total", reason="NOT_JSON") == 1
    assert sample(metrics, "kallpa_assistant_unavailable_total", cause="circuit-open") == 1


def test_it_tells_what_is_broken_now(token: str, now: dt.datetime) -> None:
    assert sample(read(token), "kallpa_incidents_open", kind="model") == 0
    Incident.objects.create(kind="model", subject="prueba", cause="timeout", opened_at=now, last_sign_at=now)
    metrics = read(token)
    assert sample(metrics, "kallpa_incidents_open", kind="model") == 1
    assert sample(metrics, "kallpa_model_state", state="not-configured") == 1
    assert sample(metrics, "kallpa_model_state", state="ok") == 0


def test_it_takes_as_many_queries_for_many_rows(token: str, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    old = dt.datetime.now(dt.UTC) - dt.timedelta(days=1)
    ModelCall.objects.bulk_create(ModelCall(**CALL | {"model": f"modelo-{n % 3}"}, created_at=old) for n in range(2_000))
    with django_assert_max_num_queries(6):  # the token and its use, the past, the last hour, uses, incidents
        read(token)
    with django_assert_max_num_queries(4):
        read(token)


def test_nobody_else_reads_it(token: str) -> None:
    wrong = create_token(name="otro", scopes=["mcp"], owner=User.objects.get(), days=1, now=dt.datetime.now(dt.UTC))
    for headers in ({}, {"authorization": "Bearer nada"}, {"authorization": f"Bearer {wrong.secret}"}):
        refused = Client().get("/metrics", headers=headers)
        assert (refused.status_code, refused.headers["WWW-Authenticate"], refused.content) == (401, "Bearer", b"")
    assert Client().post("/metrics", headers={"authorization": f"Bearer {token}"}).status_code == 405
    revoke_token(token=User.objects.get().api_tokens.get(name="monitor"), now=dt.datetime.now(dt.UTC))
    assert Client().get("/metrics", headers={"authorization": f"Bearer {token}"}).status_code == 401


@pytest.mark.parametrize(
    ("is_staff", "codenames", "status"), [(True, ["view_modelcall"], 200), (True, [], 401), (False, ["view_modelcall"], 401)]
)
def test_a_person_needs_the_permission(is_staff: bool, codenames: list[str], status: int) -> None:
    person = User.objects.create_user("persona", is_staff=is_staff)
    person.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    browser = Client()
    browser.force_login(person)
    assert browser.get("/metrics").status_code == status
