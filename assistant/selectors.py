"""Reads for the assistant: what the model is told about the days ahead, whose names are masked, which court fits a draft."""

import datetime as dt

from assistant.drafts import Draft
from bookings.clock import in_lima
from bookings.models import BookedHour, Court, Member
from bookings.rules import MAX_DAYS_AHEAD
from bookings.selectors import occupied_hours
from bookings.values import OccupiedHour


def hours_to_tell(now: dt.datetime) -> list[OccupiedHour]:
    """Fully taken hours that could still be asked for, from this hour to the last day of bookings. Never a name: the model needs none."""
    here = in_lima(now)
    taken = occupied_hours(date_from=here.date(), date_to=here.date() + dt.timedelta(days=MAX_DAYS_AHEAD))
    return [OccupiedHour(one.date, one.sport, one.hour) for one in taken if (one.date, one.hour) > (here.date(), here.hour)]


def known_names() -> list[str]:
    """Names of all members, for the mask."""
    return list(Member.objects.exclude(name="").values_list("name", flat=True))


def find_free_court(draft: Draft) -> Court | None:
    """The first active court of the sport where every hour of the draft is free, in the order of the page."""
    hours = range(draft.start_hour, draft.start_hour + draft.hours)
    taken = BookedHour.objects.filter(date=draft.date, hour__in=hours).values("court")
    return Court.objects.filter(active=True, sport=draft.sport).exclude(pk__in=taken).first()
