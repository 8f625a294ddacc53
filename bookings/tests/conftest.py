"""Monday 9 March 2026, 10:00 in Lima, with one court of each kind."""

import datetime as dt
from collections.abc import Iterator

import pytest
from django.db import connection

from bookings.clock import LIMA
from bookings.models import BookedHour, Court, Member


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


@pytest.fixture
def no_unique_hours(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For controls: a database that no longer decides who was first."""
    everything = BookedHour._meta.constraints
    unique = next(constraint for constraint in everything if constraint.name == "one_booking_per_court_date_hour")
    with monkeypatch.context() as patch, connection.schema_editor() as editor:
        patch.setattr(BookedHour._meta, "constraints", [constraint for constraint in everything if constraint is not unique])
        editor.remove_constraint(BookedHour, unique)
    yield
    BookedHour.objects.all().delete()
    with connection.schema_editor() as editor:
        editor.add_constraint(BookedHour, unique)
