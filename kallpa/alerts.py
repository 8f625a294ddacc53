"""What an incident says to people and programs outside: by e-mail and webhook, where the settings name them."""

import logging
from typing import Any, Literal

from django.conf import settings
from django.core.mail import send_mail
from django.db.models.functions import Now
from django.utils.timezone import localtime

from kallpa.models import Incident
from kallpa.outbound import Deadline, OutboundError, shared_client

logger = logging.getLogger(__name__)

Moment = Literal["opened", "closed"]
TOLD: dict[Moment, str] = {"opened": "opening_told_at", "closed": "closing_told_at"}
WEBHOOK_TIMEOUT_S = 10.0
MAX_ANSWER_BYTES = 65_536


def has_readers() -> bool:
    """Whether anybody outside is to be told."""
    return bool(settings.ALERT_EMAILS or settings.ALERT_WEBHOOK_URL)


def send_alert(incident_id: int, moment: Moment) -> None:
    """Tells each reader, once however often this is called. A reader that cannot be reached is logged and keeps no other from it."""
    told = TOLD[moment]
    if not Incident.objects.filter(pk=incident_id, **{told: None}).update(**{told: Now()}):
        return
    incident = Incident.objects.get(pk=incident_id)
    if settings.ALERT_EMAILS:
        _send_mail(incident, moment)
    if settings.ALERT_WEBHOOK_URL:
        _post(incident, moment)


def say(incident: Incident, moment: Moment = "opened") -> str:
    """One sentence: what, since when, why."""
    since = f"desde el {localtime(incident.opened_at):%d/%m/%Y a las %H:%M}"
    why = f"{incident.detail} ({incident.cause})" if incident.detail else f"Causa: {incident.cause}"
    if moment == "opened" or incident.closed_at is None:
        return f"{incident}, {since}. {why}."
    return f"Terminó: {incident}. Estuvo así {since} hasta el {localtime(incident.closed_at):%d/%m/%Y a las %H:%M}. {why}."


def _send_mail(incident: Incident, moment: Moment) -> None:
    subject = f"[Kallpa] {'Terminó: ' if moment == 'closed' else ''}{incident}"
    try:
        send_mail(subject[:200], f"{say(incident, moment)}\n", settings.DEFAULT_FROM_EMAIL, settings.ALERT_EMAILS)
    except OSError as error:  # no connection, or whatever the server answered: SMTPException is one
        logger.error("incident %s: the mail could not be sent (%s)", incident.pk, type(error).__name__)


def _post(incident: Incident, moment: Moment) -> None:
    """The address stays out of the log: with many services it is itself the secret."""
    try:
        deadline = Deadline(WEBHOOK_TIMEOUT_S)
        answer = shared_client().post_json(
            settings.ALERT_WEBHOOK_URL, _as_json(incident, moment), headers={}, deadline=deadline, max_bytes=MAX_ANSWER_BYTES
        )
    except (OutboundError, ValueError) as error:  # ValueError: OUTBOUND_ALLOWED_HOSTS holds something that is no host
        logger.error("incident %s: the webhook could not be called: %s", incident.pk, error)
        return
    if not 200 <= answer.status < 300:
        logger.error("incident %s: the webhook answered HTTP %s", incident.pk, answer.status)


def _as_json(incident: Incident, moment: Moment) -> dict[str, Any]:
    """`text` is what chat services show; the rest is for programs."""
    return {
        "text": say(incident, moment),
        "event": f"incident.{moment}",
        "id": incident.pk,
        "kind": incident.kind,
        "subject": incident.subject,
        "cause": incident.cause,
        "counts": incident.counts,
        "signs": incident.signs,
        "opened_at": incident.opened_at.isoformat(),
        "closed_at": incident.closed_at and incident.closed_at.isoformat(),
    }
