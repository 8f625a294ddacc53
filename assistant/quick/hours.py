"""From an hour as people say it to an hour of the day: «7 de la noche» is 19, «a las 3» can only be 15, «a las 7» is not known."""

import datetime as dt
from typing import Literal, NamedTuple

from bookings.rules import CLOSES_AT, Sport, check_booking_rules
from bookings.values import BookingRequest

Sense = Literal["am", "pm", "tarde", "noche", "bare", "open"]  # "bare": said without a sense; "open": a sense without an hour

# Hours that each sense may be said with, and what must be added to them.
_SPOKEN: dict[str, dict[int, int]] = {
    "am": {hour: hour for hour in range(1, 12)},
    "pm": {12: 12} | {hour: hour + 12 for hour in range(1, 12)},
    "tarde": {12: 12} | {hour: hour + 12 for hour in range(1, 8)},
    "noche": {hour: hour + 12 for hour in range(6, 12)},
}


class When(NamedTuple):
    """What was said of the time: an hour and its sense, and where a range was said its end and the end's sense."""

    hour: int
    sense: Sense
    end: int | None = None
    end_sense: Sense = "bare"


class Slot(NamedTuple):
    """Start in hours of the day; `hours` is None unless an end was said."""

    start: int
    hours: int | None


def resolve(when: When, date: dt.date, now: dt.datetime) -> Slot | None:
    """The one slot that the words can mean on that day, or None. `now` in Lima: an hour that has begun is no candidate."""
    if when.end is None:
        start = _only_start(when.hour, when.sense, date, now)
        return None if start is None else Slot(start, None)
    start = _only_start(when.hour, _sense_of_start(when), date, now)
    end = None if start is None else _end(when, start)
    return None if start is None or end is None or end <= start else Slot(start, end - start)


def _sense_of_start(when: When) -> Sense:
    """«de 7 a 9 de la noche»: the sense at the end holds for both, and «de 7 pm a 9» as well."""
    return when.end_sense if when.sense == "bare" else when.sense


def _only_start(hour: int, sense: Sense, date: dt.date, now: dt.datetime) -> int | None:
    if sense != "bare":
        return _SPOKEN.get(sense, {}).get(hour)
    possible = [start for start in _bare_candidates(hour) if not _is_impossible(start, date, now)]
    return possible[0] if len(possible) == 1 else None


def _bare_candidates(hour: int) -> tuple[int, ...]:
    """12 is left out: who says «a las 12» may mean midnight, and noon has words of its own."""
    if hour >= 13:
        return (hour,)
    return (hour, hour + 12) if 1 <= hour <= 11 else ()


def _is_impossible(start: int, date: dt.date, now: dt.datetime) -> bool:
    return bool(check_booking_rules(BookingRequest(Sport.FULBITO, date, start, 1), now))


def _end(when: When, start: int) -> int | None:
    """The end of a range in hours of the day. Without a sense of its own it lies in the same half of the day as the start."""
    said = when.end or 0
    sense = when.sense if when.end_sense == "bare" else when.end_sense
    if sense != "bare":
        return 12 if (said, sense) == (12, "am") else _SPOKEN.get(sense, {}).get(said)
    if when.hour >= 13 > said:
        return None  # «de 19 a 9»
    end = said if said >= 13 or start < 13 else said + 12
    return end if end <= CLOSES_AT else None
