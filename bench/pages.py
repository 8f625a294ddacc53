"""The day's page and the booking API on a full day, in one process through Django's test client: no network, no second core."""

import datetime as dt
import logging
import statistics
import time
from collections.abc import Callable

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402 -- models exist once Django is set up
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

from bench import goals  # noqa: E402
from bench.goals import Goal  # noqa: E402
from bookings.clock import now_in_lima  # noqa: E402
from bookings.models import Court, Member  # noqa: E402
from bookings.rules import CLOSES_AT, OPENS_AT  # noqa: E402
from bookings.services import book  # noqa: E402
from bookings.values import BookingRequest  # noqa: E402

COURTS, PAGES, WRITES = 20, 200, 100
WARM_UP = 5


def fill_day(date: dt.date, now: dt.datetime) -> list[Court]:
    """Twenty courts in service, each taken for every hour of the day."""
    Court.objects.update(active=False)
    courts = [Court.objects.create(name=f"Banco {n}", sport="fulbito", price_centimos_per_hour=6_000) for n in range(COURTS)]
    member = Member.objects.create(name="Equipo de banco")
    for court in courts:
        for hour in range(OPENS_AT, CLOSES_AT):
            book(member=member, court=court, request=BookingRequest("fulbito", date, hour, 1, f"Equipo {hour}"), now=now)
    return courts


def measure(request: Callable[[int], object], count: int) -> list[float]:
    """Milliseconds of each of `count` requests; the first ones, which load templates, are not counted."""
    spent = []
    for number in range(WARM_UP + count):
        started = time.perf_counter()
        request(number)
        spent.append((time.perf_counter() - started) * 1000)
    return spent[WARM_UP:]


def show(label: str, spent: list[float], *, median_ms: float | None = None, p95_ms: float | None = None) -> None:
    """One line, with the most milliseconds that its median and its p95 may take where there is a goal."""
    median, p95 = statistics.median(spent), statistics.quantiles(spent, n=20)[-1]
    reached = (("median", median, median_ms), ("p95", p95, p95_ms))
    line = f"{label:<58} median {median:6.1f} ms   p95 {p95:6.1f} ms   n={len(spent)}"
    goals.show(line, *(Goal(figure, measured, most, "ms") for figure, measured, most in reached if most is not None))


def get(client: Client, address: str) -> Callable[[int], object]:
    def ask(number: int) -> None:
        if client.get(address).status_code != 200:
            raise RuntimeError(f"{address} does not answer 200")

    return ask


def post_bookings(client: Client, courts: list[Court], date: dt.date, status: int) -> Callable[[int], object]:
    """Asks for another court, day and hour each time; `date` is the first day."""

    def ask(number: int) -> None:
        hour, day = OPENS_AT + number % 15, date + dt.timedelta(days=number // 15)
        body = {"court": courts[number % COURTS].pk, "date": day.isoformat(), "startHour": hour, "hours": 1}
        if client.post("/api/v1/bookings/", body, content_type="application/json").status_code != status:
            raise RuntimeError(f"booking {body} does not answer {status}")

    return ask


def main() -> None:
    setup_test_environment(debug=False)
    logging.disable(logging.WARNING)  # each 409 is one
    now = now_in_lima()
    full, free = now.date() + dt.timedelta(days=1), now.date() + dt.timedelta(days=2)
    courts = fill_day(full, now)
    user = User.objects.create_user("banco")
    Member.objects.create(name="Vecina de banco", user=user)
    neighbour = Client()
    neighbour.force_login(user)
    page = f"/?fecha={full}"
    show(f"day page, {COURTS} full courts, nobody logged in", measure(get(Client(), page), PAGES), median_ms=50)
    show(f"day page, {COURTS} full courts, a neighbour", measure(get(neighbour, page), PAGES), median_ms=50)
    show("GET /api/v1/availability/", measure(get(neighbour, f"/api/v1/availability/?date={full}"), PAGES))
    show("POST /api/v1/bookings/, free hour (201)", measure(post_bookings(neighbour, courts, free, 201), WRITES), p95_ms=500)
    show("POST /api/v1/bookings/, hour just taken (409)", measure(post_bookings(neighbour, courts, free, 409), WRITES))


if __name__ == "__main__":
    main()
