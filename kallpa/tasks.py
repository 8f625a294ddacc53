"""What Celery carries on the ground floor: ids only. Every task may run twice."""

import logging
import threading

from celery import shared_task
from django.conf import settings
from django.db import connection
from django.utils import timezone
from kombu.exceptions import OperationalError

from kallpa import alerts
from kallpa.pruning import prune_keys

logger = logging.getLogger(__name__)


@shared_task
def prune() -> None:
    """Deletes what has served its time."""
    prune_keys(now=timezone.now())


@shared_task
def send_alert(incident_id: int, moment: alerts.Moment) -> None:
    """Tells the readers of an incident that it opened or closed."""
    alerts.send_alert(incident_id, moment)


def queue_alert(incident_id: int, moment: alerts.Moment) -> None:
    """Has the readers told by a worker, or by a thread of this process when no broker answers. Nobody waits for it."""
    if not alerts.has_readers():
        return
    if settings.CELERY_BROKER_URL:
        try:
            send_alert.delay(incident_id, moment)
            return
        except OperationalError:
            logger.exception("incident %s: no worker could be told, this process sends the alert itself", incident_id)
    # Not a daemon: a command that ends because of the incident must not cut its mail. Time limits bound it.
    threading.Thread(target=_send_in_thread, args=(incident_id, moment), name=f"alert-{incident_id}-{moment}").start()


def _send_in_thread(incident_id: int, moment: alerts.Moment) -> None:
    try:
        alerts.send_alert(incident_id, moment)
    finally:
        connection.close()
