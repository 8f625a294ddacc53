"""The words we send to a model: loads the Markdown files beside it, renders them for one request, hashes them."""

import datetime as dt
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from string import Template

from assistant.prompts.answer_schema import RESPONSE_FORMAT
from bookings.clock import in_lima
from bookings.rules import CLOSES_AT, MAX_DAYS_AHEAD, MAX_HOURS, MIN_HOURS, OPENS_AT
from bookings.values import OccupiedHour

# Goes up whenever the code below renders the same words differently: it is part of the hash.
RENDERING_VERSION = 1

_FOLDER = Path(__file__).parent
_SYSTEM = Template((_FOLDER / "sistema.md").read_text(encoding="utf-8").strip())
_MESSAGE = Template((_FOLDER / "mensaje.md").read_text(encoding="utf-8").strip())
SYSTEM_PROMPT = _SYSTEM.substitute(
    days_ahead=MAX_DAYS_AHEAD,
    first_hour=OPENS_AT,
    last_hour=CLOSES_AT - 1,
    closing_hour=CLOSES_AT,
    min_hours=MIN_HOURS,
    max_hours=MAX_HOURS,
)

WEEKDAYS = ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo")
# Angle brackets and what Unicode's confusables or a tired eye take for them.
_BRACKETS = "<>＜＞﹤﹥‹›«»〈〉⟨⟩〈〉《》⟪⟫≪≫≮≯≺≻⋖⋗⪡⪢⩹⩺❮❯❬❭❰❱⧼⧽˂˃˱˲ᐸᐳᚲ𖼿𝈶𝈷"
_NO_BRACKETS = str.maketrans(dict.fromkeys(_BRACKETS, " "))
_ENTITY = re.compile(r"&(?=#|[lg]t)", re.IGNORECASE)
_DROPPED = {"Cf": "", "Cs": "", "Co": "", "Cc": " "}


def quote_untrusted(text: str) -> str:
    """One line of `text` without any sign that could open or close a mark, nor invisible characters; may be empty."""
    visible = "".join(_DROPPED.get(unicodedata.category(character), character) for character in text)
    return " ".join(_ENTITY.sub(" ", visible.translate(_NO_BRACKETS)).split())


def _show_hour(occupied: OccupiedHour) -> str:
    return str(occupied.hour)


def _show_hour_and_team(occupied: OccupiedHour) -> str:
    team = quote_untrusted(occupied.team)
    return f"{occupied.hour} ({team})" if team else str(occupied.hour)


# "con-nombres" shows the model what strangers wrote, only so that indirect injection can be measured.
_HOUR_STYLES: dict[str, Callable[[OccupiedHour], str]] = {"base": _show_hour, "con-nombres": _show_hour_and_team}
VARIANTS = tuple(_HOUR_STYLES)


def prompt_hash(variant: str, *, json_schema: bool = False) -> str:
    """SHA-256 (hex) of everything that decides what the model reads or may write, apart from the request. KeyError: unknown variant."""
    style = _HOUR_STYLES[variant].__name__
    schema = (json.dumps(RESPONSE_FORMAT, sort_keys=True),) if json_schema else ()
    parts = (str(RENDERING_VERSION), style, SYSTEM_PROMPT, _MESSAGE.template, *schema)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def render(variant: str, *, text: str, now: dt.datetime, occupied: Iterable[OccupiedHour]) -> tuple[dict[str, str], ...]:
    """System and user message for one request. `now` is aware; raises KeyError for an unknown variant."""
    here, show = in_lima(now), _HOUR_STYLES[variant]
    message = _MESSAGE.substitute(
        weekday=WEEKDAYS[here.weekday()],
        date=here.date().isoformat(),
        time=f"{here:%H:%M}",
        calendar=_list_next_days(here.date()),
        occupied=_list_occupied(sorted(occupied, key=_by_day), show),
        text=quote_untrusted(text),
    )
    return ({"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": message})


def _list_next_days(today: dt.date) -> str:
    days = [today + dt.timedelta(days=ahead) for ahead in range(1, MAX_DAYS_AHEAD + 1)]
    return ", ".join(f"{WEEKDAYS[day.weekday()][:3]} {day.day}" for day in days)


def _by_day(occupied: OccupiedHour) -> tuple[dt.date, str, int]:
    return occupied.date, occupied.sport, occupied.hour


def _list_occupied(occupied: Sequence[OccupiedHour], show: Callable[[OccupiedHour], str]) -> str:
    lines = [
        f"{date.isoformat()} {sport}: {', '.join(map(show, hours))}"
        for (date, sport), hours in groupby(occupied, key=lambda hour: (hour.date, hour.sport))
    ]
    return "\n".join(lines) or "nada"
