"""Many neighbours at once: each with a browser, a thread and a database connection of their own."""

import datetime as dt
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BoundedSemaphore
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from bookings.clock import now_in_lima
from bookings.models import Member

BOOKINGS = "/api/v1/bookings/"
TOKEN = "t" * 32
CONNECTIONS = 50  # at the most; PostgreSQL gives 100 out of the box, and another test may run beside this one

T = TypeVar("T")


def make_neighbours(count: int) -> list[Client]:
    """Logged-in browsers that check the form's token and show a 500 instead of raising it."""
    accounts = [User.objects.create_user(f"vecino-{number}") for number in range(count)]
    Member.objects.bulk_create(Member(name=account.username, user=account) for account in accounts)
    return [_log_in(account) for account in accounts]


def tomorrow(plus: int = 0) -> dt.date:
    """A day on which every hour can still be booked."""
    return now_in_lima().date() + dt.timedelta(days=1 + plus)


def post(client: Client, body: dict[str, Any], key: str = "") -> Any:
    """The answer to a booking request."""
    headers = {"X-CSRFToken": TOKEN} | ({"Idempotency-Key": key} if key else {})
    return client.post(BOOKINGS, body, content_type="application/json", headers=headers)


def all_at_once(acts: Sequence[Callable[[], T]]) -> list[T]:
    """What each got. All threads start together; no more than CONNECTIONS are served at a time, as by a real server."""
    barrier, served = Barrier(len(acts)), BoundedSemaphore(CONNECTIONS)

    def start(act: Callable[[], T]) -> T:
        barrier.wait(timeout=60)
        with served:
            try:
                return act()
            finally:
                connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(start, acts))


def _log_in(account: User) -> Client:
    browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
    browser.force_login(account)
    browser.cookies["csrftoken"] = TOKEN
    return browser
