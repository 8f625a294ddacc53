import datetime as dt

import pytest

from bookings.clock import LIMA, now_in_lima
from bookings.rules import RULE_MESSAGES, check_booking_rules
from bookings.services import REJECTION_MESSAGES
from bookings.values import BookingRequest

MONDAY_10 = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)
TUESDAY = dt.date(2026, 3, 10)


def ask(sport: str = "fulbito", date: dt.date = TUESDAY, start_hour: int = 19, hours: int = 1, team_name: str = "") -> BookingRequest:
    return BookingRequest(sport=sport, date=date, start_hour=start_hour, hours=hours, team_name=team_name)


@pytest.mark.parametrize(
    ("request_", "codes"),
    [
        (ask(), []),
        (ask(sport="voley"), []),
        (ask(sport="basquet"), []),
        (ask(start_hour=7), []),
        (ask(start_hour=6), ["OUTSIDE_OPENING_HOURS"]),
        (ask(start_hour=0), ["OUTSIDE_OPENING_HOURS"]),
        (ask(start_hour=-5), ["OUTSIDE_OPENING_HOURS"]),
        (ask(start_hour=21), []),
        (ask(start_hour=22), ["OUTSIDE_OPENING_HOURS"]),
        (ask(start_hour=23), ["OUTSIDE_OPENING_HOURS"]),
        (ask(start_hour=19, hours=3), []),
        (ask(start_hour=20, hours=3), ["OUTSIDE_OPENING_HOURS"]),
        (ask(start_hour=21, hours=2), ["OUTSIDE_OPENING_HOURS"]),
        (ask(start_hour=22, hours=0), ["OUTSIDE_OPENING_HOURS", "TOO_FEW_HOURS"]),
        (ask(hours=0), ["TOO_FEW_HOURS"]),
        (ask(hours=-1), ["TOO_FEW_HOURS"]),
        (ask(start_hour=10, hours=4), ["TOO_MANY_HOURS"]),
        (ask(start_hour=10, hours=5), ["TOO_MANY_HOURS"]),
        (ask(start_hour=19, hours=5), ["OUTSIDE_OPENING_HOURS", "TOO_MANY_HOURS"]),
        (ask(date=dt.date(2026, 3, 23)), []),
        (ask(date=dt.date(2026, 3, 24)), ["TOO_FAR_AHEAD"]),
        (ask(date=dt.date.max), ["TOO_FAR_AHEAD"]),
        (ask(date=dt.date(2026, 3, 8)), ["IN_THE_PAST"]),
        (ask(date=dt.date.min), ["IN_THE_PAST"]),
        (ask(date=dt.date(2026, 3, 9), start_hour=9), ["IN_THE_PAST"]),
        (ask(date=dt.date(2026, 3, 9), start_hour=10), ["IN_THE_PAST"]),
        (ask(date=dt.date(2026, 3, 9), start_hour=11), []),
        (ask(sport="tenis"), ["UNKNOWN_SPORT"]),
        (ask(sport="Fulbito"), ["UNKNOWN_SPORT"]),
        (ask(sport="vóley"), ["UNKNOWN_SPORT"]),
        (ask(sport=""), ["UNKNOWN_SPORT"]),
        (ask(team_name="x" * 40), []),
        (ask(team_name="x" * 41), ["TEAM_NAME_TOO_LONG"]),
        (
            ask(sport="tenis", date=dt.date(2026, 3, 8), start_hour=5, hours=6, team_name="x" * 41),
            ["UNKNOWN_SPORT", "OUTSIDE_OPENING_HOURS", "TOO_MANY_HOURS", "IN_THE_PAST", "TEAM_NAME_TOO_LONG"],
        ),
    ],
)
def test_it_names_every_broken_rule(request_: BookingRequest, codes: list[str]) -> None:
    assert check_booking_rules(request_, MONDAY_10) == codes


@pytest.mark.parametrize(
    ("now", "codes"),
    [
        (dt.datetime(2026, 3, 9, 18, 59, 59, 999_999, tzinfo=LIMA), []),
        (dt.datetime(2026, 3, 9, 19, 0, tzinfo=LIMA), ["IN_THE_PAST"]),
        (dt.datetime(2026, 3, 9, 19, 30, tzinfo=LIMA), ["IN_THE_PAST"]),
    ],
)
def test_it_counts_an_hour_as_past_from_its_first_instant(now: dt.datetime, codes: list[str]) -> None:
    assert check_booking_rules(ask(date=dt.date(2026, 3, 9), start_hour=19), now) == codes


def test_it_reads_the_date_in_lima_whatever_the_zone_of_now() -> None:
    late_in_lima = dt.datetime(2026, 3, 10, 3, 30, tzinfo=dt.UTC)  # Monday 9 March, 22:30 in Lima
    assert check_booking_rules(ask(date=dt.date(2026, 3, 10), start_hour=7), late_in_lima) == []
    assert check_booking_rules(ask(date=dt.date(2026, 3, 24)), late_in_lima) == ["TOO_FAR_AHEAD"]
    assert check_booking_rules(ask(date=dt.date(2026, 3, 9), start_hour=21), late_in_lima) == ["IN_THE_PAST"]


def test_it_refuses_a_clock_without_zone() -> None:
    naive = dt.datetime(2026, 3, 9, 10, 0)  # noqa: DTZ001 -- the mistake under test
    with pytest.raises(ValueError, match="no time zone"):
        check_booking_rules(ask(), naive)


def test_it_explains_each_code_in_one_sentence() -> None:
    assert set(RULE_MESSAGES) == {
        "UNKNOWN_SPORT",
        "OUTSIDE_OPENING_HOURS",
        "TOO_FEW_HOURS",
        "TOO_MANY_HOURS",
        "TOO_FAR_AHEAD",
        "IN_THE_PAST",
        "TEAM_NAME_TOO_LONG",
    }
    assert all(message.endswith(".") and len(message) < 100 for message in REJECTION_MESSAGES.values())
    assert RULE_MESSAGES["TOO_MANY_HOURS"] == "Una reserva dura como máximo 3 horas seguidas."


def test_the_clock_of_lima_takes_any_clock() -> None:
    here = now_in_lima(lambda: dt.datetime(2026, 3, 9, 15, 0, tzinfo=dt.UTC))
    assert here.isoformat() == "2026-03-09T10:00:00-05:00"
