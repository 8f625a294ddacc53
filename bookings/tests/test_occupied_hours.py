import datetime as dt
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bookings.models import Booking, Court, Member
from bookings.selectors import day_grids, occupied_hours
from bookings.services import book, cancel
from bookings.values import BookingRequest, OccupiedHour

TUESDAY, WEDNESDAY = dt.date(2026, 3, 10), dt.date(2026, 3, 11)
Take = Callable[..., Booking]


@pytest.fixture
def take(member: Member, now: dt.datetime) -> Take:
    def _take(court: Court, date: dt.date, start_hour: int, hours: int = 1, team: str = "") -> Booking:
        request = BookingRequest(court.sport, date, start_hour, hours, team)
        return book(member=member, court=court, request=request, now=now)

    return _take


def test_an_hour_is_occupied_when_the_only_court_is_taken(court: Court, take: Take) -> None:
    take(court, TUESDAY, 18, 2, "Los Halcones")
    assert occupied_hours(date_from=TUESDAY, date_to=TUESDAY) == [
        OccupiedHour(TUESDAY, "fulbito", 18, "Los Halcones"),
        OccupiedHour(TUESDAY, "fulbito", 19, "Los Halcones"),
    ]


def test_an_hour_is_free_while_one_court_is(court: Court, take: Take) -> None:
    second = Court.objects.create(name="Fulbito 2", sport="fulbito", price_centimos_per_hour=5000)
    Court.objects.create(name="Vóley", sport="voley", price_centimos_per_hour=5000)
    take(court, TUESDAY, 18, 2, "Uno")
    assert occupied_hours(date_from=TUESDAY, date_to=TUESDAY) == []
    take(second, TUESDAY, 19, 2, "Dos")
    assert occupied_hours(date_from=TUESDAY, date_to=TUESDAY) == [OccupiedHour(TUESDAY, "fulbito", 19, "Uno, Dos")]


def test_a_court_out_of_service_does_not_count(court: Court, take: Take) -> None:
    second = Court.objects.create(name="Fulbito 2", sport="fulbito", price_centimos_per_hour=5000)
    take(court, TUESDAY, 18)
    take(second, TUESDAY, 20)
    Court.objects.filter(pk=second.pk).update(active=False)
    assert [hour.hour for hour in occupied_hours(date_from=TUESDAY, date_to=TUESDAY)] == [18]


def test_both_dates_are_included_and_the_order_is_by_date_sport_hour(court: Court, take: Take) -> None:
    volley = Court.objects.create(name="Vóley", sport="voley", price_centimos_per_hour=5000)
    take(volley, TUESDAY, 8)
    take(court, WEDNESDAY, 9)
    take(court, TUESDAY, 20)
    take(court, dt.date(2026, 3, 12), 9)
    found = occupied_hours(date_from=TUESDAY, date_to=WEDNESDAY)
    assert [(hour.date, hour.sport, hour.hour) for hour in found] == [
        (TUESDAY, "fulbito", 20),
        (TUESDAY, "voley", 8),
        (WEDNESDAY, "fulbito", 9),
    ]


def test_a_cancelled_booking_occupies_nothing(court: Court, take: Take, member: Member, now: dt.datetime) -> None:
    cancel(booking=take(court, TUESDAY, 18), by=member, now=now)
    assert occupied_hours(date_from=TUESDAY, date_to=TUESDAY) == []


def test_it_asks_the_database_twice_for_one_booking_or_many(court: Court, take: Take) -> None:
    for hour in range(7, 22):
        take(court, TUESDAY, hour)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert len(occupied_hours(date_from=TUESDAY, date_to=TUESDAY)) == 15
    assert len(queries) == 2


def test_the_grid_of_a_day_has_every_opening_hour_of_every_active_court(court: Court, take: Take) -> None:
    Court.objects.create(name="Vóley", sport="voley", price_centimos_per_hour=5000)
    Court.objects.create(name="En obras", sport="fulbito", price_centimos_per_hour=5000, active=False)
    booking = take(court, TUESDAY, 18, 2)
    fulbito, voley = day_grids(TUESDAY)
    assert (fulbito.court, voley.court.name) == (court, "Vóley")
    assert [row.hour for row in fulbito.hours] == list(range(7, 22))
    assert [row.hour for row in fulbito.hours if row.booking == booking] == [18, 19]
    assert all(row.booking is None for row in [*voley.hours, *day_grids(WEDNESDAY)[0].hours])
