import datetime as dt

import pytest

from bookings.clock import LIMA
from bookings.models import BookedHour, Booking, Court, Member
from bookings.services import CANCEL_MESSAGES, CancelRefused, book, cancel
from bookings.values import BookingRequest

TUESDAY = dt.date(2026, 3, 10)


@pytest.fixture
def booking(court: Court, member: Member, now: dt.datetime) -> Booking:
    return book(member=member, court=court, request=BookingRequest("fulbito", TUESDAY, 18, 2), now=now)


def test_it_frees_the_hours_and_keeps_the_row(booking: Booking, court: Court, member: Member, other: Member, now: dt.datetime) -> None:
    cancelled = cancel(booking=booking, by=member, now=now)
    assert (cancelled.pk, cancelled.status, cancelled.cancelled_at) == (booking.pk, "cancelled", now)
    assert not BookedHour.objects.exists()
    again = book(member=other, court=court, request=BookingRequest("fulbito", TUESDAY, 18, 2), now=now)
    assert list(BookedHour.objects.values_list("booking", "hour")) == [(again.pk, 18), (again.pk, 19)]


def test_it_is_possible_until_the_hour_begins(booking: Booking, member: Member) -> None:
    cancel(booking=booking, by=member, now=dt.datetime(2026, 3, 10, 17, 59, 59, tzinfo=LIMA))
    assert Booking.objects.get().status == "cancelled"


@pytest.mark.parametrize("begun", [dt.datetime(2026, 3, 10, 23, 0, tzinfo=dt.UTC), dt.datetime(2026, 3, 11, 9, 0, tzinfo=LIMA)])
def test_it_refuses_from_the_first_instant_of_the_hour(begun: dt.datetime, booking: Booking, member: Member) -> None:
    with pytest.raises(CancelRefused) as refused:
        cancel(booking=booking, by=member, now=begun)
    assert (refused.value.code, refused.value.booking_id) == ("ALREADY_BEGUN", booking.pk)
    assert (Booking.objects.get().status, BookedHour.objects.count()) == ("confirmed", 2)


def test_it_refuses_somebody_elses_booking(booking: Booking, other: Member, now: dt.datetime) -> None:
    with pytest.raises(CancelRefused, match="NOT_YOURS"):
        cancel(booking=booking, by=other, now=now)
    assert BookedHour.objects.count() == 2


def test_it_happens_once_even_from_a_stale_object(booking: Booking, member: Member, now: dt.datetime) -> None:
    stale = Booking.objects.get()
    cancel(booking=booking, by=member, now=now)
    with pytest.raises(CancelRefused, match="ALREADY_CANCELLED"):
        cancel(booking=stale, by=member, now=now + dt.timedelta(hours=1))
    assert Booking.objects.get().cancelled_at == now


def test_it_explains_each_refusal() -> None:
    assert set(CANCEL_MESSAGES) == {"NOT_YOURS", "ALREADY_CANCELLED", "ALREADY_BEGUN"}
