"""Reads: which hours are taken, and by whom."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Collection
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Count, F, Q, QuerySet, Sum

from bookings.clock import in_lima
from bookings.models import BookedHour, Booking, BookingStatus, Court, CourtBlock, Member
from bookings.money import in_soles
from bookings.rules import CLOSES_AT, OPENS_AT
from bookings.values import OccupiedHour


class GridHour(NamedTuple):
    """One hour of a court's day: who has it, or that the court is out of use then. Free with neither."""

    hour: int
    booking: Booking | None = None
    block: CourtBlock | None = None

    @property
    def is_taken(self) -> bool:
        return self.booking is not None or self.block is not None


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
    taken = BookedHour.objects.filter(court__active=True, date=date).select_related("booking", "block")
    rows = {(row.court_id, row.hour): GridHour(row.hour, row.booking, row.block) for row in taken}
    return [
        CourtDay(court, [rows.get((court.pk, hour), GridHour(hour)) for hour in range(OPENS_AT, CLOSES_AT)])
        for court in Court.objects.filter(active=True)
    ]


def find_member(user: User | AnonymousUser) -> Member | None:
    """The member of an account; None for who is not logged in and for staff that never books."""
    return Member.objects.filter(user=user).first() if user.is_authenticated else None


def next_booking(*, member: Member, now: dt.datetime) -> Booking | None:
    """The member's confirmed booking that is being played or comes first; `now` is aware."""
    return upcoming_bookings(member=member, now=now).first()


def upcoming_bookings(*, member: Member, now: dt.datetime) -> QuerySet[Booking]:
    """Confirmed and not over, the first to be played on top; with their courts."""
    return _with_courts(member).filter(_not_over(now)).order_by("date", "start_hour", "pk")


def earlier_bookings(*, member: Member, now: dt.datetime) -> QuerySet[Booking]:
    """Played or cancelled, the latest day first; with their courts."""
    return _with_courts(member).exclude(_not_over(now))


def _with_courts(member: Member) -> QuerySet[Booking]:
    return Booking.objects.filter(member=member).select_related("court")


def _not_over(now: dt.datetime) -> Q:
    here = in_lima(now)
    later_today = Q(date=here.date(), start_hour__gt=here.hour - F("hours"))
    return Q(status=BookingStatus.CONFIRMED) & (Q(date__gt=here.date()) | later_today)


class DayTotal(NamedTuple):
    """What a day's bookings come to; hours and price are of the confirmed ones."""

    date: dt.date
    confirmed: int
    hours: int
    price: str
    cancelled: int


def total_days(bookings: QuerySet[Booking], *, dates: Collection[dt.date]) -> list[DayTotal]:
    """One total for each of the dates on which the bookings have any, the latest day first. One query."""
    confirmed = Q(status=BookingStatus.CONFIRMED)
    days = bookings.filter(date__in=dates).order_by("-date").values("date")
    rows = days.annotate(
        confirmed=Count("pk", filter=confirmed),
        taken=Sum("hours", filter=confirmed, default=0),
        centimos=Sum("price_centimos", filter=confirmed, default=0),
        cancelled=Count("pk", filter=~confirmed),
    )
    return [DayTotal(row["date"], row["confirmed"], row["taken"], in_soles(row["centimos"]), row["cancelled"]) for row in rows]


class SportHours(NamedTuple):
    """Taken hours of the active courts of one sport."""

    sport: str
    booked: int
    blocked: int


def count_hours(*, date_from: dt.date, date_to: dt.date) -> list[SportHours]:
    """Booked and blocked hours, both dates included, of each sport that has any. One query."""
    taken = BookedHour.objects.filter(court__active=True, date__range=(date_from, date_to)).order_by().values("court__sport")
    rows = taken.annotate(booked=Count("booking"), blocked=Count("block"))
    return [SportHours(row["court__sport"], row["booked"], row["blocked"]) for row in rows.order_by("court__sport")]
