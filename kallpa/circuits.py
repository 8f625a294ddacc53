"""Circuits: what keeps failing is left alone for a while, and then one call tries. All processes that share the cache share them.

A circuit opens for exactly one caller, closes for exactly one, and lets one probe through at a time. Every function raises
CountersDown when the store does not answer.
"""

import datetime as dt
import hashlib
from typing import NamedTuple

from django.core.cache import cache

from kallpa import counters
from kallpa.counters import store_answers

BUCKETS = 6  # the window moves on by a sixth of itself
FORGET_S = 86_400  # what nobody has called for a day begins anew


class Rules(NamedTuple):
    """When a circuit opens: so many failures in a row, or this share of at least so many calls in the window. Times in seconds."""

    failures: int
    window_s: int
    share: float
    least_calls: int
    open_s: int
    probe_s: int  # a probe that never came back counts as lost after this


class Opening(NamedTuple):
    """Since when a circuit is open, or when its last probe failed, and what went wrong."""

    at_ms: int
    cause: str


class Tally(NamedTuple):
    """What was counted: failures since the last success, and failures and calls of the window."""

    streak: int
    failures: int
    calls: int


def find_opening(name: str) -> Opening | None:
    """None while the circuit is closed."""
    with store_answers():
        return _opening(name)


def may_probe(name: str, opening: Opening, *, rules: Rules, now: dt.datetime) -> bool:
    """True for one caller once the circuit has been open for long enough; the next may when that probe failed or was lost."""
    if not is_due(opening, rules=rules, now=now):
        return False
    return counters.hit("circuit-probe", f"{name} {opening.at_ms}", limit=1, window_s=rules.probe_s, now=now).allowed


def is_due(opening: Opening, *, rules: Rules, now: dt.datetime) -> bool:
    """Whether the time for a probe has come."""
    return opening.at_ms + rules.open_s * 1_000 <= _ms(now)


def note_success(name: str, *, probe: bool, rules: Rules, now: dt.datetime) -> bool:
    """Counts a call that worked. True if this probe closed the circuit; an open one does not listen to calls begun before."""
    with store_answers():
        if _opening(name):
            return probe and _close(name, rules, now)
        cache.delete(_key(name, "streak"))
        _count(_bucket(name, "calls", _slot(rules, now)), 2 * rules.window_s)
        return False


def note_failure(name: str, cause: str, *, probe: bool, rules: Rules, now: dt.datetime) -> Tally | None:
    """Counts a call that failed. The tally if this one opened the circuit; a failed probe keeps it open for as long again."""
    with store_answers():
        if _opening(name):
            if probe:
                cache.set(_key(name, "open"), [_ms(now), cause], timeout=FORGET_S)
            return None
        tally = _tally(name, rules, now)
        opens = _trips(tally, rules) and cache.add(_key(name, "open"), [_ms(now), cause], timeout=FORGET_S)
        return tally if opens else None


def adopt(name: str, opening: Opening) -> None:
    """Begins as open: for a process that knows of the outage from elsewhere."""
    with store_answers():
        cache.add(_key(name, "open"), list(opening), timeout=FORGET_S)


def _opening(name: str) -> Opening | None:
    found = cache.get(_key(name, "open"))
    return Opening(*found) if found else None


def _tally(name: str, rules: Rules, now: dt.datetime) -> Tally:
    slot, keep_s = _slot(rules, now), 2 * rules.window_s
    streak = _count(_key(name, "streak"), FORGET_S)
    _count(_bucket(name, "calls", slot), keep_s)
    _count(_bucket(name, "failures", slot), keep_s)
    window = range(slot - BUCKETS + 1, slot + 1)
    sums = [sum(cache.get_many([_bucket(name, what, earlier) for earlier in window]).values()) for what in ("failures", "calls")]
    return Tally(streak, *sums)


def _trips(tally: Tally, rules: Rules) -> bool:
    too_often = tally.calls >= rules.least_calls and tally.failures >= rules.share * tally.calls
    return tally.streak >= rules.failures or too_often


def _close(name: str, rules: Rules, now: dt.datetime) -> bool:
    """What was counted before is forgotten first, lest the first failure afterwards open it again."""
    slot = _slot(rules, now)
    window = range(slot - BUCKETS + 1, slot + 1)
    cache.delete_many([_key(name, "streak"), *(_bucket(name, what, at) for what in ("failures", "calls") for at in window)])
    return cache.delete(_key(name, "open"))


def _count(key: str, keep_s: int) -> int:
    cache.add(key, 0, timeout=keep_s)
    return cache.incr(key)


def _slot(rules: Rules, now: dt.datetime) -> int:
    return _ms(now) // (rules.window_s * 1_000 // BUCKETS)


def _bucket(name: str, what: str, slot: int) -> str:
    return _key(name, f"{what}:{slot}")


def _key(name: str, what: str) -> str:
    return f"circuit:{hashlib.sha256(name.encode()).hexdigest()[:32]}:{what}"


def _ms(now: dt.datetime) -> int:
    return int(now.timestamp() * 1_000)
