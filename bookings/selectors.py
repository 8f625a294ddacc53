"""Reads: which hours are taken, and by whom."""

import datetime as dt
from collections import Counter, defaultdict
from typing import NamedTuple

from bookings.models import BookedHour, Booking, Court
from bookings.rules import CLOSES_AT, OPENS_AT
from bookings.values import OccupiedHour


class GridHour(NamedTuple):
    """One row of a court's day; `booking` is None when the hour is free."""

    hour: int
    booking: Booking | None


class CourtDay(NamedTuple):
    """A court and every opening hour of one day, in order."""

    court: Court
    hours: list[GridHour]


def occupied_hours(*, date_from: dt.date, date_to: dt.date) -> list[OccupiedHour]:
    """Hours, both dates included, in which every active court of a sport is taken. A sport without courts has none."""
    courts = Counter(Court.objects.filter(active=True).values_list("sport", flat=True))
    taken = BookedHour.objects.filter(court__active=True, date__range=(date_from, date_to)).order_by("date", "hour", "court__name")
    teams: dict[tuple[dt.date, str, int], list[str]] = defaultdict(list)
    for date, sport, hour, team in taken.values_list("date", "court__sport", "hour", "booking__team_name"):
        teams[date, sport, hour].append(team)
    return [
        OccupiedHour(date=date, sport=sport, hour=hour, team=", ".join(filter(None, names)))
        for (date, sport, hour), names in sorted(teams.items())
        if len(names) == courts[sport]
    ]


def day_grids(date: dt.date) -> list[CourtDay]:
    """The day of every active court, by sport and name; two queries however many courts there are."""
    taken = BookedHour.objects.filter(court__active=True, date=date).select_related("booking")
    bookings = {(row.court_id, row.hour): row.booking for row in taken}
    return [
        CourtDay(court, [GridHour(hour, bookings.get((court.pk, hour))) for hour in range(OPENS_AT, CLOSES_AT)])
        for court in Court.objects.filter(active=True)
    ]
