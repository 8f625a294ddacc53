"""Permits and sums that hold however many ask at once, with the local cache and with Redis."""

import datetime as dt
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import redis
from django.core.cache import cache
from django.test import RequestFactory

from kallpa.counters import CountersDown, Permit, client_address, hit, left_s, reserve, settle
from kallpa.tests.raw_server import RawServer, hang, timed

NOW = dt.datetime(2026, 3, 9, 10, 0, 59, 900_000, tzinfo=ZoneInfo("America/Lima"))
DAY = 86400


@pytest.fixture(params=["local", pytest.param("redis", marks=pytest.mark.services)])
def _store(request: pytest.FixtureRequest, settings: Any) -> None:
    url = "redis://127.0.0.1:6379/7"
    if request.param == "redis":
        try:
            redis.Redis.from_url(url, socket_connect_timeout=3).ping()
        except redis.ConnectionError:
            pytest.skip("no Redis answers")
        settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": url}}
    else:
        settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": uuid.uuid4().hex}}


@pytest.fixture
def name(_store: None) -> str:
    """A counter that no other test knows."""
    return f"prueba-{uuid.uuid4().hex}"


def at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """What `count` threads got that started together."""
    barrier = Barrier(count)

    def start(number: int) -> Any:
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))


def later(seconds: float) -> dt.datetime:
    return NOW + dt.timedelta(seconds=seconds)


def test_it_allows_the_limit_and_then_says_when(name: str) -> None:
    permits = [hit(name, "rosa", limit=3, window_s=60, now=later(seconds)) for seconds in (0, 10, 20, 30)]
    assert permits == [Permit(True), Permit(True), Permit(True), Permit(False, 30)]
    assert hit(name, "julio", limit=3, window_s=60, now=later(30)).allowed


def test_no_sixty_seconds_hold_more_than_the_limit_wherever_they_begin(name: str) -> None:
    seconds = [number * 3 for number in range(100)]
    allowed = [second for second in seconds if hit(name, "rosa", limit=7, window_s=60, now=later(second)).allowed]
    assert max(sum(start <= second < start + 60 for second in allowed) for start in allowed) == 7
    assert len(allowed) == 35


def test_a_refusal_does_not_prolong_the_wait(name: str) -> None:
    assert hit(name, "rosa", limit=1, window_s=60, now=later(0)).allowed
    assert not any(hit(name, "rosa", limit=1, window_s=60, now=later(second)).allowed for second in range(1, 60))
    assert hit(name, "rosa", limit=1, window_s=60, now=later(60)).allowed


def test_a_limit_of_nothing_allows_nothing(name: str) -> None:
    assert hit(name, "rosa", limit=0, window_s=60, now=NOW) == Permit(False, 60)


def test_two_hundred_at_once_get_ten_permits_also_when_the_old_ones_run_out(name: str) -> None:
    """NOW is a tenth of a second before a full minute: the threads stand on both sides of it."""
    first = at_once(200, lambda number: hit(name, "rosa", limit=10, window_s=60, now=later(number / 1000)).allowed)
    again = at_once(200, lambda number: hit(name, "rosa", limit=10, window_s=60, now=later(61 + number / 1000)).allowed)
    assert (sum(first), sum(again)) == (10, 10)


def test_control_looking_before_taking_lets_more_through(name: str) -> None:
    barrier = Barrier(20)

    def look_then_take(number: int) -> bool:
        used = cache.get(name, 0)
        barrier.wait()
        cache.set(name, used + 1)
        return used < 10

    assert sum(at_once(20, look_then_take)) == 20


def test_a_sum_never_passes_its_ceiling(name: str) -> None:
    given = at_once(50, lambda number: reserve(name, amount=30, ceiling=1000, window_s=DAY, now=NOW))
    assert 30 * sum(given) <= 1000
    assert not reserve(name, amount=1001, ceiling=1000, window_s=DAY, now=NOW)


def test_a_refused_reservation_leaves_the_sum_as_it_was(name: str) -> None:
    assert reserve(name, amount=900, ceiling=1000, window_s=DAY, now=NOW)
    assert not reserve(name, amount=200, ceiling=1000, window_s=DAY, now=NOW)
    assert reserve(name, amount=100, ceiling=1000, window_s=DAY, now=NOW)


def test_settling_gives_back_what_was_not_used(name: str) -> None:
    assert reserve(name, amount=1000, ceiling=1000, window_s=DAY, now=NOW)
    settle(name, reserved=1000, actual=400, window_s=DAY, now=NOW)
    assert reserve(name, amount=600, ceiling=1000, window_s=DAY, now=NOW)
    assert not reserve(name, amount=1, ceiling=1000, window_s=DAY, now=NOW)


def test_settling_what_the_store_forgot_still_counts_the_cost(name: str) -> None:
    settle(name, reserved=1000, actual=400, window_s=DAY, now=NOW)
    assert not reserve(name, amount=601, ceiling=1000, window_s=DAY, now=NOW)


def test_the_day_of_a_sum_ends_at_midnight_in_lima(name: str) -> None:
    evening = dt.datetime(2026, 3, 10, 4, 59, 30, tzinfo=dt.UTC)
    assert left_s(window_s=DAY, now=evening) == 30
    assert reserve(name, amount=1000, ceiling=1000, window_s=DAY, now=evening)
    assert not reserve(name, amount=1, ceiling=1000, window_s=DAY, now=evening + dt.timedelta(seconds=29))
    assert reserve(name, amount=1000, ceiling=1000, window_s=DAY, now=evening + dt.timedelta(seconds=30))


@pytest.fixture
def silent_server() -> Iterator[str]:
    """Accepts and never answers."""
    with RawServer(hang()) as server:
        yield f"redis://127.0.0.1:{server.port}/0"


@pytest.fixture(params=["closed", "silent"])
def _no_store(request: pytest.FixtureRequest, settings: Any, silent_server: str) -> None:
    url = silent_server if request.param == "silent" else "redis://127.0.0.1:1/0"
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": url,
            "OPTIONS": {"socket_connect_timeout": 0.3, "socket_timeout": 0.3},
        }
    }


@pytest.mark.usefixtures("_no_store")
@pytest.mark.parametrize(
    "count",
    [
        lambda: hit("x", "rosa", limit=1, window_s=60, now=NOW),
        lambda: reserve("x", amount=1, ceiling=1, window_s=60, now=NOW),
        lambda: settle("x", reserved=1, actual=1, window_s=60, now=NOW),
    ],
)
def test_a_store_that_does_not_answer_is_said_soon_and_by_name(count: Callable[[], Any]) -> None:
    with timed(0), pytest.raises(CountersDown):
        count()


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, None, "10.0.0.9"),
        (0, "1.2.3.4", "10.0.0.9"),
        (1, "1.2.3.4", "1.2.3.4"),
        (1, "9.9.9.9, 8.8.8.8, 1.2.3.4", "1.2.3.4"),
        (2, "9.9.9.9, 1.2.3.4, 10.1.1.1", "1.2.3.4"),
        (2, "1.2.3.4", "10.0.0.9"),
        (1, None, "10.0.0.9"),
        (1, "not an address", "10.0.0.9"),
        (1, "9.9.9.9,", "10.0.0.9"),
        (1, "::ffff:1.2.3.4", "1.2.3.4"),
        (1, "2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        (1, "2001:db8:1:2:bbbb::2", "2001:db8:1:2::/64"),
    ],
)
def test_only_our_proxies_name_the_client(rf: RequestFactory, settings: Any, proxies: int, forwarded: str | None, expected: str) -> None:
    settings.TRUSTED_PROXIES = proxies
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    assert client_address(rf.get("/", REMOTE_ADDR="10.0.0.9", headers=headers)) == expected


def test_a_thousand_invented_headers_share_one_key(rf: RequestFactory, settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    asked = [rf.get("/", REMOTE_ADDR="10.0.0.9", headers={"X-Forwarded-For": f"7.7.{n // 250}.{n % 250}, 1.2.3.4"}) for n in range(1000)]
    assert {client_address(request) for request in asked} == {"1.2.3.4"}
