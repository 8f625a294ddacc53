"""The same idempotency key, all at once, one after another, and from people whose answer was lost with the server."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from bookings.models import BookedHour, Booking, Court
from bookings.tests.crowd import BOOKINGS, TOKEN, all_at_once, make_neighbours, post, tomorrow
from kallpa.models import IdempotencyKey
from kallpa.tests.processes import address_of_the_test_database

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rosa(transactional_db: None) -> Client:
    """Rosa's browser, logged in."""
    return make_neighbours(1)[0]


@pytest.fixture
def body(court: Court) -> dict[str, Any]:
    return {"court": court.pk, "sport": "fulbito", "date": tomorrow().isoformat(), "startHour": 18, "hours": 2, "teamName": "Ñandú"}


def test_twenty_at_once_make_one_booking_and_get_one_answer(rosa: Client, body: dict[str, Any]) -> None:
    answers = all_at_once([partial(post, rosa, body, "k1")] * 20)
    assert Counter((answer.status_code, answer.content) for answer in answers) == {(201, answers[0].content): 20}
    assert (Booking.objects.count(), BookedHour.objects.count(), IdempotencyKey.objects.count()) == (1, 2, 1)
    assert answers[0].json()["id"] == Booking.objects.get().pk


def test_twenty_in_a_row_make_one_booking_and_get_one_answer(rosa: Client, body: dict[str, Any]) -> None:
    answers = [post(rosa, body, "k1") for _ in range(20)]
    assert Counter((answer.status_code, answer.content) for answer in answers) == {(201, answers[0].content): 20}
    assert Booking.objects.count() == 1


def test_of_two_requests_with_one_key_at_once_one_is_done(rosa: Client, body: dict[str, Any]) -> None:
    other = body | {"startHour": 9, "hours": 1}
    answers = all_at_once([partial(post, rosa, wanted, "k1") for wanted in [body, other] * 10])
    assert Counter(answer.status_code for answer in answers) == {201: 10, 409: 10}
    assert {tuple(answer.json()["codes"]) for answer in answers if answer.status_code == 409} == {("IDEMPOTENCY_KEY_REUSED",)}
    assert len({answer.content for answer in answers if answer.status_code == 201}) == 1
    assert Booking.objects.count() == 1


def test_control_without_a_key_the_repeats_are_refused(rosa: Client, body: dict[str, Any]) -> None:
    answers = all_at_once([partial(post, rosa, body)] * 20)
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 19}


@pytest.fixture
def port(transactional_db: None) -> Iterator[int]:
    """Where a real server, in a process of its own, serves the rows of this test."""
    server = subprocess.Popen(
        [sys.executable, "-m", "bookings.tests.mortal_server"],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DATABASE_URL": address_of_the_test_database()},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert server.stdout is not None
    try:
        yield int(server.stdout.readline())
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait(timeout=20)


def send(port: int, client: Client, body: dict[str, Any], key: str, die: str = "") -> tuple[int, bytes] | None:
    """Status and body over a real connection; None when the server died without a word."""
    cookies = "; ".join(f"{name}={cookie.value}" for name, cookie in client.cookies.items())
    headers = {"Content-Type": "application/json", "Cookie": cookies, "X-CSRFToken": TOKEN, "Idempotency-Key": key, "X-Die": die}
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        line.request("POST", BOOKINGS, json.dumps(body), {name: value for name, value in headers.items() if value})
        response = line.getresponse()
        return response.status, response.read()
    except (http.client.RemoteDisconnected, ConnectionResetError):
        return None
    finally:
        line.close()


TIMES = pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.faults)])


@TIMES
def test_a_server_killed_after_the_commit_gives_the_same_answer_when_asked_again(
    rosa: Client, body: dict[str, Any], port: int, times: int
) -> None:
    for number in range(times):
        wanted = body | {"date": tomorrow(number % 13).isoformat(), "startHour": 8 + number // 13 * 2}
        assert send(port, rosa, wanted, f"k{number}", die="after-commit") is None
        booking = Booking.objects.latest("pk")
        assert (Booking.objects.count(), BookedHour.objects.count()) == (number + 1, 2 * (number + 1))
        first, again = send(port, rosa, wanted, f"k{number}"), send(port, rosa, wanted, f"k{number}")
        assert first is not None
        assert (first[0], json.loads(first[1])["id"], first) == (201, booking.pk, again)
    assert Booking.objects.count() == IdempotencyKey.objects.count() == times


@TIMES
def test_a_server_killed_before_the_commit_leaves_nothing_and_books_when_asked_again(
    rosa: Client, body: dict[str, Any], port: int, times: int
) -> None:
    for number in range(times):
        wanted = body | {"date": tomorrow(number % 13).isoformat(), "startHour": 8 + number // 13 * 2}
        assert send(port, rosa, wanted, f"k{number}", die="before-commit") is None
        assert (Booking.objects.count(), IdempotencyKey.objects.count()) == (number, number)
        answer = send(port, rosa, wanted, f"k{number}")
        assert answer is not None
        assert answer[0] == 201
    assert (Booking.objects.count(), BookedHour.objects.count()) == (times, 2 * times)


def test_control_without_the_key_a_lost_answer_looks_like_a_conflict(rosa: Client, body: dict[str, Any], port: int) -> None:
    assert send(port, rosa, body, "", die="after-commit") is None
    answer = send(port, rosa, body, "")
    assert answer is not None
    assert (answer[0], json.loads(answer[1])["codes"]) == (409, ["HOUR_TAKEN"])
