"""How often somebody may try a password, make an account or ask for mail. Counted before the work is done."""

import datetime as dt
import logging
from typing import NamedTuple

from django.core.exceptions import ValidationError

from kallpa.counters import CountersDown, hit

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


def seconds_to_wait(*attempts: tuple[Limit, str], now: dt.datetime) -> int:
    """Counts an attempt for each (limit, who) up to the first that is used up, and how long that one waits; 0 means go on.

    Put the address first: then who is stopped by it uses up nobody else's attempts. Without the counters people still get in,
    because bookings go on while the store is down.
    """
    try:
        for limit, who in attempts:
            permit = hit(limit.name, who, limit=limit.attempts, window_s=limit.window_s, now=now)
            if not permit.allowed:
                return permit.retry_after_s
    except CountersDown as error:
        logger.error("Attempts are not counted: the counters are down (%s)", error)
    return 0


def check_attempts(*attempts: tuple[Limit, str], now: dt.datetime) -> None:
    """Counts an attempt as `seconds_to_wait` does. Raises ValidationError (code `too_many`) that says how long to wait."""
    if seconds := seconds_to_wait(*attempts, now=now):
        raise ValidationError(f"Fueron demasiados intentos. Espera {_in_minutes(seconds)} y prueba otra vez.", code=TOO_MANY)


def _in_minutes(seconds: int) -> str:
    minutes = -(-seconds // 60)
    return "un minuto" if minutes == 1 else f"{minutes} minutos"
