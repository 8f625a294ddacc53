"""What the staff's agent may look up. All of it only reads, and none of it holds a name, a phone or a word that a neighbour wrote.

Who booked shows as a number that means nothing outside one answer; the names of teams, which anybody may choose, never appear.
"""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from typing import Any

from assistant.tools import NOTHING, Capability, Tool, ToolFailed
from bookings.clock import in_lima
from bookings.models import Booking, BookingStatus, Court, CourtBlock
from bookings.money import in_soles
from bookings.rules import CLOSES_AT, MAX_DAYS_AHEAD, MAX_HOURS, MIN_HOURS, OPENS_AT, SPORT_LABELS, Sport
from bookings.selectors import CourtDay, count_hours, day_grids

MAX_DAYS = 31
PRIVATE = frozenset({Capability.PRIVATE_DATA})

_DATE = {"type": "string", "format": "date", "description": "Fecha AAAA-MM-DD, en Lima"}
_SPORT = {"enum": [sport.value for sport in Sport], "description": "Deporte; sin él, todos"}


def staff_tools(now: dt.datetime) -> tuple[Tool, ...]:
    """The four tools of the staff's agent. `now` is aware."""
    return (
        Tool(
            "get_availability",
            "Horas libres y ocupadas de cada cancha en un día. Es lo mismo que muestra la página pública.",
            _schema(["date"], date=_DATE, sport=_SPORT),
            partial(_run, _tell_availability, now=now),
            read_only=True,
            capabilities=NOTHING,
        ),
        Tool(
            "list_bookings",
            "Reservas, cancelaciones y bloqueos de un día, en orden. Quien reservó aparece como «vecino 1», sin nombre ni celular.",
            _schema(["date"], date=_DATE),
            partial(_run, _list_bookings, now=now),
            read_only=True,
            capabilities=PRIVATE,
        ),
        Tool(
            "get_rules",
            "Reglas del complejo: horario, duración, anticipación, deportes, canchas activas y precio por hora.",
            _schema([]),
            partial(_run, _tell_rules, now=now),
            read_only=True,
            capabilities=NOTHING,
        ),
        Tool(
            "get_occupancy",
            f"Horas reservadas y bloqueadas, por deporte y en total, entre dos fechas (hasta {MAX_DAYS} días), con su porcentaje.",
            _schema(["date_from", "date_to"], date_from=_DATE, date_to=_DATE),
            partial(_run, _tell_occupancy, now=now),
            read_only=True,
            capabilities=PRIVATE,
        ),
    )


def _schema(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _run(tell: Callable[..., Iterable[str]], arguments: dict[str, Any], *, now: dt.datetime) -> str:
    dates = {name: dt.date.fromisoformat(value) for name, value in arguments.items() if name.startswith("date")}
    return "\n".join(tell(**(arguments | dates), now=now))


# --- Availability -------------------------------------------------------------------------------------------------------


def _tell_availability(*, date: dt.date, sport: str = "", now: dt.datetime) -> Iterable[str]:
    yield f"Disponibilidad del {date.isoformat()}."
    first = in_lima(now).hour + 1 if date == in_lima(now).date() else OPENS_AT
    if date < in_lima(now).date():
        yield "Ese día ya pasó."
    if (date - in_lima(now).date()).days > MAX_DAYS_AHEAD:
        yield f"Todavía no se puede reservar para ese día: se reserva hasta con {MAX_DAYS_AHEAD} días de anticipación."
    for day in day_grids(date):
        if sport in ("", day.court.sport):
            yield _tell_court_day(day, first)


def _tell_court_day(day: CourtDay, first: int) -> str:
    free = [row.hour for row in day.hours if not row.is_taken and row.hour >= first]
    taken = [row.hour for row in day.hours if row.is_taken]
    sport = SPORT_LABELS[Sport(day.court.sport)]
    return f"{day.court.name} ({sport}): libre {_tell_hours(free)}; ocupada {_tell_hours(taken)}"


def _tell_hours(hours: list[int]) -> str:
    """«7-10, 18-20» of the hours 7, 8, 9, 18 and 19; «ninguna hora» of none."""
    runs = [[hour for _, hour in run] for _, run in groupby(enumerate(hours), key=lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}-{run[-1] + 1}" for run in runs) or "ninguna hora"


# --- Bookings of a day --------------------------------------------------------------------------------------------------


def _list_bookings(*, date: dt.date, now: dt.datetime) -> Iterable[str]:
    bookings = list(Booking.objects.filter(date=date).select_related("court").order_by("start_hour", "court__name", "pk"))
    blocks = list(CourtBlock.objects.filter(date=date).select_related("court").order_by("start_hour", "court__name", "pk"))
    states = Counter(booking.status for booking in bookings)
    yield (
        f"Reservas del {date.isoformat()}: {states[BookingStatus.CONFIRMED]} confirmadas, "
        f"{states[BookingStatus.CANCELLED]} canceladas, {len(blocks)} bloqueos."
    )
    numbers: dict[int, int] = {}
    for booking in bookings:
        number = numbers.setdefault(booking.member_id, len(numbers) + 1)
        yield f"{booking.start_hour}-{booking.end_hour} {booking.court.name}: vecino {number}, {booking.get_status_display().lower()}"
    for block in blocks:
        yield f"{block.start_hour}-{block.end_hour} {block.court.name}: bloqueada"


# --- Rules --------------------------------------------------------------------------------------------------------------


def _tell_rules(*, now: dt.datetime) -> Iterable[str]:
    yield f"Horario: de {OPENS_AT} a {CLOSES_AT} h, en horas en punto."
    yield f"Duración: de {MIN_HOURS} a {MAX_HOURS} horas seguidas."
    yield f"Anticipación: hasta {MAX_DAYS_AHEAD} días. Hoy es {in_lima(now).date().isoformat()}."
    yield "Se cancela hasta que empieza la primera hora."
    for court in Court.objects.filter(active=True):
        yield f"{court.name}: {SPORT_LABELS[Sport(court.sport)]}, {in_soles(court.price_centimos_per_hour)} por hora"


# --- Occupancy ----------------------------------------------------------------------------------------------------------


def _tell_occupancy(*, date_from: dt.date, date_to: dt.date, now: dt.datetime) -> Iterable[str]:
    days = (date_to - date_from).days + 1
    if not 1 <= days <= MAX_DAYS:
        raise ToolFailed(f"El periodo tiene que ser de 1 a {MAX_DAYS} días, y la segunda fecha no puede ser anterior a la primera.")
    yield f"Ocupación del {date_from.isoformat()} al {date_to.isoformat()}, {days} días, solo canchas activas."
    courts = Counter(Court.objects.filter(active=True).values_list("sport", flat=True))
    taken = count_hours(date_from=date_from, date_to=date_to)
    booked, blocked = Counter({row.sport: row.booked for row in taken}), Counter({row.sport: row.blocked for row in taken})
    for sport in Sport:
        if courts[sport]:
            yield _tell_share(SPORT_LABELS[sport], courts[sport] * days * (CLOSES_AT - OPENS_AT), booked[sport], blocked[sport])
    yield _tell_share("Total", courts.total() * days * (CLOSES_AT - OPENS_AT), booked.total(), blocked.total())


def _tell_share(name: str, hours: int, booked: int, blocked: int) -> str:
    share = f"{100 * booked / hours:.1f} %" if hours else "sin canchas"
    return f"{name}: {booked:,} de {hours:,} horas reservadas ({share}), {blocked:,} bloqueadas"
