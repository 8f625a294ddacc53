"""How often somebody may try a password, make an account or ask for mail. Counted before the work is done."""

import datetime as dt
import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from django.core.exceptions import ValidationError

from kallpa.counters import CountersDown, hit, left_s, reserve, settle

TOO_MANY = "too_many"

logger = logging.getLogger(__name__)


class Limit(NamedTuple):
    """So many attempts in so many seconds."""

    name: str
    attempts: int
    window_s: int


# Many neighbours share one address (a phone company's, the complex's Wi-Fi), so an address may do more than a person.
LOGIN_PER_PERSON = Limit("login-person", 10, 15 * 60)
LOGIN_PER_ADDRESS = Limit("login-address", 50, 15 * 60)
SIGN_UP_PER_ADDRESS = Limit("sign-up-address", 20, 60 * 60)
RESET_PER_PERSON = Limit("reset-person", 3, 60 * 60)
RESET_PER_ADDRESS = Limit("reset-address", 20, 60 * 60)


@contextmanager
def counted_guess(*, person: str, address: str, now: dt.datetime) -> Iterator[None]:
    """Around the look at a password: a wrong one (ValidationError) stays counted, a right one does not.

    Raises ValidationError (code `too_many`) when the person or the address has guessed too often in this quarter of an hour. The
    address comes first: then who is stopped by it uses up nobody else's guesses.
    """
    taken: list[tuple[Limit, str]] = []
    for limit, who in ((LOGIN_PER_ADDRESS, address), (LOGIN_PER_PERSON, person)):
        with _logged_when_down():
            if not reserve(_key(limit, who), amount=1, ceiling=limit.attempts, window_s=limit.window_s, now=now):
                raise too_many(left_s(window_s=limit.window_s, now=now))
            taken.append((limit, who))
    yield
    for limit, who in taken:
        with _logged_when_down():
            settle(_key(limit, who), reserved=1, actual=0, window_s=limit.window_s, now=now)


def check_attempts(*attempts: tuple[Limit, str], now: dt.datetime) -> None:
    """Counts an attempt of each (limit, who). Raises ValidationError (code `too_many`) at the first that is used up."""
    for limit, who in attempts:
        with _logged_when_down():
            permit = hit(limit.name, who, limit=limit.attempts, window_s=limit.window_s, now=now)
            if not permit.allowed:
                raise too_many(permit.retry_after_s)


def too_many(seconds: int) -> ValidationError:
    """The sentence that says how long to wait."""
    minutes = -(-seconds // 60)
    words = "un minuto" if minutes == 1 else f"{minutes} minutos"
    return ValidationError(f"Fueron demasiados intentos. Espera {words} y prueba otra vez.", code=TOO_MANY)


@contextmanager
def _logged_when_down() -> Iterator[None]:
    """Without the counters people still get in: bookings go on while their store is down."""
    try:
        yield
    except CountersDown as error:
        logger.error("Attempts are not counted: the counters are down (%s)", error)


def _key(limit: Limit, who: str) -> str:
    return f"{limit.name}:{hashlib.sha256(who.encode()).hexdigest()[:32]}"
