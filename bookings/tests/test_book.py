import datetime as dt
from threading import Thread

import pytest
from django.db import IntegrityError, connection, transaction

from bookings.models import BookedHour, Booking, Court, Member
from bookings.services import BookingRejected, HourTaken, book
from bookings.values import BookingRequest

TUESDAY = dt.date(2026, 3, 10)


def ask(start_hour: int = 18, hours: int = 1, sport: str = "fulbito", team_name: str = "") -> BookingRequest:
    return BookingRequest(sport=sport, date=TUESDAY, start_hour=start_hour, hours=hours, team_name=team_name)


def test_it_stores_the_booking_with_its_hours_and_price(court: Court, member: Member, now: dt.datetime) -> None:
    booking = book(member=member, court=court, request=ask(18, 3, team_name="Los Halcones"), now=now)
    booking.refresh_from_db()
    assert (booking.member, booking.court, booking.date, booking.start_hour, booking.hours) == (member, court, TUESDAY, 18, 3)
    assert (booking.price_centimos, booking.status, booking.team_name) == (18150, "confirmed", "Los Halcones")
    assert (booking.created_at, booking.cancelled_at) == (now, None)
    assert list(BookedHour.objects.values_list("court", "date", "hour")) == [(court.pk, TUESDAY, hour) for hour in (18, 19, 20)]
    assert str(booking) == "Fulbito 1, 10/03/2026, 18 a 21 h"


@pytest.mark.parametrize(("start_hour", "hours"), [(19, 1), (17, 1), (16, 2), (19, 3)])
def test_it_lets_bookings_touch(start_hour: int, hours: int, court: Court, member: Member, other: Member, now: dt.datetime) -> None:
    book(member=member, court=court, request=ask(18, 1), now=now)
    book(member=other, court=court, request=ask(start_hour, hours), now=now)
    assert BookedHour.objects.count() == 1 + hours


@pytest.mark.parametrize(("start_hour", "hours"), [(18, 1), (17, 2), (17, 3), (18, 2), (16, 3)])
def test_it_leaves_nothing_behind_when_an_hour_is_taken(
    start_hour: int, hours: int, court: Court, member: Member, other: Member, now: dt.datetime
) -> None:
    first = book(member=member, court=court, request=ask(18, 1), now=now)
    with pytest.raises(HourTaken) as taken:
        book(member=other, court=court, request=ask(start_hour, hours), now=now)
    assert (taken.value.court_id, taken.value.date, taken.value.hours) == (court.pk, TUESDAY, range(start_hour, start_hour + hours))
    assert list(Booking.objects.all()) == [first]
    assert BookedHour.objects.count() == 1


def test_a_taken_hour_of_one_court_is_free_in_another(court: Court, member: Member, now: dt.datetime) -> None:
    second = Court.objects.create(name="Fulbito 2", sport="fulbito", price_centimos_per_hour=0)
    book(member=member, court=court, request=ask(18), now=now)
    assert book(member=member, court=second, request=ask(18), now=now).price_centimos == 0


def test_it_rejects_broken_rules_and_the_wrong_court_together(court: Court, member: Member, now: dt.datetime) -> None:
    court.active = False
    with pytest.raises(BookingRejected) as rejected:
        book(member=member, court=court, request=ask(start_hour=8, hours=4, sport="voley"), now=now)
    assert rejected.value.codes == ["TOO_MANY_HOURS", "WRONG_COURT", "INACTIVE_COURT"]
    assert not Booking.objects.exists()


def test_it_keeps_the_surrounding_transaction_usable(court: Court, member: Member, now: dt.datetime) -> None:
    with transaction.atomic():
        book(member=member, court=court, request=ask(18), now=now)
        with pytest.raises(HourTaken):
            book(member=member, court=court, request=ask(18), now=now)
        book(member=member, court=court, request=ask(20), now=now)
    assert list(BookedHour.objects.values_list("hour", flat=True)) == [18, 20]


def test_it_calls_no_other_broken_constraint_a_taken_hour(court: Court, member: Member, now: dt.datetime) -> None:
    court.price_centimos_per_hour = -100
    with pytest.raises(IntegrityError, match="price"):
        book(member=member, court=court, request=ask(18), now=now)
    assert not Booking.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_without_the_unique_constraint_two_people_get_the_same_hour(
    court: Court, member: Member, other: Member, now: dt.datetime, no_unique_hours: None
) -> None:
    """The control: it is the constraint that decides, not a look before the leap."""
    book(member=member, court=court, request=ask(18), now=now)
    book(member=other, court=court, request=ask(18), now=now)
    assert BookedHour.objects.filter(court=court, date=TUESDAY, hour=18).count() == 2


@pytest.mark.django_db(transaction=True)
def test_another_connection_gets_the_hour_taken(court: Court, member: Member, other: Member, now: dt.datetime) -> None:
    book(member=member, court=court, request=ask(18), now=now)
    outcomes: list[str] = []

    def try_to_book() -> None:
        try:
            book(member=other, court=court, request=ask(17, 2), now=now)
        except HourTaken:
            outcomes.append("taken")
        finally:
            connection.close()

    thread = Thread(target=try_to_book)
    thread.start()
    thread.join(timeout=30)
    assert outcomes == ["taken"]
    assert Booking.objects.get().member == member
