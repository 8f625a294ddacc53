"""Monday 9 March 2026, 10:00 in Lima: one court of fulbito, two neighbours with accounts, counters of one's own."""

import datetime as dt
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from bookings.clock import LIMA
from bookings.models import Court, Member


@pytest.fixture(autouse=True)
def own_counters(settings: Any) -> None:
    """Tests that run at the same time share a Redis, never a counter."""
    settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid.uuid4().hex}}


@pytest.fixture
def now() -> dt.datetime:
    return dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)


@pytest.fixture
def member(db: None) -> Member:
    user = User.objects.create_user("rosa")
    return Member.objects.create(user=user, name="Rosa Quispe", phone="987 654 321", team_name="Las Vicuñas")


@pytest.fixture
def other(db: None) -> Member:
    user = User.objects.create_user("julio")
    return Member.objects.create(user=user, name="Julio Paredes", phone="912 345 678", team_name="Los Cóndores")


@pytest.fixture
def court(db: None) -> Court:
    return Court.objects.create(name="Fulbito 1", sport="fulbito", price_centimos_per_hour=6050)
