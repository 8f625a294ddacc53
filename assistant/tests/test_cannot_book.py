"""The assistant proposes and cannot act: its endpoint works with a database role that may not write a booking."""

import datetime as dt
import json
from collections import Counter
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction

from assistant.models import Interaction
from assistant.tests.loopback_provider import Call, LoopbackProvider
from assistant.tests.neighbours import ask, log_in, point_at, stop_clock
from bookings.models import Booking, Court, Member
from bookings.services import book, cancel
from bookings.values import BookingRequest

pytestmark = [pytest.mark.services, pytest.mark.django_db]
REQUESTS = 200
OUTPUTS = [
    '{"action":"draft","sport":"fulbito","date":"2026-03-10","startHour":19,"hours":1}',
    '{"action":"clarify","question":"¿De la mañana o de la noche?"}',
    '{"action":"refuse"}',
    "Listo, ya reservé.",
]
ROLE = "kallpa_assistant_test"
GRANTS = f"""
    CREATE ROLE {ROLE} NOLOGIN;
    GRANT USAGE ON SCHEMA public TO {ROLE};
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE};
    GRANT INSERT, UPDATE, DELETE ON assistant_interaction, assistant_userreport, django_session TO {ROLE};
    GRANT INSERT ON assistant_modelcall TO {ROLE};
    GRANT USAGE ON assistant_interaction_id_seq, assistant_userreport_id_seq, assistant_modelcall_id_seq TO {ROLE};
"""


@pytest.fixture
def reserved(member: Member, court: Court, now: dt.datetime) -> Booking:
    """A booking from before, at another hour."""
    return book(member=member, court=court, request=BookingRequest("fulbito", dt.date(2026, 3, 10), 8, 1), now=now)


@pytest.fixture
def role(reserved: Booking) -> None:
    """From here on the connection acts as a role that may write only what is the assistant's. All of it goes with the transaction."""
    if connection.vendor != "postgresql":
        pytest.skip("needs DATABASE_URL (PostgreSQL)")
    with connection.cursor() as cursor:
        cursor.execute(GRANTS)
        cursor.execute(f"SET LOCAL ROLE {ROLE}")


def test_every_answer_comes_from_a_role_that_cannot_write_bookings(
    member: Member, settings: Any, monkeypatch: pytest.MonkeyPatch, now: dt.datetime, request: pytest.FixtureRequest
) -> None:
    def answer(call: Call) -> str:
        return OUTPUTS[call.number % len(OUTPUTS)]

    settings.ASSISTANT_PER_MINUTE = settings.ASSISTANT_PER_DAY = REQUESTS
    stop_clock(monkeypatch, now)
    client = log_in(member)
    request.getfixturevalue("role")
    with LoopbackProvider(answer) as provider:
        point_at(settings, provider)
        answers = [ask(client, "fulbito mañana a las 7 de la noche") for _ in range(REQUESTS)]
    assert Counter(answer.status_code for answer in answers) == {201: REQUESTS}
    assert Counter(answer.json()["kind"] for answer in answers) == dict.fromkeys(("draft", "clarify", "refuse", "rejected"), REQUESTS // 4)
    assert Interaction.objects.count() == REQUESTS
    draft = next(answer.json()["id"] for answer in answers if answer.json()["kind"] == "draft")
    assert client.post(f"/api/v1/assistant/proposals/{draft}/discard/").status_code == 200
    reported = client.post(f"/api/v1/assistant/proposals/{draft}/report/", json.dumps({"word": "no"}), content_type="application/json")
    assert reported.status_code == 201


def test_control_that_role_is_refused_when_it_books_or_cancels(
    member: Member, court: Court, reserved: Booking, now: dt.datetime, role: None
) -> None:
    request = BookingRequest("fulbito", dt.date(2026, 3, 10), 19, 1)
    with pytest.raises(ProgrammingError, match="permission denied for table bookings_booking"), transaction.atomic():
        book(member=member, court=court, request=request, now=now)
    with pytest.raises(ProgrammingError, match="permission denied for table bookings_booking"), transaction.atomic():
        cancel(booking=reserved, by=member, now=now)
