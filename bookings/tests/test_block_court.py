"""Blocking a court for maintenance takes its hours as a booking does, through the same constraint."""

import datetime as dt

import pytest
from django.db import IntegrityError

from bookings.clock import LIMA
from bookings.models import BookedHour, Booking, Court, CourtBlock, Member
from bookings.selectors import occupied_hours
from bookings.services import BookingRejected, HourTaken, block_court, book, cancel, unblock_court
from bookings.values import BlockRequest, BookingRequest

MONDAY, TUESDAY = dt.date(2026, 3, 9), dt.date(2026, 3, 10)


def ask(start_hour: int = 18, hours: int = 1) -> BookingRequest:
    return BookingRequest("fulbito", TUESDAY, start_hour, hours)


def test_it_takes_a_whole_day(court: Court, now: dt.datetime) -> None:
    block = block_court(court=court, request=BlockRequest(TUESDAY, 7, 15, "Cambio de grass"), now=now)
    assert list(BookedHour.objects.values_list("block", "booking", "hour")) == [(block.pk, None, hour) for hour in range(7, 22)]
    assert (block.reason, block.created_at, str(block)) == ("Cambio de grass", now, "Fulbito 1, 10/03/2026, 7 a 22 h")
    assert [hour.hour for hour in occupied_hours(date_from=TUESDAY, date_to=TUESDAY)] == list(range(7, 22))


def test_nobody_books_a_blocked_hour_and_the_next_one_is_free(court: Court, member: Member, now: dt.datetime) -> None:
    block_court(court=court, request=BlockRequest(TUESDAY, 17, 2), now=now)
    with pytest.raises(HourTaken):
        book(member=member, court=court, request=ask(18), now=now)
    book(member=member, court=court, request=ask(19), now=now)
    book(member=member, court=court, request=ask(16), now=now)


def test_it_never_takes_an_hour_from_a_booking(court: Court, member: Member, now: dt.datetime) -> None:
    booking = book(member=member, court=court, request=ask(18), now=now)
    with pytest.raises(HourTaken) as taken:
        block_court(court=court, request=BlockRequest(TUESDAY, 8, 12), now=now)
    assert (taken.value.court_id, taken.value.date, taken.value.hours) == (court.pk, TUESDAY, range(8, 20))
    assert (CourtBlock.objects.count(), BookedHour.objects.get().booking) == (0, booking)
    cancel(booking=booking, by=member, now=now)
    block_court(court=court, request=BlockRequest(TUESDAY, 8, 12), now=now)


def test_lifting_it_frees_the_hours(court: Court, member: Member, now: dt.datetime) -> None:
    block = block_court(court=court, request=BlockRequest(TUESDAY, 17, 2), now=now)
    unblock_court(block=block)
    assert (CourtBlock.objects.count(), BookedHour.objects.count()) == (0, 0)
    book(member=member, court=court, request=ask(17, 2), now=now)


@pytest.mark.parametrize(
    ("request_", "codes"),
    [
        (BlockRequest(TUESDAY, 6, 2), ["OUTSIDE_OPENING_HOURS"]),
        (BlockRequest(TUESDAY, 7, 16), ["OUTSIDE_OPENING_HOURS"]),
        (BlockRequest(TUESDAY, 22, 1), ["OUTSIDE_OPENING_HOURS"]),
        (BlockRequest(TUESDAY, 9, 0), ["TOO_FEW_HOURS"]),
        (BlockRequest(MONDAY, 9, 1), ["IN_THE_PAST"]),
        (BlockRequest(dt.date(2026, 3, 8), 9, 12), ["IN_THE_PAST"]),
    ],
)
def test_it_refuses_hours_that_cannot_be_played(court: Court, now: dt.datetime, request_: BlockRequest, codes: list[str]) -> None:
    with pytest.raises(BookingRejected) as rejected:
        block_court(court=court, request=request_, now=now)
    assert rejected.value.codes == codes
    assert not CourtBlock.objects.exists()


def test_it_may_have_begun_and_may_lie_months_ahead(court: Court) -> None:
    now = dt.datetime(2026, 3, 9, 10, 59, tzinfo=LIMA)
    block_court(court=court, request=BlockRequest(MONDAY, 10, 1), now=now)
    block_court(court=court, request=BlockRequest(dt.date(2026, 9, 1), 10, 1), now=now)
    assert CourtBlock.objects.count() == 2


@pytest.mark.parametrize(
    ("wrong", "constraint"),
    [
        ({"start_hour": 6}, "block_starts_while_open"),
        ({"hours": 0}, "block_lasts_an_hour_or_more"),
        ({"start_hour": 21, "hours": 2}, "block_ends_by_closing"),
    ],
)
def test_the_database_refuses_a_block(court: Court, now: dt.datetime, wrong: dict[str, int], constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint):
        CourtBlock.objects.create(**{"court": court, "date": TUESDAY, "start_hour": 9, "hours": 2, "created_at": now, **wrong})


@pytest.mark.parametrize("holders", [0, 2])
def test_the_database_gives_each_hour_one_holder(court: Court, member: Member, now: dt.datetime, holders: int) -> None:
    booking = Booking.objects.create(court=court, member=member, date=TUESDAY, start_hour=9, hours=1, price_centimos=0, created_at=now)
    block = CourtBlock.objects.create(court=court, date=TUESDAY, start_hour=9, hours=1, created_at=now)
    both = {"booking": booking, "block": block} if holders else {}
    with pytest.raises(IntegrityError, match="booked_hour_has_one_holder"):
        BookedHour.objects.create(court=court, date=TUESDAY, hour=9, **both)
