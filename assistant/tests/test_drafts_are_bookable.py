"""The assistant and the booking service obey the same rules: what one accepts, the other stores."""

import datetime as dt
import json

import pytest
from django.db import transaction

from assistant.drafts import parse_output
from bookings.clock import LIMA
from bookings.models import BookedHour, Court, Member
from bookings.services import BookingRejected, HourTaken, book
from bookings.values import BookingRequest

NOW = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)
DATES = [dt.date(2026, 3, 9) + dt.timedelta(days=days) for days in (-1, 0, 1, 13, 14, 15)]
SWEEP = [(date, start_hour, hours) for date in DATES for start_hour in (-1, 0, *range(6, 24)) for hours in range(5)]


@pytest.fixture
def member(db: None) -> Member:
    return Member.objects.create(name="Rosa Quispe")


def confirm(request: BookingRequest, court: Court, member: Member) -> list[str]:
    """The codes with which the service rejects; what it stores is rolled back."""
    try:
        with transaction.atomic():
            book(member=member, court=court, request=request, now=NOW)
            assert BookedHour.objects.count() == request.hours
            transaction.set_rollback(True)
    except BookingRejected as rejected:
        return rejected.codes
    return []


@pytest.mark.parametrize("sport", ["fulbito", "voley", "basquet", "tenis"])
def test_every_accepted_draft_is_booked_and_every_rejected_one_is_not(sport: str, member: Member) -> None:
    court = Court.objects.create(name="Una", sport=sport if sport != "tenis" else "fulbito", price_centimos_per_hour=5000)
    accepted = 0
    for date, start_hour, hours in SWEEP:
        fields = {"action": "draft", "sport": sport, "date": date.isoformat(), "startHour": start_hour, "hours": hours}
        result = parse_output(json.dumps(fields), now=NOW)
        codes = confirm(BookingRequest(sport, date, start_hour, hours), court, member)
        if result.draft:
            assert codes == []
            accepted += 1
        else:
            assert result.detail.split(", ") == [code for code in codes if code != "WRONG_COURT"]
    # 15 + 14 + 13 ways to place 1, 2 or 3 hours in a day; today, from 11 on, 11 + 10 + 9.
    assert accepted == (0 if sport == "tenis" else 3 * 42 + 30)


def test_an_accepted_draft_may_still_find_the_hour_taken(member: Member) -> None:
    court = Court.objects.create(name="Una", sport="fulbito", price_centimos_per_hour=5000)
    text = '{"action":"draft","sport":"fulbito","date":"2026-03-10","startHour":19,"hours":1}'
    draft = parse_output(text, now=NOW).draft
    assert draft is not None
    book(member=member, court=court, request=draft.as_request(), now=NOW)
    with pytest.raises(HourTaken):
        book(member=member, court=court, request=draft.as_request(), now=NOW)
