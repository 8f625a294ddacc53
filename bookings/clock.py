"""The time in Lima, where every date and hour of the complex is read."""

import datetime as dt
from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.utils import timezone

LIMA = ZoneInfo("America/Lima")


def now_in_lima(clock: Callable[[], dt.datetime] = timezone.now) -> dt.datetime:
    """The current instant as an aware datetime in Lima; `clock` returns an aware datetime of any zone."""
    return in_lima(clock())


def in_lima(instant: dt.datetime) -> dt.datetime:
    """The same instant in Lima. Raises ValueError if `instant` has no zone: guessing one moves bookings by hours."""
    if instant.utcoffset() is None:
        raise ValueError(f"{instant!r} has no time zone: pass an aware datetime")
    return instant.astimezone(LIMA)
