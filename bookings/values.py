"""What travels between the domain and those who use it. Frozen, without database."""

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BookingRequest:
    """What a person asks for: a day and whole hours in Lima. Who asks is never part of it."""

    sport: str
    date: dt.date
    start_hour: int
    hours: int
    team_name: str = ""


@dataclass(frozen=True, slots=True)
class BlockRequest:
    """Whole hours in Lima in which nobody is to play, and why."""

    date: dt.date
    start_hour: int
    hours: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class OccupiedHour:
    """One hour (0-23, Lima) in which no court of a sport is free; `team` names who plays, joined by a comma."""

    date: dt.date
    sport: str
    hour: int
    team: str = ""
