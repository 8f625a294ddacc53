"""Text from outside cannot forge a line of the log, and no row of the database is quoted in it."""

import logging

import pytest
from django.conf import settings
from django.db import IntegrityError

from kallpa.logs import OneLineFormatter

FORGED = "ana\r\n2026-03-09 10:00:00 CRITICAL kallpa base de datos borrada"


def format_record(formatter: logging.Formatter, text: str, *, error: Exception | None = None) -> str:
    trace = (type(error), error, error.__traceback__) if error else None
    return formatter.format(logging.LogRecord("kallpa", logging.INFO, "x.py", 1, "team=%s", (text,), trace))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (FORGED, r"team=ana\r\n2026-03-09 10:00:00 CRITICAL kallpa base de datos borrada"),
        ("a\x1b[2Jb", r"team=a\x1b[2Jb"),
        ("a\u2028b\u2029c\x85d\x0be", r"team=a\u2028b\u2029c\x85d\x0be"),
        ("Los Ñandúes\tde Lima", "team=Los Ñandúes\tde Lima"),
    ],
)
def test_it_writes_one_line_whatever_the_text(text: str, shown: str) -> None:
    assert format_record(OneLineFormatter("%(message)s"), text) == shown
    assert len(shown.splitlines()) == 1


def test_it_keeps_a_traceback_on_one_line() -> None:
    try:
        raise ValueError(FORGED)
    except ValueError as error:
        line = format_record(OneLineFormatter("%(message)s"), "x", error=error)
    assert len(line.splitlines()) == 1
    assert "Traceback (most recent call last):" in line


def test_control_the_stock_formatter_can_be_forged() -> None:
    assert len(format_record(logging.Formatter("%(message)s"), FORGED).splitlines()) == 2


ROW = "934 518 207"
REFUSED = f'null value in column "name" violates not-null constraint\nDETAIL:  Failing row contains (7, null, {ROW}\n, Los Halcones).'


def log_refusal(formatter: logging.Formatter) -> str:
    """As Django raises it: from the driver's error, and something of ours from that."""
    try:
        try:
            raise IntegrityError(REFUSED) from ValueError(REFUSED)
        except IntegrityError as error:
            raise RuntimeError("it could not be stored") from error
    except RuntimeError as error:
        return format_record(formatter, str(error.__cause__), error=error)


def test_what_the_database_says_of_a_row_stays_out() -> None:
    line = log_refusal(OneLineFormatter("%(message)s"))
    assert line.count('IntegrityError: null value in column "name" violates not-null constraint') == 1
    assert "RuntimeError: it could not be stored" in line
    assert not any(part in line for part in (ROW, "DETAIL", "Los Halcones"))


def test_control_the_stock_formatter_quotes_the_row() -> None:
    assert ROW in log_refusal(logging.Formatter("%(message)s"))


def test_every_handler_of_the_site_uses_it_and_django_adds_none() -> None:
    handlers: dict[str, dict[str, str]] = settings.LOGGING["handlers"]  # type: ignore[assignment]
    assert {handler["formatter"] for handler in handlers.values()} == {"line"}
    assert any(isinstance(handler.formatter, OneLineFormatter) for handler in logging.getLogger().handlers)
    assert logging.getLogger("django").handlers == []
    assert logging.getLogger("django").propagate
