"""What the database refuses to keep as a use of the assistant."""

import datetime as dt
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from assistant.models import Interaction
from bookings.clock import LIMA

NOW = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)
DRAFT = {"sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}
GOOD: list[dict[str, Any]] = [
    {"kind": "draft", "draft": DRAFT},
    {"kind": "draft", "draft": DRAFT, "follow_up": "confirmed", "followed_at": NOW},
    {"kind": "clarify", "question": "¿A qué hora?"},
    {"kind": "refuse"},
    {"kind": "rejected", "reason": "NOT_JSON"},
    {"kind": "unavailable", "cause": "timeout"},
]
BAD: list[dict[str, Any]] = [
    {"kind": "guess"},
    {"kind": "draft"},
    {"kind": "refuse", "draft": DRAFT},
    {"kind": "rejected"},
    {"kind": "refuse", "reason": "NOT_JSON"},
    {"kind": "unavailable"},
    {"kind": "rejected", "reason": "NOT_JSON", "cause": "timeout"},
    {"kind": "draft", "draft": DRAFT, "follow_up": "sold", "followed_at": NOW},
    {"kind": "draft", "draft": DRAFT, "follow_up": "confirmed"},
    {"kind": "draft", "draft": DRAFT, "followed_at": NOW},
    {"kind": "refuse", "follow_up": "confirmed", "followed_at": NOW},
]


@pytest.mark.django_db
@pytest.mark.parametrize("facts", GOOD, ids=str)
def test_it_keeps_a_use_whose_facts_agree(facts: dict[str, Any]) -> None:
    assert Interaction.objects.create(created_at=NOW, **facts).pk


@pytest.mark.django_db
@pytest.mark.parametrize("facts", BAD, ids=str)
def test_it_refuses_a_use_whose_facts_do_not_agree(facts: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Interaction.objects.create(created_at=NOW, **facts)
