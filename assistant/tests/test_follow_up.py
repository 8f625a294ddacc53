"""What the person did with a proposal: confirmed, changed, discarded, reported. Written once, and only on their own."""

import datetime as dt
import json
from typing import Any

import pytest

from assistant import services
from assistant.llm.scripted import ScriptedModel
from assistant.models import Interaction, UserReport
from assistant.services import AlreadyAnswered, ask_assistant, discard_proposal, record_follow_up, report_interaction
from bookings.models import Booking, Court, Member
from bookings.services import book
from bookings.values import BookingRequest

DRAFT = {"sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}
LATER = dt.timedelta(minutes=2)


@pytest.fixture
def proposal(member: Member, now: dt.datetime) -> Interaction:
    model = ScriptedModel(json.dumps({"action": "draft", **DRAFT}))
    return ask_assistant(member=member, text="fulbito mañana a las 7 de la noche", model=model, now=now)


def book_as(member: Member, court: Court, now: dt.datetime, **changes: Any) -> Booking:
    asked: dict[str, Any] = {"sport": court.sport, "date": dt.date(2026, 3, 10), "start_hour": 19, "hours": 1} | changes
    return book(member=member, court=court, request=BookingRequest(**asked), now=now)


def follow(proposal: Interaction) -> tuple[str, list[str], int | None]:
    proposal.refresh_from_db()
    return proposal.follow_up, proposal.changed_fields, proposal.booking_id


def test_a_draft_booked_as_it_was_is_confirmed(proposal: Interaction, member: Member, court: Court, now: dt.datetime) -> None:
    booking = book_as(member, court, now)
    kept = record_follow_up(member=member, proposal_id=proposal.pk, booking=booking, now=now + LATER)
    assert kept == proposal
    assert follow(proposal) == ("confirmed", [], booking.pk)
    assert proposal.followed_at == now + LATER


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"start_hour": 20}, ["startHour"]),
        ({"hours": 2}, ["hours"]),
        ({"date": dt.date(2026, 3, 11)}, ["date"]),
        ({"date": dt.date(2026, 3, 11), "start_hour": 8, "hours": 3}, ["date", "startHour", "hours"]),
    ],
)
def test_it_names_the_fields_that_the_person_changed(
    proposal: Interaction, member: Member, court: Court, now: dt.datetime, changes: dict[str, Any], fields: list[str]
) -> None:
    booking = book_as(member, court, now, **changes)
    record_follow_up(member=member, proposal_id=proposal.pk, booking=booking, now=now + LATER)
    assert follow(proposal) == ("changed", fields, booking.pk)


def test_another_sport_is_a_change(proposal: Interaction, member: Member, now: dt.datetime) -> None:
    court = Court.objects.create(name="Vóley 1", sport="voley", price_centimos_per_hour=4000)
    record_follow_up(member=member, proposal_id=proposal.pk, booking=book_as(member, court, now), now=now)
    assert follow(proposal)[:2] == ("changed", ["sport"])


def test_a_second_booking_does_not_change_what_the_first_said(
    proposal: Interaction, member: Member, court: Court, now: dt.datetime
) -> None:
    first = book_as(member, court, now)
    record_follow_up(member=member, proposal_id=proposal.pk, booking=first, now=now)
    second = book_as(member, court, now, start_hour=8)
    assert record_follow_up(member=member, proposal_id=proposal.pk, booking=second, now=now) is None
    assert follow(proposal) == ("confirmed", [], first.pk)


def test_nobody_follows_another_person_s_proposal(proposal: Interaction, other: Member, court: Court, now: dt.datetime) -> None:
    assert record_follow_up(member=other, proposal_id=proposal.pk, booking=book_as(other, court, now), now=now) is None
    assert follow(proposal) == ("none", [], None)


def test_what_was_no_draft_cannot_be_confirmed(member: Member, court: Court, now: dt.datetime) -> None:
    refused = ask_assistant(member=member, text="una pizza", model=ScriptedModel('{"action":"refuse"}'), now=now)
    assert record_follow_up(member=member, proposal_id=refused.pk, booking=book_as(member, court, now), now=now) is None
    with pytest.raises(AlreadyAnswered):
        discard_proposal(interaction=refused, now=now)
    assert follow(refused) == ("none", [], None)


def test_discarding_twice_is_discarding_once(proposal: Interaction, now: dt.datetime) -> None:
    discard_proposal(interaction=proposal, now=now + LATER)
    discard_proposal(interaction=proposal, now=now + 2 * LATER)
    assert follow(proposal) == ("discarded", [], None)
    assert proposal.followed_at == now + LATER


def test_a_confirmed_draft_cannot_be_discarded(proposal: Interaction, member: Member, court: Court, now: dt.datetime) -> None:
    booking = book_as(member, court, now)
    record_follow_up(member=member, proposal_id=proposal.pk, booking=booking, now=now)
    with pytest.raises(AlreadyAnswered):
        discard_proposal(interaction=proposal, now=now)
    assert follow(proposal) == ("confirmed", [], booking.pk)


def test_control_without_the_condition_the_second_follow_up_would_win(
    proposal: Interaction, member: Member, court: Court, now: dt.datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overwrite(interaction: Interaction, what: str, at: dt.datetime, **facts: Any) -> bool:
        return bool(Interaction.objects.filter(pk=interaction.pk).update(follow_up=what, followed_at=at, **facts))

    monkeypatch.setattr(services, "_follow", overwrite)
    record_follow_up(member=member, proposal_id=proposal.pk, booking=book_as(member, court, now), now=now)
    discard_proposal(interaction=proposal, now=now)
    assert follow(proposal)[0] == "discarded"


def test_a_report_keeps_the_person_s_word_masked(proposal: Interaction, now: dt.datetime) -> None:
    report_interaction(interaction=proposal, word="era el domingo, llámame al 987654321 " + "x" * 300, now=now + LATER)
    report = UserReport.objects.get(interaction=proposal)
    assert report.word.startswith("era el domingo, ")
    assert "987654321" not in report.word
    assert (len(report.word), report.created_at) == (200, now + LATER)


def test_a_second_report_leaves_the_first(proposal: Interaction, now: dt.datetime) -> None:
    report_interaction(interaction=proposal, word="era vóley", now=now)
    with pytest.raises(AlreadyAnswered):
        report_interaction(interaction=proposal, word="", now=now)
    assert UserReport.objects.get().word == "era vóley"
