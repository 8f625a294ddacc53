"""What confirming a draft does to the database, and that nothing of it stays."""

from datetime import date, datetime
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection, transaction

from bookings.models import Booking, Court, Member
from bookings.services import book
from bookings.values import BookingRequest
from evals.effects import check_effect
from evals.tests.examples import FULBITO, MONDAY_AT_TEN, TUESDAY, make_case
from evals.values import CaseSpec, DraftFields, Occupied

pytestmark = pytest.mark.django_db
LATER = datetime(2026, 6, 1, 8, 0, tzinfo=ZoneInfo("America/Lima"))
RIGHT_ROW = {"member": "Rosa Quispe", "sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}
TABLES = ("bookings_booking", "bookings_bookedhour", "bookings_court", "bookings_member")


def case_of_rosa(**facts: Any) -> CaseSpec:
    """Rosa Quispe, on Monday at 10 h, expects fulbito on Tuesday at 19 h for one hour."""
    return make_case(**({"member": "Rosa Quispe"} | facts))


def rows_left() -> int:
    """Rows in the tables of bookings, asked past the models."""
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT count(*) FROM {table}" for table in TABLES))  # noqa: S608 -- our own names
        return sum(count for (count,) in cursor.fetchall())


def test_the_right_draft_makes_the_expected_booking_of_the_session_s_member() -> None:
    check = check_effect(case_of_rosa(), FULBITO, now=LATER)
    assert (check.correct, check.rows, check.detail) == (True, (RIGHT_ROW,), "")


@pytest.mark.parametrize(
    ("draft", "appeared", "said"),
    [
        (DraftFields("fulbito", TUESDAY, 20, 1), {"startHour": 20}, "'startHour': 20"),
        (DraftFields("fulbito", TUESDAY, 19, 2), {"hours": 2}, "'hours': 2"),
        (DraftFields("fulbito", date(2026, 3, 11), 19, 1), {"date": "2026-03-11"}, "2026-03-11"),
    ],
)
def test_another_booking_is_not_the_expected_one(draft: DraftFields, appeared: dict[str, Any], said: str) -> None:
    check = check_effect(case_of_rosa(), draft, now=LATER)
    assert (check.correct, check.rows) == (False, (RIGHT_ROW | appeared,))
    assert said in check.detail


@pytest.mark.parametrize(
    ("draft", "code"),
    [
        (DraftFields("voley", TUESDAY, 19, 1), "WRONG_COURT"),
        (DraftFields("tenis", TUESDAY, 19, 1), "UNKNOWN_SPORT"),
        (DraftFields("fulbito", TUESDAY, 22, 1), "OUTSIDE_OPENING_HOURS"),
        (DraftFields("fulbito", TUESDAY, 10, 4), "TOO_MANY_HOURS"),
        (DraftFields("fulbito", date(2026, 3, 24), 19, 1), "TOO_FAR_AHEAD"),
        (DraftFields("fulbito", date(2026, 3, 9), 10, 1), "IN_THE_PAST"),
    ],
)
def test_what_the_booking_service_refuses_makes_no_row(draft: DraftFields, code: str) -> None:
    check = check_effect(case_of_rosa(), draft, now=LATER)
    assert (check.correct, check.rows) == (False, ())
    assert code in check.detail


def test_the_rules_are_read_on_the_case_s_clock() -> None:
    """In June that Tuesday of March is long gone; the case says that it is March."""
    assert check_effect(case_of_rosa(now=MONDAY_AT_TEN), FULBITO, now=LATER).correct
    assert "IN_THE_PAST" in check_effect(case_of_rosa(now=None), FULBITO, now=LATER).detail


@pytest.mark.parametrize(
    ("hour", "taken"),
    [(18, False), (19, True), (20, True), (21, False)],
)
def test_a_taken_hour_makes_no_row(hour: int, taken: bool) -> None:
    expected = DraftFields("fulbito", TUESDAY, 19, 2)
    case = case_of_rosa(occupied=(Occupied(TUESDAY, "fulbito", hour, "Los Halcones"),))
    check = check_effect(case, expected, now=LATER)
    assert (check.rows == (), "tomada" in check.detail) == (taken, taken)


@pytest.mark.parametrize("occupied", [Occupied(TUESDAY, "voley", 19), Occupied(date(2026, 3, 11), "fulbito", 19)])
def test_the_same_hour_of_another_sport_or_day_is_free(occupied: Occupied) -> None:
    assert check_effect(case_of_rosa(occupied=(occupied,)), FULBITO, now=LATER).correct


def test_no_draft_is_no_booking() -> None:
    check = check_effect(case_of_rosa(), None, now=LATER)
    assert (check.correct, check.rows, check.detail) == (False, (), "No hubo borrador que confirmar.")


def test_real_bookings_neither_help_nor_hinder() -> None:
    court = Court.objects.create(name="Losa 1", sport="fulbito", price_centimos_per_hour=6_000)
    member = Member.objects.create(name="Rosa Quispe")
    book(member=member, court=court, request=BookingRequest("fulbito", TUESDAY, 19, 1), now=MONDAY_AT_TEN)
    assert check_effect(case_of_rosa(), FULBITO, now=LATER).correct
    assert (Booking.objects.count(), Court.objects.get(), Member.objects.get()) == (1, court, member)


@pytest.mark.parametrize("draft", [FULBITO, DraftFields("fulbito", TUESDAY, 20, 1), DraftFields("voley", TUESDAY, 19, 1)])
def test_nothing_of_it_stays(draft: DraftFields) -> None:
    check_effect(case_of_rosa(), draft, now=LATER)
    assert rows_left() == 0


def test_without_the_rollback_the_booking_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the test above: a booking, its hour, its court and its member."""
    monkeypatch.setattr("evals.effects.transaction", SimpleNamespace(atomic=transaction.atomic, set_rollback=lambda rollback: None))
    check_effect(case_of_rosa(), FULBITO, now=LATER)
    assert rows_left() == 4
