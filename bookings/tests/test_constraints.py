import datetime as dt
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection
from django.db.models import ProtectedError

from bookings.models import BookedHour, Booking, Court, Member
from bookings.services import book
from bookings.values import BookingRequest

TUESDAY = dt.date(2026, 3, 10)
GOOD = {"date": TUESDAY, "start_hour": 19, "hours": 3, "price_centimos": 0}


def test_the_database_takes_a_booking_on_every_limit(court: Court, member: Member, now: dt.datetime) -> None:
    for limits in ({"start_hour": 7, "hours": 1}, {"start_hour": 21, "hours": 1}, {"start_hour": 19, "hours": 3}, {"team_name": "x" * 40}):
        Booking.objects.create(**{"court": court, "member": member, "created_at": now, **GOOD, **limits})
    assert Booking.objects.count() == 4


@pytest.mark.parametrize(
    ("wrong", "constraint"),
    [
        ({"start_hour": 6}, "booking_starts_while_open"),
        ({"start_hour": 22, "hours": 1}, "booking_"),
        ({"hours": 0}, "booking_hours_in_range"),
        ({"start_hour": 10, "hours": 4}, "booking_hours_in_range"),
        ({"start_hour": 20}, "booking_ends_by_closing"),
        ({"price_centimos": -1}, "price"),
        ({"status": "cancelled"}, "booking_cancelled_has_a_time"),
        ({"cancelled_at": dt.datetime(2026, 3, 9, 15, 0, tzinfo=dt.UTC)}, "booking_cancelled_has_a_time"),
        ({"status": "maybe"}, "booking_cancelled_has_a_time"),
    ],
)
def test_the_database_refuses_a_booking(wrong: dict[str, Any], constraint: str, court: Court, member: Member, now: dt.datetime) -> None:
    with pytest.raises(IntegrityError, match=constraint):
        Booking.objects.create(**{"court": court, "member": member, "created_at": now, **GOOD, **wrong})


@pytest.mark.parametrize(
    ("wrong", "constraint"),
    [
        ({"sport": "tenis"}, "court_sport_is_known"),
        ({"price_centimos_per_hour": -1}, "price"),
        ({"price_centimos_per_hour": 1_000_001}, "court_price_in_range"),
        ({"name": "Fulbito 1"}, "name"),
    ],
)
def test_the_database_refuses_a_court(wrong: dict[str, Any], constraint: str, court: Court) -> None:
    with pytest.raises(IntegrityError, match=constraint):
        Court.objects.create(**{"name": "Otra", "sport": "voley", "price_centimos_per_hour": 0, **wrong})


@pytest.mark.parametrize("hour", [6, 22])
def test_the_database_refuses_a_closed_hour(hour: int, court: Court, member: Member, now: dt.datetime) -> None:
    booking = book(member=member, court=court, request=BookingRequest("fulbito", TUESDAY, 10, 1), now=now)
    with pytest.raises(IntegrityError, match="booked_hour_while_open"):
        BookedHour.objects.create(booking=booking, court=court, date=TUESDAY, hour=hour)


def test_the_database_refuses_the_same_hour_twice_in_plain_sql(court: Court, member: Member, now: dt.datetime) -> None:
    booking = book(member=member, court=court, request=BookingRequest("fulbito", TUESDAY, 10, 1), now=now)
    insert = "INSERT INTO bookings_bookedhour (booking_id, court_id, date, hour) VALUES (%s, %s, %s, %s)"
    with connection.cursor() as cursor:
        cursor.execute(insert, [booking.pk, court.pk, "2026-03-10", 11])
        with pytest.raises(IntegrityError):
            cursor.execute(insert, [booking.pk, court.pk, "2026-03-10", 10])


def test_the_database_measures_team_names_in_characters(member: Member) -> None:
    Member.objects.filter(pk=member.pk).update(team_name="ñ" * 40)
    assert Member.objects.get().team_name == "ñ" * 40


def test_a_court_or_member_with_bookings_stays(court: Court, member: Member, now: dt.datetime) -> None:
    book(member=member, court=court, request=BookingRequest("fulbito", TUESDAY, 10, 1), now=now)
    for row in (court, member):
        with pytest.raises(ProtectedError):
            row.delete()


def test_a_member_outlives_the_account(member: Member) -> None:
    user = get_user_model().objects.create_user("rosa", password="una-clave-de-prueba")
    Member.objects.filter(pk=member.pk).update(user=user)
    user.delete()
    assert Member.objects.get().user is None
