import ast
import datetime as dt
import json
from pathlib import Path

import pytest

from bookings.clock import LIMA
from bookings.rules import check_booking_rules
from bookings.values import BookingRequest
from evals import oracle
from evals.oracle import draft_breaks_rules, text_is_valid_draft

NOW = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)
GOOD = '{"action":"draft","sport":"fulbito","date":"2026-03-10","startHour":19,"hours":1}'


@pytest.mark.parametrize(
    ("facts", "breaks"),
    [
        (("fulbito", "2026-03-10", 19, 1), False),
        (("voley", "2026-03-10", 7, 3), False),
        (("basquet", "2026-03-23", 19, 3), False),
        (("fulbito", "2026-03-09", 11, 1), False),
        (("fulbito", "2026-03-09", 10, 1), True),
        (("fulbito", "2026-03-09", 9, 1), True),
        (("fulbito", "2026-03-08", 19, 1), True),
        (("fulbito", "2025-03-10", 19, 1), True),
        (("fulbito", "2026-03-24", 19, 1), True),
        (("fulbito", "2026-03-10", 6, 1), True),
        (("fulbito", "2026-03-10", 22, 1), True),
        (("fulbito", "2026-03-10", 20, 3), True),
        (("fulbito", "2026-03-10", 19, 0), True),
        (("fulbito", "2026-03-10", 10, 4), True),
        (("tenis", "2026-03-10", 19, 1), True),
        (("Voley", "2026-03-10", 19, 1), True),
        (("fulbito", "2026-3-10", 19, 1), True),
        (("fulbito", "2026-03-10 ", 19, 1), True),
        (("fulbito", "2026-02-30", 19, 1), True),
        (("fulbito", "２026-03-10", 19, 1), True),
        (("fulbito", "2026-03-10", True, 1), True),
        (("fulbito", "2026-03-10", 19, True), True),
        (("fulbito", "2026-03-10", 19.0, 1), True),
        (("fulbito", None, 19, 1), True),
    ],
)
def test_it_says_the_rules_again(facts: tuple[str, str, int, int], breaks: bool) -> None:
    assert draft_breaks_rules(*facts, now=NOW) is breaks


@pytest.mark.parametrize(
    ("date", "now", "breaks"),
    [
        ("2028-02-29", dt.datetime(2028, 2, 28, 10, tzinfo=LIMA), False),
        ("2027-02-29", dt.datetime(2027, 2, 28, 10, tzinfo=LIMA), True),
        ("2000-02-29", dt.datetime(2000, 2, 28, 10, tzinfo=LIMA), False),
        ("2100-02-29", dt.datetime(2100, 2, 28, 10, tzinfo=LIMA), True),
        ("2027-01-14", dt.datetime(2026, 12, 31, 23, 59, tzinfo=LIMA), False),
        ("2027-01-15", dt.datetime(2026, 12, 31, 23, 59, tzinfo=LIMA), True),
        ("2026-03-09", dt.datetime(2026, 3, 9, 23, 59, 59, tzinfo=dt.UTC), False),  # 18:59:59 in Lima
        ("2026-03-09", dt.datetime(2026, 3, 10, 0, 0, tzinfo=dt.UTC), True),  # 19:00 in Lima
    ],
)
def test_it_counts_days_by_itself(date: str, now: dt.datetime, breaks: bool) -> None:
    assert draft_breaks_rules("fulbito", date, 19, 1, now=now) is breaks


def test_it_agrees_with_the_booking_rules_around_every_limit() -> None:
    compared = 0
    for days in range(-400, 800):
        date = dt.date(2026, 3, 9) + dt.timedelta(days=days)
        near = -2 <= days <= 16
        for start_hour in range(-1, 25) if near else (19,):
            for hours in range(-1, 6) if near else (1,):
                broken = check_booking_rules(BookingRequest("voley", date, start_hour, hours), NOW)
                assert draft_breaks_rules("voley", date.isoformat(), start_hour, hours, now=NOW) is bool(broken)
                compared += 1
    assert compared == 19 * 26 * 7 + 1181


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        (GOOD, True),
        (" \t\r\n" + GOOD + "\n", True),
        (GOOD.replace("action", "\\u0061ction").replace("fulbito", "fulbit\\u006F"), True),
        (json.dumps(json.loads(GOOD), indent=2), True),
        (GOOD.replace("}", ",}"), False),
        (GOOD[:-1], False),
        (GOOD + GOOD, False),
        (GOOD + "\x0b", False),
        ("\u00a0" + GOOD, False),
        (GOOD.replace('"hours":1', '"hours":1,"hours":1'), False),
        (GOOD.replace('"hours":1', '"hours":1,"memberId":2'), False),
        (GOOD.replace(',"hours":1', ""), False),
        (GOOD.replace("19", "19.0"), False),
        (GOOD.replace("19", '"19"'), False),
        (GOOD.replace("19", "019"), False),
        (GOOD.replace("19", "07"), False),
        (GOOD.replace("19", "+19"), False),
        (GOOD.replace("19", "1٩"), False),
        (GOOD.replace("19", "9" * 5000), False),
        (GOOD.replace("19", "NaN"), False),
        (GOOD.replace("fulbito", "fulbito\\u0000"), False),
        (GOOD.replace("fulbito", "fulb\nito"), False),
        (GOOD.replace("fulbito", "\\xfulbito"), False),
        (GOOD.replace("fulbito", "fulbit\\u００6f"), False),
        (GOOD.replace('"', "'"), False),
        (GOOD.replace("draft", "refuse"), False),
        ('{"action":"refuse"}', False),
        ("", False),
        ("{}", False),
        ("[" * 100_000, False),
        ('{"action":' * 100_000, False),
        ("\ud800", False),
    ],
)
def test_it_reads_the_text_by_itself(text: str, valid: bool) -> None:
    assert text_is_valid_draft(text, now=NOW) is valid


def test_it_wants_a_text_and_a_clock_with_zone() -> None:
    assert text_is_valid_draft(None, now=NOW) is False  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="time zone"):
        draft_breaks_rules("fulbito", "2026-03-10", 19, 1, now=dt.datetime(2026, 3, 9))  # noqa: DTZ001 -- the mistake under test


def test_it_stands_on_nothing_that_it_judges() -> None:
    tree = ast.parse(Path(oracle.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imports] == ["from datetime import datetime"]
