"""What production writes down of each request: when, who, which page and how it went, never what was searched for or a reset link."""

import datetime as dt
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger

from kallpa.access_log import PathLogger

PHONE, LINK = "934518207", "MTI/c9x-2b7f0e"
LONG_FORMAT = '%(r)s %(U)s?%(q)s "%(f)s" "%({referer}i)s"'


def log_line(logger: type[Logger], path: str, query: str, referer: str, format_: str = "") -> str:
    """The line of one GET."""
    config = Config()
    config.set("accesslog", "-")
    if format_:
        config.set("access_log_format", format_)
    said: list[str] = []
    heard = logging.Handler()
    heard.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    writes = logger(config)
    writes.access_log.handlers = [heard]
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "GET",
        "RAW_URI": f"{path}?{query}" if query else path,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "192.0.2.7",
        "HTTP_REFERER": referer,
    }
    headers = [("REFERER", referer)]
    writes.access(SimpleNamespace(status="200 OK", sent=9, headers=[]), SimpleNamespace(headers=headers), environ, dt.timedelta(0))
    return said[0]


def search(logger: type[Logger], format_: str = "") -> str:
    return log_line(logger, "/admin/bookings/member/", f"q={PHONE}", f"https://kallpa.example/admin/?q={PHONE}", format_)


def reset(logger: type[Logger], format_: str = "") -> str:
    path = f"/cuenta/clave/{LINK}/"
    return log_line(logger, path, "", f"https://kallpa.example{path}", format_)


@pytest.mark.parametrize("format_", ["", LONG_FORMAT])
def test_neither_search_nor_reset_link_is_written_down(format_: str) -> None:
    assert "GET /admin/bookings/member/ HTTP/1.1" in search(PathLogger, format_)
    assert PHONE not in search(PathLogger, format_)
    assert "GET /cuenta/clave/…/ HTTP/1.1" in reset(PathLogger, format_)
    assert LINK not in reset(PathLogger, format_)


def test_the_rest_of_the_line_is_as_ever() -> None:
    line = log_line(PathLogger, "/mis-reservas/", "", "https://kallpa.example/")
    assert line.startswith("192.0.2.7 - - [")
    assert line.endswith('"GET /mis-reservas/ HTTP/1.1" 200 9 "https://kallpa.example/" "-"')


def test_control_gunicorn_s_own_logger_writes_both_down() -> None:
    assert search(Logger).count(PHONE) == 2
    assert reset(Logger).count(LINK) == 2
