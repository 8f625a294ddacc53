"""A circuit opens once, stays open, lets one probe through, and closes once, with the local cache and with Redis."""

import datetime as dt
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
import redis

from kallpa import circuits
from kallpa.circuits import Opening, Rules, Tally, adopt, find_opening, may_probe, note_failure, note_success
from kallpa.counters import CountersDown

NOW = dt.datetime(2026, 3, 9, 15, 0, tzinfo=dt.UTC)
RULES = Rules(failures=5, window_s=60, share=0.5, least_calls=10, open_s=30, probe_s=30)
NAME = "prueba en 127.0.0.1:8080"

STORES = ["local", pytest.param("redis", marks=pytest.mark.services)]


@pytest.fixture(params=STORES, autouse=True)
def _store(request: pytest.FixtureRequest, settings: Any) -> None:
    url, own = "redis://127.0.0.1:6379/8", uuid.uuid4().hex
    if request.param == "local":
        settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": own}}
        return
    try:
        redis.Redis.from_url(url, socket_connect_timeout=3).ping()
    except redis.ConnectionError:
        pytest.skip("no Redis answers")
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": url, "KEY_PREFIX": own}}


def after(seconds: float) -> dt.datetime:
    return NOW + dt.timedelta(seconds=seconds)


def fail(seconds: float = 0, *, probe: bool = False, name: str = NAME) -> Tally | None:
    return note_failure(name, "timeout", probe=probe, rules=RULES, now=after(seconds))


def work(seconds: float = 0, *, probe: bool = False) -> bool:
    return note_success(NAME, probe=probe, rules=RULES, now=after(seconds))


def probe_at(seconds: float) -> bool:
    opening = find_opening(NAME)
    assert opening is not None
    return may_probe(NAME, opening, rules=RULES, now=after(seconds))


def open_it() -> None:
    assert [fail() for _ in range(5)] == [None] * 4 + [Tally(streak=5, failures=5, calls=5)]


def crowd(ask: Callable[[], Any], size: int = 8) -> list[Any]:
    """What so many callers get at the same moment."""
    together = Barrier(size)

    def one(number: int) -> Any:
        together.wait(20)
        return ask()

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(one, range(size)))


def test_it_opens_on_failures_in_a_row() -> None:
    open_it()
    assert find_opening(NAME) == Opening(int(NOW.timestamp() * 1_000), "timeout")
    assert fail() is None  # it is open already
    assert find_opening("otro") is None


def test_a_success_between_them_begins_the_row_anew() -> None:
    for _ in range(2):
        assert [fail() for _ in range(4)] == [None] * 4
        assert [work() for _ in range(10)] == [False] * 10  # so many that the share stays under a half
    assert find_opening(NAME) is None


def test_it_opens_on_half_of_ten_calls_in_the_window() -> None:
    for _ in range(4):
        work()
        assert fail() is None
    work()
    assert fail() == Tally(streak=1, failures=5, calls=10)


def test_failures_that_left_the_window_do_not_count() -> None:
    for _ in range(4):
        fail(), work()
    work(70)
    assert [fail(71), find_opening(NAME)] == [None, None]


def test_it_stays_open_and_then_lets_one_probe_through() -> None:
    open_it()
    assert [probe_at(0), probe_at(29.9), probe_at(30), probe_at(30), probe_at(45)] == [False, False, True, False, False]


def test_a_probe_that_works_closes_it_once_and_forgets_what_was_before() -> None:
    open_it()
    assert probe_at(30)
    assert [work(31, probe=True), work(31, probe=True)] == [True, False]
    assert find_opening(NAME) is None
    assert [fail(32) for _ in range(4)] == [None] * 4


def test_a_probe_that_fails_keeps_it_open_for_as_long_again() -> None:
    open_it()
    assert probe_at(30)
    assert fail(40, probe=True) is None
    assert [probe_at(69.9), probe_at(70)] == [False, True]


def test_a_probe_that_never_came_back_is_followed_by_another() -> None:
    open_it()
    assert [probe_at(30), probe_at(59.9), probe_at(60)] == [True, False, True]


def test_an_answer_to_a_call_begun_before_closes_nothing() -> None:
    open_it()
    assert work(1) is False
    assert find_opening(NAME) is not None


def test_it_opens_for_one_of_many_and_closes_for_one_of_many() -> None:
    assert [tally is not None for tally in crowd(fail)].count(True) == 1
    assert crowd(lambda: probe_at(30)).count(True) == 1
    assert crowd(lambda: work(31, probe=True)).count(True) == 1


def test_control_without_the_store_deciding_a_crowd_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    open_it()
    monkeypatch.setattr("kallpa.circuits.counters.hit", lambda *args, **kwargs: circuits.counters.Permit(True))
    assert crowd(lambda: probe_at(30)).count(True) == 8


def test_it_may_begin_as_open() -> None:
    adopt(NAME, Opening(int(NOW.timestamp() * 1_000), "unreachable"))
    assert [probe_at(29), probe_at(30)] == [False, True]
    adopt(NAME, Opening(0, "auth"))
    assert find_opening(NAME) == Opening(int(NOW.timestamp() * 1_000), "unreachable")


def test_a_store_that_is_away_is_told(settings: Any) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}
    for ask in (lambda: find_opening(NAME), fail, work, lambda: may_probe(NAME, Opening(0, "timeout"), rules=RULES, now=NOW)):
        with pytest.raises(CountersDown):
            ask()
