"""The staff's agent before everything that a provider can do wrong: a named stop, in time, and nothing told to a log."""

import datetime as dt
import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User

from assistant.agent_runs import ask_agent
from assistant.llm import ModelTimeout
from assistant.llm.provider import ProviderConfig, ProviderModel
from assistant.models import AgentRun
from assistant.staff_tools import staff_tools
from assistant.tests.loopback_provider import LoopbackProvider
from assistant.tests.provider_faults import FAULTS, NO_CONNECTION
from kallpa.outbound import OutboundClient, OutboundPolicy

pytestmark = pytest.mark.django_db
SECRETS = ("canary", "999 888 777")
SILENT = {name for name, fault in FAULTS.items() if fault.error is ModelTimeout and name != "408"}


@contextmanager
def model_at(base_url: str, timeout_s: float) -> Iterator[ProviderModel]:
    """A provider's model that does not wait between its attempts."""
    client = OutboundClient(OutboundPolicy(frozenset({urlsplit(base_url).netloc}), allow_loopback=True, allow_http=True))
    yield ProviderModel("gpt-4o-mini", ProviderConfig(base_url, "canary-key", timeout_s=timeout_s), client, sleep=lambda seconds: None)
    client.close()


def ask_in_time(base_url: str, timeout_s: float, now: dt.datetime, caplog: pytest.LogCaptureFixture) -> AgentRun:
    """What came of a task, within the deadline and a second, with nothing of it in a log."""
    for name in ("", "httpx", "httpcore", "httpcore.connection", "httpcore.http11"):
        caplog.set_level(logging.DEBUG, logger=name)
    user, started = User.objects.create_user("desk"), time.monotonic()
    with model_at(base_url, timeout_s) as model:
        run = ask_agent(user=user, key=uuid.uuid4(), task="canary prompt, 999 888 777", model=model, tools=staff_tools(now), now=now)
    assert time.monotonic() - started <= timeout_s + 1.0
    assert not any(secret in caplog.text for secret in SECRETS)
    return run


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_is_a_named_stop(name: str, now: dt.datetime, caplog: pytest.LogCaptureFixture) -> None:
    fault, timeout_s = FAULTS[name], 0.6 if name in SILENT else 5.0
    with LoopbackProvider(fault.answer) as provider:
        run = ask_in_time(provider.base_url, timeout_s, now, caplog)
        assert len(provider.calls) == fault.calls
    assert (run.stop, run.cause, run.running_since) == ("unavailable", fault.error.cause, None)


@pytest.mark.parametrize("name", NO_CONNECTION)
def test_so_is_no_connection(name: str, now: dt.datetime, caplog: pytest.LogCaptureFixture) -> None:
    open_fault, error = NO_CONNECTION[name]
    with open_fault() as base_url:
        run = ask_in_time(base_url, 0.6 if error is ModelTimeout else 5.0, now, caplog)
    assert (run.stop, run.cause) == ("unavailable", error.cause)
