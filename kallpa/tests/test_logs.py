"""Text from outside cannot forge a line of the log."""

import logging

import pytest
from django.conf import settings

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


def test_every_handler_of_the_site_uses_it_and_django_adds_none() -> None:
    handlers: dict[str, dict[str, str]] = settings.LOGGING["handlers"]  # type: ignore[assignment]
    assert {handler["formatter"] for handler in handlers.values()} == {"line"}
    assert any(isinstance(handler.formatter, OneLineFormatter) for handler in logging.getLogger().handlers)
    assert logging.getLogger("django").handlers == []
    assert logging.getLogger("django").propagate
