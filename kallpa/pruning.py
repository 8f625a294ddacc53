"""Rows of the ground floor that have served their time; apart from what makes them, which loads the whole API."""

import datetime as dt

from django.conf import settings

from kallpa.models import IdempotencyKey


def key_lifetime() -> dt.timedelta:
    """How long the answer to an idempotency key is remembered."""
    return dt.timedelta(hours=settings.IDEMPOTENCY_HOURS)


def prune_keys(*, now: dt.datetime) -> int:
    """Deletes the keys whose time is over; returns how many."""
    return IdempotencyKey.objects.filter(created_at__lte=now - key_lifetime()).delete()[0]
