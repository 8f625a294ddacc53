"""The rules of the complex. The only place that knows these numbers."""

import datetime as dt
from enum import StrEnum

from bookings.clock import in_lima
from bookings.values import BlockRequest, BookingRequest

OPENS_AT = 7
CLOSES_AT = 22
MIN_HOURS = 1
MAX_HOURS = 3
MAX_DAYS_AHEAD = 14
MAX_TEAM_NAME = 40
MAX_CENTIMOS_PER_HOUR = 1_000_000


class Sport(StrEnum):
    FULBITO = "fulbito"
    VOLEY = "voley"
    BASQUET = "basquet"


SPORT_LABELS = {Sport.FULBITO: "Fulbito", Sport.VOLEY: "Vóley", Sport.BASQUET: "Básquet"}
SPORT_CHOICES = [(sport.value, label) for sport, label in SPORT_LABELS.items()]

RULE_MESSAGES = {
    "UNKNOWN_SPORT": f"Ese deporte no se juega aquí. Hay {', '.join(SPORT_LABELS.values())}.",
    "OUTSIDE_OPENING_HOURS": f"El complejo abre de {OPENS_AT} a {CLOSES_AT} h y la reserva termina a más tardar al cierre.",
    "TOO_FEW_HOURS": f"Una reserva dura por lo menos {MIN_HOURS} hora.",
    "TOO_MANY_HOURS": f"Una reserva dura como máximo {MAX_HOURS} horas seguidas.",
    "TOO_FAR_AHEAD": f"Se reserva con {MAX_DAYS_AHEAD} días de anticipación como máximo.",
    "IN_THE_PAST": "Esa hora ya empezó o ya pasó.",
    "TEAM_NAME_TOO_LONG": f"El nombre del equipo tiene como máximo {MAX_TEAM_NAME} caracteres.",
}


def check_booking_rules(request: BookingRequest, now: dt.datetime) -> list[str]:
    """Codes of every broken rule, keys of RULE_MESSAGES; empty if it may be booked. `now` must be aware, else ValueError."""
    here = in_lima(now)
    broken = {
        "UNKNOWN_SPORT": request.sport not in list(Sport),
        "OUTSIDE_OPENING_HOURS": _is_outside_opening_hours(request),
        "TOO_FEW_HOURS": request.hours < MIN_HOURS,
        "TOO_MANY_HOURS": request.hours > MAX_HOURS,
        "TOO_FAR_AHEAD": (request.date - here.date()).days > MAX_DAYS_AHEAD,
        "IN_THE_PAST": (request.date, request.start_hour) <= (here.date(), here.hour),
        "TEAM_NAME_TOO_LONG": len(request.team_name) > MAX_TEAM_NAME,
    }
    return [code for code, is_broken in broken.items() if is_broken]


def check_block_rules(request: BlockRequest, now: dt.datetime) -> list[str]:
    """Codes of every broken rule, keys of RULE_MESSAGES. A block may last all day and may have begun. `now` must be aware."""
    here = in_lima(now)
    broken = {
        "OUTSIDE_OPENING_HOURS": _is_outside_opening_hours(request),
        "TOO_FEW_HOURS": request.hours < MIN_HOURS,
        "IN_THE_PAST": (request.date, request.start_hour + request.hours) <= (here.date(), here.hour),
    }
    return [code for code, is_broken in broken.items() if is_broken]


def _is_outside_opening_hours(request: BookingRequest | BlockRequest) -> bool:
    starts_closed = not OPENS_AT <= request.start_hour < CLOSES_AT
    return starts_closed or request.start_hour + request.hours > CLOSES_AT
