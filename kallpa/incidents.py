"""Incidents: opened once however many see them, told when they open and again when they are over."""

import datetime as dt
import logging
from collections.abc import Mapping
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from kallpa.alerts import Moment
from kallpa.models import Incident
from kallpa.tasks import queue_alert

logger = logging.getLogger(__name__)


class Sign(NamedTuple):
    """One report that something does not work: its cause by name, the same in a fixed sentence, and what was counted."""

    cause: str
    detail: str = ""
    counts: Mapping[str, int] = {}


def open_incidents() -> QuerySet[Incident]:
    """What is not over, the oldest first."""
    return Incident.objects.filter(closed_at=None).order_by("opened_at", "pk")


def open_incident(kind: Incident.Kind, subject: str, sign: Sign, *, now: dt.datetime) -> bool:
    """Opens the incident and alerts once this transaction commits; one that is open gets one more sign. True if it was opened here."""
    if _add_sign(kind, subject, now):
        return False
    try:
        with transaction.atomic():
            made = Incident.objects.create(kind=kind, subject=subject, opened_at=now, last_sign_at=now, **sign._asdict())
    except IntegrityError:  # another was first
        _add_sign(kind, subject, now)
        return False
    transaction.on_commit(lambda: _tell(made, "opened"))
    return True


def close_incident(kind: Incident.Kind, subject: str, *, now: dt.datetime) -> bool:
    """Ends the open incident and says so once this transaction commits. True if it was closed here."""
    found = open_incidents().filter(kind=kind, subject=subject).first()
    if found is None or not Incident.objects.filter(pk=found.pk, closed_at=None).update(closed_at=max(now, found.opened_at)):
        return False
    transaction.on_commit(lambda: _tell(found, "closed"))
    return True


def end_silent(kind: Incident.Kind, *, since: dt.datetime, now: dt.datetime) -> int:
    """Ends what has given no sign since then, and says how many those were: nobody tries it any more."""
    silent = open_incidents().filter(kind=kind, last_sign_at__lt=since).values_list("subject", flat=True)
    return sum(close_incident(kind, subject, now=now) for subject in list(silent))


def _add_sign(kind: Incident.Kind, subject: str, now: dt.datetime) -> bool:
    """False when none is open. Looks before it writes: most often there is nothing to write."""
    found = open_incidents().filter(kind=kind, subject=subject)
    return found.exists() and bool(found.update(signs=F("signs") + 1, last_sign_at=now))


def _tell(incident: Incident, moment: Moment) -> None:
    logger.error("incident %s %s: %s, cause %s", incident.pk, moment, incident, incident.cause)
    queue_alert(incident.pk, moment)
