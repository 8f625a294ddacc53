"""Atomic counters in the cache: permits per person and a ceiling for everybody. They work with the local cache and with Redis.

Each permit is a slot that `cache.add` hands to one caller alone, so no window of `window_s` seconds, wherever it begins, sees more
than the limit. Amounts are summed with `cache.incr` in windows that begin with the site's day.
"""

import datetime as dt
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone


class Permit(NamedTuple):
    """Whether one more is allowed; if not, the seconds (at least 1) until the next is."""

    allowed: bool
    retry_after_s: int = 0


class CountersDown(Exception):  # noqa: N818 -- a state of the store, named for what callers do about it
    """The store of the counters does not answer."""


def hit(name: str, who: str, *, limit: int, window_s: int, now: dt.datetime) -> Permit:
    """Takes one of the `limit` permits that `who` has in any `window_s` seconds. Raises CountersDown."""
    at_ms, window_ms = int(now.timestamp() * 1000), window_s * 1000
    slots = [f"{_key(name, who)}:{number}" for number in range(limit)]
    with store_answers():
        taken = cache.get_many(slots) if slots else {}
        if any(_take(slot, taken.get(slot), at_ms, window_ms) for slot in slots):
            return Permit(True)
    oldest_ms = min(taken.values(), default=at_ms)
    return Permit(False, max(1, ceil((oldest_ms + window_ms - at_ms) / 1000)))


def reserve(name: str, *, amount: int, ceiling: int, window_s: int, now: dt.datetime) -> bool:
    """Adds `amount` to the window's sum unless that would pass the ceiling. Raises CountersDown."""
    key = _window_key(name, window_s, now)
    with store_answers():
        cache.add(key, 0, timeout=2 * window_s)
        if cache.incr(key, amount) <= ceiling:
            return True
        cache.decr(key, amount)
    return False


def settle(name: str, *, reserved: int, actual: int, window_s: int, now: dt.datetime) -> None:
    """Turns a reservation into what it came to; `now` is the instant of the reservation. Raises CountersDown."""
    key = _window_key(name, window_s, now)
    with store_answers():
        if not cache.add(key, actual, timeout=2 * window_s):  # else the store has forgotten the reservation
            cache.incr(key, actual - reserved)


def left_s(*, window_s: int, now: dt.datetime) -> int:
    """Seconds until the sums of `reserve` begin again."""
    return window_s - _local_s(now) % window_s


def client_address(request: HttpRequest) -> str:
    """The address that a limit is kept for. Only our own proxies are believed, so a header the client adds never chooses it.

    With TRUSTED_PROXIES=n it is the n-th from the right of X-Forwarded-For. An IPv6 client owns its whole /64.
    """
    peer = request.META.get("REMOTE_ADDR", "")
    hops = request.headers.get("X-Forwarded-For", "").split(",")
    trusted = settings.TRUSTED_PROXIES
    named = hops[-trusted].strip() if 0 < trusted <= len(hops) else peer
    return _normalised(named) or _normalised(peer)


def _normalised(address: str) -> str:
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
    return str(parsed)


def _take(slot: str, taken_ms: int | None, at_ms: int, window_ms: int) -> bool:
    """Takes a slot that is free, or whose holder's window is over: that right, too, goes to one caller alone."""
    timeout = 2 * window_ms // 1000
    if taken_ms is None:
        return cache.add(slot, at_ms, timeout=timeout)
    if taken_ms + window_ms > at_ms or not cache.add(f"{slot}:after:{taken_ms}", 1, timeout=timeout):
        return False
    cache.set(slot, at_ms, timeout=timeout)
    return True


def _key(name: str, who: str) -> str:
    return f"counter:{name}:{hashlib.sha256(who.encode()).hexdigest()[:32]}"


def _window_key(name: str, window_s: int, now: dt.datetime) -> str:
    return f"counter:{name}:{window_s}:{_local_s(now) // window_s}"


def _local_s(now: dt.datetime) -> int:
    """Seconds on the site's clock, so that a window of 86400 is the day that people live by."""
    offset = timezone.localtime(now).utcoffset() or dt.timedelta()
    return int(now.timestamp() + offset.total_seconds())


@contextmanager
def store_answers() -> Iterator[None]:
    """Turns what the store raises when it is away into CountersDown."""
    try:
        yield
    except _store_errors() as error:
        raise CountersDown(type(error).__name__) from error


def _store_errors() -> tuple[type[Exception], ...]:
    """What the store raises when it is away, or when a key vanishes between two steps (ValueError); asked only then."""
    from redis.exceptions import RedisError  # late: without a Redis nobody else loads its client

    return RedisError, OSError, ValueError
