"""A model that never answers costs no booking: on a real server with eight threads, while a dozen neighbours wait for the assistant."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from statistics import quantiles
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from assistant.tests.loopback_provider import LoopbackProvider
from assistant.tests.provider_faults import hang
from bookings.models import Booking, Court
from bookings.rules import CLOSES_AT, OPENS_AT
from bookings.tests.crowd import BOOKINGS, TOKEN, make_neighbours, tomorrow
from bookings.tests.test_same_key import address_of_the_test_database

pytestmark = pytest.mark.django_db(transaction=True)

PROPOSALS = "/api/v1/assistant/proposals/"
THREADS, IMPATIENT = 8, 12
SIZES = [pytest.param(30, id="short"), pytest.param(200, id="whole", marks=pytest.mark.faults)]


@contextmanager
def served(**environment: str) -> Iterator[int]:
    """The port of a gunicorn like production's, with one worker, on the rows of this test."""
    words = ["--bind", "127.0.0.1:0", "--worker-class", "gthread", "--workers", "1", "--threads", str(THREADS)]
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "kallpa.wsgi", *words],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DATABASE_URL": address_of_the_test_database(), "REDIS_URL": "", "PYTHONUNBUFFERED": "1"} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert server.stderr is not None
    try:
        yield next(int(found[1]) for line in server.stderr if (found := re.search(r"Listening at: http://127.0.0.1:(\d+)", line)))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait(timeout=20)


def send(port: int, client: Client, path: str, body: dict[str, Any], timeout_s: float = 60) -> int | None:
    """The status of a request over a connection of its own; None when no answer came in time."""
    cookies = "; ".join(f"{name}={cookie.value}" for name, cookie in client.cookies.items())
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        line.request("POST", path, json.dumps(body), {"Content-Type": "application/json", "Cookie": cookies, "X-CSRFToken": TOKEN})
        return line.getresponse().status
    except (TimeoutError, ConnectionError, http.client.HTTPException):
        return None
    finally:
        line.close()


def leave_waiting(port: int, provider: LoopbackProvider, neighbours: list[Client], calls: int) -> None:
    """All of them ask the assistant at once; returns when so many calls hang."""
    body = {"text": "fulbito mañana a las 7 de la noche"}
    for one in neighbours:
        threading.Thread(target=send, args=(port, one, PROPOSALS, body), daemon=True).start()
    deadline = time.monotonic() + 30
    while len(provider.calls) < calls:
        assert time.monotonic() < deadline, f"{len(provider.calls)} calls"
        time.sleep(0.02)
    time.sleep(0.3)  # and the others have had their say


@contextmanager
def silent_model() -> Iterator[tuple[LoopbackProvider, dict[str, str]]]:
    """A model server that takes every call and never answers, and what a site must be told to ask it."""
    with LoopbackProvider(lambda call: hang(b"")) as provider:
        yield provider, {"LLM_BASE_URL": provider.base_url, "LLM_MODEL": "gpt-4o-mini", "LLM_TIMEOUT_S": "60"}


def hours_to_book(courts: list[Court]) -> Iterator[dict[str, Any]]:
    """Every hour of so many courts, as bodies of bookings."""
    for day in range(13):
        for hour in range(OPENS_AT, CLOSES_AT):
            for court in courts:
                yield {"court": court.pk, "date": tomorrow(day).isoformat(), "startHour": hour, "hours": 1}


def in_ms(act: Callable[[], int | None]) -> tuple[int | None, float]:
    started = time.perf_counter()
    status = act()
    return status, (time.perf_counter() - started) * 1_000


@pytest.mark.parametrize("bookings", SIZES)
def test_every_booking_is_taken_while_the_model_is_silent(court: Court, bookings: int, record_property: Any) -> None:
    *impatient, rosa = make_neighbours(IMPATIENT + 1)
    courts = [court, Court.objects.create(name="Vóley 1", sport="voley", price_centimos_per_hour=1)]
    with silent_model() as (provider, model), served(**model, ASSISTANT_CONCURRENCY="4") as port:
        leave_waiting(port, provider, impatient, calls=4)
        results = [in_ms(partial(send, port, rosa, BOOKINGS, body)) for body in islice(hours_to_book(courts), bookings)]
        assert len(provider.calls) == 4
    assert Counter(status for status, _ in results) == {201: bookings}
    assert Booking.objects.count() == bookings
    p95 = round(quantiles((ms for _, ms in results), n=20)[-1])
    record_property("p95_ms", p95)
    print(f"{bookings} bookings while the model is silent: p95 {p95} ms")


def test_control_without_places_the_waiting_take_every_thread(court: Court) -> None:
    *impatient, rosa = make_neighbours(IMPATIENT + 1)
    with silent_model() as (provider, model), served(**model, ASSISTANT_CONCURRENCY="256") as port:
        leave_waiting(port, provider, impatient, calls=THREADS)
        assert send(port, rosa, BOOKINGS, next(hours_to_book([court])), timeout_s=3) is None
    assert not Booking.objects.exists()
