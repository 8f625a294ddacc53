"""A model that is down and one that answers badly are two things. Every fault, for everybody: evals/tests/test_fault_matrix.py."""

import datetime as dt
from typing import Any

import pytest

from assistant.models import Interaction
from assistant.tests.loopback_provider import Answer, LoopbackProvider
from assistant.tests.neighbours import ask, log_in, point_at, stop_clock
from assistant.tests.provider_faults import FAULTS
from bookings.models import Member

TEXT = "fulbito mañana a las 7 de la noche"


@pytest.fixture(autouse=True)
def impatient(settings: Any, monkeypatch: pytest.MonkeyPatch, now: dt.datetime) -> None:
    settings.LLM_TIMEOUT_S = 1.2
    stop_clock(monkeypatch, now)


def outcome(member: Member) -> tuple[int, str, str, str]:
    """Status, kind, cause and reason, the same for the person and in the row that is kept."""
    response = ask(log_in(member), TEXT)
    said, kept = response.json(), Interaction.objects.get()
    assert (said["kind"], said["cause"], said["reason"]) == (kept.kind, kept.cause, kept.reason)
    return response.status_code, kept.kind, kept.cause, kept.reason


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda call: "Claro, ya reservé.", (201, "rejected", "", "NOT_JSON")),
        (lambda call: '{"action":"book"}', (201, "rejected", "", "UNKNOWN_ACTION")),
        (FAULTS["empty choices"].answer, (201, "unavailable", "bad-response", "")),
    ],
)
def test_a_model_that_answers_badly_is_not_a_model_that_is_down(
    member: Member, settings: Any, answer: Answer, expected: tuple[int, str, str, str]
) -> None:
    with LoopbackProvider(answer) as provider:
        point_at(settings, provider)
        assert outcome(member) == expected


def test_control_uncaught_an_outage_would_be_a_500(member: Member, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class NoModelError(Exception):
        """No error of the model is one of these."""

    monkeypatch.setattr("assistant.services.ModelError", NoModelError)
    client = log_in(member)
    client.raise_request_exception = False
    assert ask(client, TEXT).status_code == 500
