"""A database that is busy is waited for within a bound; then people and programs are told to come back. Never a 500."""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Timer
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test import Client

from bookings.models import BookedHour, Booking, Court
from bookings.tests.crowd import BOOKINGS, all_at_once, make_neighbours, post, tomorrow

pytestmark = pytest.mark.django_db(transaction=True)
SQLITE = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="the lock of the whole file is SQLite's")


@pytest.fixture
def rosa(transactional_db: None) -> Client:
    """Rosa's browser, logged in."""
    return make_neighbours(1)[0]


@pytest.fixture
def body(court: Court) -> dict[str, Any]:
    return {"court": court.pk, "date": tomorrow().isoformat(), "startHour": 18, "hours": 1}


@contextmanager
def bookings_locked() -> Iterator[Any]:
    """Somebody else is in the middle of a write; calling what this yields ends it."""
    if connection.vendor == "sqlite":
        other: Any = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
    else:
        here = connection.settings_dict
        login = {"user": here["USER"], "password": here["PASSWORD"], "host": here["HOST"], "port": here["PORT"] or 5432}
        other = psycopg.connect(dbname=here["NAME"], **login)
        other.execute("LOCK TABLE bookings_bookedhour IN EXCLUSIVE MODE")
    try:
        yield other.rollback
    finally:
        other.close()


def be_patient(seconds: float) -> None:
    """How long this thread's connection waits for a lock."""
    milliseconds = int(seconds * 1000)
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {milliseconds}" if connection.vendor == "sqlite" else f"SET lock_timeout = {milliseconds}")


def test_a_short_wait_ends_in_a_booking(rosa: Client, body: dict[str, Any]) -> None:
    with bookings_locked() as release:
        Timer(0.5, release).start()
        started = time.monotonic()
        assert post(rosa, body).status_code == 201
    assert time.monotonic() - started >= 0.5


@pytest.fixture
def _impatient(rosa: Client) -> Iterator[None]:
    """The test's own connection waits a fifth of a second."""
    be_patient(0.2)
    yield
    connection.close()


@pytest.mark.usefixtures("_impatient")
def test_a_long_wait_ends_in_a_503_and_then_the_same_request_books(rosa: Client, body: dict[str, Any]) -> None:
    with bookings_locked():
        answer = post(rosa, body, "k1")
        assert (answer.status_code, answer["Content-Type"], answer["Retry-After"]) == (503, "application/problem+json", "2")
        assert answer.json()["codes"] == ["BUSY"]
    assert (Booking.objects.count(), BookedHour.objects.count()) == (0, 0)
    assert post(rosa, body, "k1").status_code == 201


def test_a_page_says_so_too(rosa: Client, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**anything: Any) -> None:
        raise OperationalError("database is locked")

    address = post(rosa, body)["Location"].replace("/api/v1/bookings/", "/reservas/") + "cancelar/"
    monkeypatch.setattr("bookings.views.cancel", fail)
    answer = rosa.post(address, {"csrfmiddlewaretoken": "t" * 32})
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert "Prueba otra vez en unos segundos." in answer.content.decode()


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_a_database_that_is_gone_is_no_500(rosa: Client, body: dict[str, Any], accept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*anything: Any) -> None:
        raise OperationalError("connection refused")

    connection.close()
    monkeypatch.setattr(connection, "connect", fail)
    answer = rosa.post(BOOKINGS, body, content_type="application/json", headers={"Accept": accept, "X-CSRFToken": "t" * 32})
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert rosa.get("/", headers={"Accept": "text/html"}).status_code == 503


def test_fifty_at_once_in_fifty_hours_are_all_served(court: Court) -> None:
    courts = [court, *(Court.objects.create(name=f"Fulbito {n}", sport="fulbito", price_centimos_per_hour=1) for n in range(2, 6))]
    wanted = [{"court": c.pk, "date": tomorrow().isoformat(), "startHour": 8 + hour, "hours": 1} for c in courts for hour in range(10)]
    answers = all_at_once([partial(post, *one) for one in zip(make_neighbours(50), wanted, strict=True)])
    assert Counter(answer.status_code for answer in answers) == {201: 50}
    assert BookedHour.objects.count() == 50


@SQLITE
def test_control_fifty_at_once_without_patience_are_not_all_served_and_still_get_no_500(court: Court) -> None:
    def hurry(neighbour: Client, body: dict[str, Any]) -> Any:
        be_patient(0)
        return post(neighbour, body)

    bodies = [{"court": court.pk, "date": tomorrow(n // 15).isoformat(), "startHour": 7 + n % 15, "hours": 1} for n in range(50)]
    with bookings_locked() as release:
        Timer(0.3, release).start()
        answers = all_at_once([partial(hurry, *one) for one in zip(make_neighbours(50), bodies, strict=True)])
    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) <= {201, 503}
    assert statuses[503] > 0
    assert Booking.objects.count() == statuses[201]
