"""The neighbours' day page, for the view and for whoever refuses or fills its form."""

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from bookings.clock import now_in_lima
from bookings.forms import BookingForm
from bookings.models import Court, Member
from bookings.money import in_soles
from bookings.rules import CLOSES_AT, MAX_DAYS_AHEAD, MAX_HOURS, MIN_HOURS, OPENS_AT, SPORT_CHOICES, Sport
from bookings.selectors import CourtDay, GridHour, day_grids, find_member, next_booking

HOUSE_RULES = (
    f"Abrimos todos los días de {OPENS_AT}:00 a {CLOSES_AT}:00. Se reserva de {MIN_HOURS} a {MAX_HOURS} horas, "
    f"hasta {MAX_DAYS_AHEAD} días antes, y se cancela hasta que empieza."
)
State = Literal["free", "past", "taken", "yours", "closed"]


@dataclass(frozen=True, slots=True)
class Link:
    """A way to another view of this page; `here` when it is the one shown."""

    address: str
    shows: Any
    here: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """One hour of one court as people see it. A free one has an address that fills the form."""

    hour: int
    state: State
    label: str
    address: str = ""
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class CourtCard:
    """A court with its price in words and its hours."""

    court: Court
    price: str
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks, when, and at which day and sport ("" for all)."""

    member: Member | None
    now: dt.datetime
    date: dt.date
    sport: str

    def is_over(self, hour: int) -> bool:
        return self.date == self.now.date() and hour < self.now.hour

    def has_begun(self, hour: int) -> bool:
        return self.date == self.now.date() and hour <= self.now.hour


def render_day_page(
    request: HttpRequest, *, date: dt.date, form: BookingForm | None = None, proposal: Any = None, status: int = 200
) -> HttpResponse:
    """The grid of a day and the booking form: empty, as it was refused, or filled by a proposal that the box above it tells.

    A date that cannot be booked shows the nearest one that can.
    """
    now = now_in_lima()
    days = [now.date() + dt.timedelta(days=ahead) for ahead in range(MAX_DAYS_AHEAD + 1)]
    viewer = Viewer(find_member(request.user), now, min(max(date, days[0]), days[-1]), _chosen_sport(request))
    grids = sorted(day_grids(viewer.date), key=lambda day: list(Sport).index(Sport(day.court.sport)))
    shown_form = form or _form_of_the_query(request, viewer)
    shown_form.offer(courts=[day.court for day in grids], dates=days)
    _match_sport(shown_form, grids)
    context = {
        "viewer": viewer,
        "days": [Link(_address(day, viewer.sport), day, day == viewer.date) for day in days],
        "sports": _sport_links(viewer, grids),
        "cards": _cards(viewer, grids, shown_form),
        "courts": json.dumps({day.court.pk: [day.court.sport, day.court.price_centimos_per_hour] for day in grids}),
        "here": request.get_full_path() if request.method == "GET" else _address(viewer.date, ""),
        "next_booking": viewer.member and next_booking(member=viewer.member, now=now),
        "form": shown_form,
        "form_first": form is not None,
        "idempotency_key": uuid4(),
        "proposal": proposal,
        "house_rules": HOUSE_RULES,
    }
    return render(request, "bookings/day.html", context, status=status)


def _chosen_sport(request: HttpRequest) -> str:
    sport = request.GET.get("deporte", "")
    return sport if sport in list(Sport) else ""


def _address(date: dt.date, sport: str, **choice: int) -> str:
    query = {"fecha": date.isoformat(), **({"deporte": sport} if sport else {}), **choice}
    return f"{reverse('day')}?{urlencode(query)}"


def _sport_links(viewer: Viewer, grids: list[CourtDay]) -> list[Link]:
    played = {day.court.sport for day in grids}
    choices = [("", "Todas"), *(choice for choice in SPORT_CHOICES if choice[0] in played)]
    return [Link(_address(viewer.date, value), text, value == viewer.sport) for value, text in choices]


def _form_of_the_query(request: HttpRequest, viewer: Viewer) -> BookingForm:
    """The empty form; the address of a free hour fills in court, sport and hour."""
    return BookingForm(
        initial={
            "sport": viewer.sport,
            "court": request.GET.get("cancha", ""),
            "date": viewer.date.isoformat(),
            "startHour": request.GET.get("hora", ""),
            "hours": "1",
            "teamName": viewer.member.team_name if viewer.member else "",
        }
    )


def _match_sport(form: BookingForm, grids: list[CourtDay]) -> None:
    """A form that is being filled gets the sport of its court. What a person sent stays as it is."""
    sports = {str(day.court.pk): day.court.sport for day in grids}
    if not form.is_bound and form.text("court") in sports:
        form.initial["sport"] = sports[form.text("court")]


def _cards(viewer: Viewer, grids: list[CourtDay], form: BookingForm) -> list[CourtCard]:
    return [_card(viewer, day, form) for day in grids if viewer.sport in {"", day.court.sport}]


def _card(viewer: Viewer, day: CourtDay, form: BookingForm) -> CourtCard:
    court = day.court
    is_chosen = (form.text("court"), form.text("date")) == (str(court.pk), viewer.date.isoformat())
    chosen = form.asked_hours() if is_chosen else range(0)
    cells = [_cell(viewer, court, row, row.hour in chosen) for row in day.hours if not viewer.is_over(row.hour)]
    return CourtCard(court, in_soles(court.price_centimos_per_hour), cells)


def _cell(viewer: Viewer, court: Court, row: GridHour, chosen: bool) -> Cell:
    if row.booking:
        is_yours = viewer.member is not None and row.booking.member_id == viewer.member.pk
        return Cell(row.hour, "yours" if is_yours else "taken", "Tu reserva" if is_yours else row.booking.team_name or "Ocupada")
    if row.block:
        return Cell(row.hour, "closed", "En mantenimiento")
    if viewer.has_begun(row.hour):
        return Cell(row.hour, "past", "Ya empezó")
    address = f"{_address(viewer.date, viewer.sport, cancha=court.pk, hora=row.hour)}#reservar"
    return Cell(row.hour, "free", "Libre", address, chosen)
