"""What anybody may know of the complex, for programs that ask: courts, hours, rules. No member, phone or team is ever read into an answer.

What is asked comes from outside, so each function takes the arguments as they came and refuses what it does not understand.
"""

import datetime as dt
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.utils.formats import date_format

from bookings.clock import in_lima
from bookings.models import Court
from bookings.money import in_soles
from bookings.pages import HOUSE_RULES
from bookings.rules import MAX_DAYS_AHEAD, MAX_HOURS, MIN_HOURS, RULE_MESSAGES, SPORT_LABELS, Sport
from bookings.selectors import CourtDay, day_grids

DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
MAX_QUOTED = 40
MAX_COURT_ID = 2**31 - 1


class Fact(NamedTuple):
    """An answer for people, and the same as JSON values."""

    text: str
    facts: dict[str, Any]


class CannotAnswer(Exception):  # noqa: N818 -- an error is named after what happened
    """Why there is no answer: a sentence for whoever asked."""


class MissingDate(CannotAnswer):
    """Everything else that was asked is right, and the date is not there."""


def get_availability(asked: Mapping[str, Any], *, now: dt.datetime) -> Fact:
    """Taken and free hours of the court `courtId` on `date`. Raises CannotAnswer. `now` is aware."""
    _only(asked, "courtId", "date")
    court = _read_court(asked.get("courtId"))
    date = _read_date(asked.get("date"), now)
    day = next(day for day in day_grids(date) if day.court == court)
    taken = [hour.hour for hour in day.hours if hour.is_taken]
    free = sorted(_free_hours(day, date, now))
    text = f"{court.name} ({_sport_label(court.sport)}), {_say_date(date)}. Ocupadas: {_say_hours(taken)}. Libres: {_say_hours(free)}."
    return Fact(text, {"courtId": court.pk, "court": court.name, "date": date.isoformat(), "occupied": taken, "free": free})


def find_free_hours(asked: Mapping[str, Any], *, now: dt.datetime) -> Fact:
    """Hours at which `hours` hours in a row may begin on `date`, with the courts of `sport` that are free. Raises CannotAnswer."""
    _only(asked, "sport", "hours", "date")
    sport = _read_sport(asked.get("sport"))
    length = _read_length(asked.get("hours", MIN_HOURS))
    date = _read_date(asked.get("date"), now)
    starts = _find_starts([day for day in day_grids(date) if day.court.sport == sport], length, date, now)
    found = [{"startHour": hour, "courtIds": [court.pk for court in courts]} for hour, courts in starts.items()]
    lines = [f"- {hour}:00, en {', '.join(court.name for court in courts)}" for hour, courts in starts.items()]
    what = f"{_sport_label(sport)} por {length} {'hora' if length == 1 else 'horas'}, {_say_date(date)}"
    text = "\n".join([f"{what}. Puede empezar a las:", *lines]) if lines else f"{what}. No queda una hora libre."
    return Fact(text, {"sport": sport, "date": date.isoformat(), "hours": length, "starts": found})


def list_courts() -> str:
    """The courts in use, as JSON."""
    rows = [
        {"courtId": court.pk, "name": court.name, "sport": court.sport, "pricePerHour": in_soles(court.price_centimos_per_hour)}
        for court in Court.objects.filter(active=True)
    ]
    return json.dumps(rows, ensure_ascii=False)


def tell_rules() -> str:
    """The rules of the complex in sentences."""
    return f"{HOUSE_RULES} Se juega: {', '.join(SPORT_LABELS.values())}."


def describe_day(asked: Mapping[str, Any], *, now: dt.datetime) -> str:
    """The hours of every court on `date`, a line each. Raises CannotAnswer."""
    _only(asked, "date")
    date = _read_date(asked.get("date"), now)
    lines = [
        f"{day.court.name} ({_sport_label(day.court.sport)}): ocupadas {_say_hours(hour.hour for hour in day.hours if hour.is_taken)}; "
        f"libres {_say_hours(_free_hours(day, date, now))}."
        for day in day_grids(date)
    ]
    return "\n".join([f"{_say_date(date)}.", *lines])


# --- Hours --------------------------------------------------------------------------------------------------------------


def _free_hours(day: CourtDay, date: dt.date, now: dt.datetime) -> set[int]:
    """Hours that may still be booked; those that have begun are not."""
    here = in_lima(now)
    return {hour.hour for hour in day.hours if not hour.is_taken and (date, hour.hour) > (here.date(), here.hour)}


def _find_starts(days: list[CourtDay], length: int, date: dt.date, now: dt.datetime) -> dict[int, list[Court]]:
    """By hour, the courts that are free from it for `length` hours."""
    starts: dict[int, list[Court]] = {}
    for day in days:
        free = _free_hours(day, date, now)
        for hour in sorted(free):
            if free.issuperset(range(hour, hour + length)):
                starts.setdefault(hour, []).append(day.court)
    return dict(sorted(starts.items()))


# --- Reading what was asked ---------------------------------------------------------------------------------------------


def _only(asked: Mapping[str, Any], *names: str) -> None:
    for name in asked:
        if name not in names:
            raise CannotAnswer(f"No existe el dato «{_quote(name)}». Los datos son: {', '.join(names)}.")


def _read_court(number: Any) -> Court:
    if isinstance(number, bool) or not isinstance(number, int):
        raise CannotAnswer("courtId es el número de una cancha, sin comillas. El recurso kallpa://courts las lista.")
    court = Court.objects.filter(pk=number, active=True).first() if 0 < number <= MAX_COURT_ID else None
    if court is None:
        raise CannotAnswer(f"No hay una cancha con el número {_quote(str(number))}. El recurso kallpa://courts las lista.")
    return court


def _read_sport(sport: Any) -> str:
    if not isinstance(sport, str) or sport not in list(Sport):
        raise CannotAnswer(f"{RULE_MESSAGES['UNKNOWN_SPORT']} sport es uno de: {', '.join(Sport)}.")
    return sport


def _read_length(hours: Any) -> int:
    if isinstance(hours, bool) or not isinstance(hours, int) or not MIN_HOURS <= hours <= MAX_HOURS:
        raise CannotAnswer(f"hours es un número entero de {MIN_HOURS} a {MAX_HOURS}, sin comillas.")
    return hours


def _read_date(text: Any, now: dt.datetime) -> dt.date:
    if text is None or text == "":
        raise MissingDate("Falta la fecha: date, como AAAA-MM-DD.")
    try:
        date = dt.date.fromisoformat(text) if isinstance(text, str) and DATE.fullmatch(text) else None
    except ValueError:
        date = None
    if date is None:
        raise CannotAnswer(f"«{_quote(str(text))}» no es una fecha: date se escribe AAAA-MM-DD, por ejemplo {in_lima(now):%Y-%m-%d}.")
    days = (date - in_lima(now).date()).days
    if not 0 <= days <= MAX_DAYS_AHEAD:
        last = in_lima(now).date() + dt.timedelta(days=MAX_DAYS_AHEAD)
        raise CannotAnswer(
            f"{_say_date(date)} está fuera de lo que se puede consultar: de hoy, {_say_date(in_lima(now))}, al {_say_date(last)}."
        )
    return date


def _quote(text: str) -> str:
    return "".join(letter if letter.isprintable() else "�" for letter in text[:MAX_QUOTED])


# --- Words --------------------------------------------------------------------------------------------------------------


def _say_date(date: dt.date) -> str:
    return date_format(date, "l d/m/Y")


def _say_hours(hours: Iterable[int]) -> str:
    return ", ".join(str(hour) for hour in sorted(hours)) or "ninguna"


def _sport_label(sport: str) -> str:
    return SPORT_LABELS[Sport(sport)]
