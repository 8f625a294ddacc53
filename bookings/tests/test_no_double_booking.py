"""No double booking, whatever happens: the unique constraint decides who was first."""

import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from bookings.clock import now_in_lima
from bookings.models import BookedHour, Booking, Court, CourtBlock, Member
from bookings.rules import CLOSES_AT, OPENS_AT
from bookings.services import HourTaken, block_court, book
from bookings.tests.crowd import all_at_once, make_neighbours, post, tomorrow
from bookings.values import BlockRequest, BookingRequest

pytestmark = pytest.mark.django_db(transaction=True)

OVERLAPS = """
    WITH taken AS (
        SELECT 'booking' AS kind, id, court_id, date, start_hour, hours FROM bookings_booking WHERE status = 'confirmed'
        UNION ALL SELECT 'block', id, court_id, date, start_hour, hours FROM bookings_courtblock
    )
    SELECT count(*) FROM taken a JOIN taken b ON a.court_id = b.court_id AND a.date = b.date AND (a.kind, a.id) < (b.kind, b.id)
    WHERE a.start_hour < b.start_hour + b.hours AND b.start_hour < a.start_hour + a.hours
"""
HOURS_WITHOUT_A_ROW = """
    SELECT (SELECT sum(hours) FROM bookings_booking WHERE status = 'confirmed')
        + (SELECT coalesce(sum(hours), 0) FROM bookings_courtblock) - (SELECT count(*) FROM bookings_bookedhour)
"""


def count_by_sql(query: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.fetchone()[0])


def fifty_for_one_hour(neighbours: list[Client], court: Court, number: int) -> Counter[int]:
    """Statuses of a round: everybody wants the same court and hour, another one in each round."""
    day, hour = divmod(number, CLOSES_AT - OPENS_AT)
    body = {"court": court.pk, "sport": "fulbito", "date": tomorrow(day).isoformat(), "startHour": OPENS_AT + hour, "hours": 1}
    answers = all_at_once([partial(post, neighbour, body) for neighbour in neighbours])
    losers = [answer.json() for answer in answers if answer.status_code == 409]
    assert all(loser["codes"] == ["HOUR_TAKEN"] and "ocupada" in loser["detail"] for loser in losers)
    return Counter(answer.status_code for answer in answers)


@pytest.mark.parametrize("times", [5, pytest.param(20, marks=pytest.mark.faults)])
def test_of_fifty_at_once_one_gets_the_hour_each_time(court: Court, times: int) -> None:
    neighbours = make_neighbours(50)
    rounds = [fifty_for_one_hour(neighbours, court, number) for number in range(times)]
    assert rounds == [Counter({201: 1, 409: 49})] * times
    assert (Booking.objects.count(), BookedHour.objects.count(), count_by_sql(OVERLAPS)) == (times, times, 0)


def test_control_without_the_constraint_many_get_the_same_hour(court: Court, no_unique_hours: None) -> None:
    statuses = fifty_for_one_hour(make_neighbours(50), court, 0)
    assert statuses[201] > 1
    assert Booking.objects.count() == BookedHour.objects.count() == statuses[201]
    assert count_by_sql(OVERLAPS) > 0


def a_crowded_day(neighbours: list[Client], courts: list[Court], seed: int) -> None:
    """200 requests of 1 to 3 hours over one day of three courts: by the API, at the desk, and blocks for maintenance."""
    dice = random.Random(seed)
    date = tomorrow(seed % 10)
    asked = [(dice.choice(courts), hours, dice.randint(OPENS_AT, CLOSES_AT - hours)) for hours in dice.choices([1, 2, 3], k=200)]
    ways = [by_api(dice.choice(neighbours)), at_the_desk, for_maintenance]
    acts = [partial(dice.choices(ways, [6, 3, 1])[0], court, date, start, hours) for court, hours, start in asked]
    got = all_at_once(acts)
    assert set(got) == {True, False}
    taken = set(BookedHour.objects.filter(date=date).values_list("court", "hour"))
    for (court, hours, start), was_taken in zip(asked, got, strict=True):
        wanted = {(court.pk, hour) for hour in range(start, start + hours)}
        assert wanted <= taken if was_taken else wanted & taken, "refused without a reason, or taken and lost"


def by_api(neighbour: Client) -> Callable[..., bool]:
    def act(court: Court, date: Any, start: int, hours: int) -> bool:
        answer = post(neighbour, {"court": court.pk, "date": date.isoformat(), "startHour": start, "hours": hours})
        assert answer.status_code in {201, 409}, answer.content
        return bool(answer.status_code == 201)

    return act


def at_the_desk(court: Court, date: Any, start: int, hours: int) -> bool:
    try:
        book(member=Member.objects.earliest("pk"), court=court, request=BookingRequest(court.sport, date, start, hours), now=now_in_lima())
    except HourTaken:
        return False
    return True


def for_maintenance(court: Court, date: Any, start: int, hours: int) -> bool:
    try:
        block_court(court=court, request=BlockRequest(date, start, hours), now=now_in_lima())
    except HourTaken:
        return False
    return True


def assert_what_is_left_can_be_booked(neighbour: Client, courts: list[Court]) -> None:
    """Every hour between two bookings is free for a third that touches both."""
    for date in set(BookedHour.objects.values_list("date", flat=True)):
        taken = set(BookedHour.objects.filter(date=date).values_list("court", "hour"))
        left = [(court, hour) for court in courts for hour in range(OPENS_AT, CLOSES_AT) if (court.pk, hour) not in taken]
        assert all(by_api(neighbour)(court, date, hour, 1) for court, hour in left)
        assert BookedHour.objects.filter(date=date).count() == len(courts) * (CLOSES_AT - OPENS_AT)


@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.faults)])
def test_two_hundred_of_one_to_three_hours_leave_no_overlap(court: Court, rounds: int) -> None:
    courts = [court, *(Court.objects.create(name=f"Fulbito {n}", sport="fulbito", price_centimos_per_hour=1) for n in (2, 3))]
    neighbours = make_neighbours(20)
    for seed in range(rounds):
        Booking.objects.all().delete()
        CourtBlock.objects.all().delete()
        a_crowded_day(neighbours, courts, seed)
        assert (count_by_sql(OVERLAPS), count_by_sql(HOURS_WITHOUT_A_ROW)) == (0, 0)
        assert_what_is_left_can_be_booked(neighbours[0], courts)
        assert (count_by_sql(OVERLAPS), count_by_sql(HOURS_WITHOUT_A_ROW)) == (0, 0)
