"""What beat asks for on the ground floor. Every task may run twice."""

from celery import shared_task
from django.utils import timezone

from kallpa.idempotency import prune_keys


@shared_task
def prune() -> None:
    """Deletes what has served its time."""
    prune_keys(now=timezone.now())
