"""Monday 9 March 2026, 10:00 in Lima, with one court of each kind."""

import datetime as dt

import pytest

from bookings.clock import LIMA
from bookings.models import Court, Member


@pytest.fixture
def now() -> dt.datetime:
    return dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)


@pytest.fixture
def member(db: None) -> Member:
    return Member.objects.create(name="Rosa Quispe")


@pytest.fixture
def other(db: None) -> Member:
    return Member.objects.create(name="Julio Paredes")


@pytest.fixture
def court(db: None) -> Court:
    return Court.objects.create(name="Fulbito 1", sport="fulbito", price_centimos_per_hour=6050)
