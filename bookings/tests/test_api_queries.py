"""The API asks the database as often for many rows as for few."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bookings.clock import now_in_lima
from bookings.models import Booking, Court, Member
from bookings.services import book
from bookings.tests.crowd import BOOKINGS, make_neighbours, tomorrow
from bookings.values import BookingRequest

pytestmark = pytest.mark.django_db


def make_bookings(count: int) -> None:
    """Bookings of the first member, an hour each, court after court of the same day."""
    courts = [Court.objects.create(name=f"Fulbito {n}", sport="fulbito", price_centimos_per_hour=1) for n in range(-(-count // 15))]
    member, now = Member.objects.earliest("pk"), now_in_lima()
    for number in range(count):
        asked = BookingRequest("fulbito", tomorrow(), 7 + number % 15, 1)
        book(member=member, court=courts[number // 15], request=asked, now=now)


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return len(asked)


@pytest.mark.parametrize("address", [BOOKINGS, "/api/v1/availability/?date={}", "/api/v1/courts/"])
def test_twenty_bookings_and_two_hundred_take_the_same_queries(address: str) -> None:
    """Session and account, and two of the address's own."""
    (rosa,) = make_neighbours(1)
    make_bookings(20)
    few = queries(rosa, address.format(tomorrow()))
    Booking.objects.all().delete()
    Court.objects.all().delete()
    make_bookings(200)
    assert (few, queries(rosa, address.format(tomorrow()))) == (4, 4)
