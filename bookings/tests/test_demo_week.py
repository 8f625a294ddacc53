"""The demo's week: plausible, the same for the same day, and never over what a person did."""

import datetime as dt
import time
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bookings.clock import LIMA
from bookings.demo import NEIGHBOUR_EMAIL, PLAYERS, seed_complex, seed_neighbour, seed_week
from bookings.models import BookedHour, Booking, Court, CourtBlock, Member
from bookings.services import cancel

pytestmark = pytest.mark.django_db
NOW = dt.datetime(2026, 3, 10, 11, 20, tzinfo=LIMA)  # a Tuesday
TODAY = NOW.date()
PASSWORD = "vecina-demo"


def seed(now: dt.datetime = NOW) -> list[str]:
    return [*seed_complex(), *seed_neighbour(password=PASSWORD), *seed_week(now=now)]


def rows() -> list[tuple]:
    shown = ("court__name", "member__name", "date", "start_hour", "hours", "team_name", "status", "created_at")
    return list(Booking.objects.order_by("date", "start_hour", "court__name").values_list(*shown))


def taken(date: dt.date, hours: range) -> float:
    """The part of a day's hours that the courts are taken."""
    return BookedHour.objects.filter(date=date, hour__in=hours).count() / (len(hours) * Court.objects.count())


def test_each_sport_has_courts_and_players():
    seed()
    assert Counter(Court.objects.values_list("sport", flat=True)) == {"fulbito": 3, "voley": 2, "basquet": 2}
    assert Member.objects.count() == sum(len(players) for players in PLAYERS.values()) + 1
    teams = [team for players in PLAYERS.values() for _, team in players]
    assert len(teams) == len(set(teams))


@pytest.mark.parametrize("hour", [6, 13, 23])
def test_at_any_hour_of_any_weekday_it_looks_like_a_week(hour: int):
    for days in range(7):
        now = NOW.replace(hour=hour) + dt.timedelta(days=days)
        seed(now)
        today = now.date()
        ahead = Booking.objects.filter(date__gte=today, status="confirmed")
        assert 100 < ahead.count() < 260
        assert all(ahead.filter(date=today + dt.timedelta(days=number)).exists() for number in range(7))
        assert Booking.objects.filter(date__lt=today).exists()
        assert not Booking.objects.filter(created_at__gt=now).exists()
        CourtBlock.objects.all().delete()
        Booking.objects.all().delete()


def test_evenings_and_weekends_are_fuller_and_hours_stay_free():
    seed()
    thursday, saturday = TODAY + dt.timedelta(days=2), TODAY + dt.timedelta(days=4)
    assert taken(thursday, range(18, 22)) > 0.5 > 0.4 > taken(thursday, range(13, 16))
    assert taken(saturday, range(9, 13)) > taken(thursday, range(13, 16))
    for days in range(10):
        assert taken(TODAY + dt.timedelta(days=days), range(7, 22)) < 0.8


def test_nobody_plays_on_two_courts_at_once():
    seed()
    held = Counter(BookedHour.objects.filter(booking__isnull=False).values_list("booking__member", "date", "hour"))
    assert max(held.values()) == 1


def test_a_court_is_being_mended_and_some_bookings_were_cancelled():
    seed()
    block = CourtBlock.objects.get()
    assert (block.date, block.start_hour, block.hours) == (TODAY + dt.timedelta(days=2), 8, 4)
    assert list(block.booked_hours.values_list("hour", flat=True)) == [8, 9, 10, 11]
    assert 0 < Booking.objects.filter(status="cancelled").count() < 25


def test_the_same_day_gets_the_same_week():
    seed()
    first = rows()
    CourtBlock.objects.all().delete()
    Booking.objects.all().delete()
    seed()
    assert rows() == first


def test_a_second_time_it_writes_nothing_and_is_quick():
    seed()
    started = time.process_time()
    with CaptureQueriesContext(connection) as captured:
        assert seed() == []
    assert time.process_time() - started < 1
    assert len(captured) == 4
    assert all(query["sql"].startswith("SELECT") for query in captured)


def test_what_a_person_did_stays():
    seed()
    chosen = Booking.objects.filter(date__gt=TODAY, status="confirmed").earliest("pk")
    cancel(booking=chosen, by=chosen.member, now=NOW)
    CourtBlock.objects.all().delete()
    Member.objects.filter(name="Rosa Quispe").update(team_name="Otro nombre")
    User.objects.filter(username=NEIGHBOUR_EMAIL).update(first_name="Lucha")
    before = rows()
    assert seed(NOW + dt.timedelta(days=1)) == []
    assert rows() == before
    assert Member.objects.get(name="Rosa Quispe").team_name == "Otro nombre"


def test_weeks_later_there_is_a_new_week_beside_the_old_one():
    seed()
    before = rows()
    seed(NOW + dt.timedelta(days=21))
    assert rows()[: len(before)] == before
    assert Booking.objects.filter(date__gte=TODAY + dt.timedelta(days=21)).count() > 100


def test_a_complex_of_ones_own_gets_no_invented_people():
    Court.objects.create(name="Mi losa", sport="fulbito", price_centimos_per_hour=1)
    Member.objects.create(name="Mi vecina")
    seed()
    assert (Court.objects.count(), Member.objects.count()) == (1, 2)
    assert set(Booking.objects.values_list("member__user__username", flat=True)) == {NEIGHBOUR_EMAIL}


def test_the_neighbour_gets_in_and_finds_her_bookings(client: Client, settings):
    list(seed_complex())
    list(seed_neighbour(password=PASSWORD))
    list(seed_week(now=dt.datetime.now(LIMA)))
    assert client.login(username=NEIGHBOUR_EMAIL, password=PASSWORD)
    shown = client.get("/mis-reservas/").content.decode()
    assert shown.count("Losa 1") >= 2
    account = User.objects.get(username=NEIGHBOUR_EMAIL)
    assert (account.is_staff, account.is_superuser, account.get_all_permissions()) == (False, False, set())
