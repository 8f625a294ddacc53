"""From a day as people say it to a date: «hoy», «el jueves», «sábado 14», «el 14», «14 de marzo», «14/3», «en dos días»."""

import datetime as dt
import re
from collections.abc import Callable

from bookings.rules import MAX_DAYS_AHEAD

SLEEPS_UNTIL = 5  # until this hour of the night «mañana» may well be the day that has begun

WEEKDAYS = ("lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo")
_MONTHS = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
MONTHS = {name: number for number, name in enumerate(_MONTHS.split(), start=1)} | {"setiembre": 9}  # Peru writes both
_AHEAD = {"hoy": 0, "hoy dia": 0, "hoy mismo": 0, "manana": 1, "pasado manana": 2}
_SMALL = {"dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6}

_FOR = r"(?:para |pa )?"
_WEEKDAY = rf"(?:el |este |pal )?(?:dia )?(?P<weekday>{'|'.join(WEEKDAYS)})"
_NUMBER = r"(?P<day>\d{1,2})"
_OF_MONTH = rf"(?: de (?P<month>{'|'.join(MONTHS)}))"
_SLASHED = r"(?P<slashed>\d{1,2}/\d{1,2}(?:/\d{4})?)"


def read_day(phrase: str, now: dt.datetime) -> dt.date | None:
    """The date that the phrase names, from today as far as may be booked; None when it is no day, or not for certain."""
    for pattern, read in _DAYS:
        if found := pattern.fullmatch(phrase):
            return read(found, now)
    return None


def _read_near(found: re.Match[str], now: dt.datetime) -> dt.date | None:
    return None if now.hour < SLEEPS_UNTIL else now.date() + dt.timedelta(days=_AHEAD[found["near"]])


def _read_days_ahead(found: re.Match[str], now: dt.datetime) -> dt.date | None:
    return None if now.hour < SLEEPS_UNTIL else now.date() + dt.timedelta(days=_SMALL.get(found["count"]) or int(found["count"]))


def _read_weekday(found: re.Match[str], now: dt.datetime) -> dt.date | None:
    """The next one. On a Monday «el lunes» may be today or in a week."""
    ahead = (WEEKDAYS.index(found["weekday"]) - now.weekday()) % 7
    return now.date() + dt.timedelta(days=ahead) if ahead and now.hour >= SLEEPS_UNTIL else None


def _read_calendar(found: re.Match[str], now: dt.datetime) -> dt.date | None:
    """The only date within reach that has this number, and the month, the year and the weekday where they are said."""
    said = {name: value for name, value in found.groupdict().items() if value}
    days = (now.date() + dt.timedelta(days=ahead) for ahead in range(MAX_DAYS_AHEAD + 1))
    agreeing = [day for day in days if all(_AGREES[name](day, value) for name, value in said.items())]
    return agreeing[0] if len(agreeing) == 1 else None


def _agrees_slashed(day: dt.date, said: str) -> bool:
    return tuple(map(int, said.split("/"))) == (day.day, day.month, day.year)[: said.count("/") + 1]


_AGREES: dict[str, Callable[[dt.date, str], bool]] = {
    "weekday": lambda day, said: WEEKDAYS[day.weekday()] == said,
    "day": lambda day, said: day.day == int(said),
    "month": lambda day, said: day.month == MONTHS[said],
    "slashed": _agrees_slashed,
}

_DAYS = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (rf"{_FOR}(?P<near>hoy dia|hoy mismo|hoy|pasado manana|manana)", _read_near),
        (r"(?:dentro de|en) (?P<count>[2-6]|dos|tres|cuatro|cinco|seis) dias", _read_days_ahead),
        (rf"{_FOR}{_WEEKDAY}", _read_weekday),
        (rf"{_FOR}{_WEEKDAY} {_NUMBER}{_OF_MONTH}?", _read_calendar),
        (rf"{_FOR}{_WEEKDAY} {_SLASHED}", _read_calendar),
        (rf"{_FOR}(?:el |pal )(?:dia )?{_NUMBER}{_OF_MONTH}?", _read_calendar),
        (rf"{_FOR}(?:dia )?{_NUMBER}{_OF_MONTH}", _read_calendar),
        (rf"{_FOR}(?:el |pal )?(?:dia )?{_SLASHED}", _read_calendar),
    )
)
