"""Everything that a provider can do wrong leaves one row: its cause, the attempts that the server counted, and what they may cost."""

import datetime as dt
from typing import Any

import pytest

from assistant.llm.absent import production_model
from assistant.llm.charges import PERHAPS_CHARGED
from assistant.models import ModelCall
from assistant.services import ask_assistant
from assistant.tests.loopback_provider import LoopbackProvider
from assistant.tests.neighbours import point_at
from assistant.tests.provider_faults import FAULTS, NO_CONNECTION
from assistant.tests.test_outages import EVERYDAY, TEXT
from bookings.models import Member


@pytest.fixture(autouse=True)
def impatient(settings: Any) -> None:
    settings.LLM_TIMEOUT_S = 1.2


def check(name: str, member: Member, settings: Any, now: dt.datetime) -> None:
    fault = FAULTS[name]
    with LoopbackProvider(fault.answer) as provider:
        point_at(settings, provider)
        used = ask_assistant(member=member, text=TEXT, model=production_model(), now=now)
    call = ModelCall.objects.get()
    assert (call.outcome, call.attempts) == (fault.error.cause, len(provider.calls))
    assert call.cost_micro_usd == used.cost_micro_usd
    lost = call.attempts if issubclass(fault.error, PERHAPS_CHARGED) else 0
    assert call.output_tokens == lost * settings.LLM_MAX_TOKENS
    assert (call.cost_micro_usd > 0) == bool(lost)


@pytest.mark.parametrize("name", EVERYDAY)
def test_what_a_provider_often_does_wrong_is_one_row(name: str, member: Member, settings: Any, now: dt.datetime) -> None:
    check(name, member, settings, now)


@pytest.mark.faults
@pytest.mark.parametrize("name", [name for name in FAULTS if name not in EVERYDAY])
def test_what_a_provider_can_do_wrong_is_one_row(name: str, member: Member, settings: Any, now: dt.datetime) -> None:
    check(name, member, settings, now)


@pytest.mark.parametrize("name", ["refused", "TLS error"])
def test_a_server_that_is_not_there_costs_nothing(name: str, member: Member, settings: Any, now: dt.datetime) -> None:
    address, error = NO_CONNECTION[name]
    with address() as base_url:
        settings.LLM_BASE_URL, settings.LLM_MODEL = base_url, "gpt-4o-mini"
        settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = [base_url.split("/")[2]], True
        ask_assistant(member=member, text=TEXT, model=production_model(), now=now)
    call = ModelCall.objects.get()
    assert (call.outcome, call.cost_micro_usd) == (error.cause, 0)
