"""Calls are kept in the ledger for so many days, and no longer."""

import datetime as dt
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from assistant import ledger
from assistant.ledger import prune_calls
from assistant.models import ModelCall
from assistant.tasks import prune_calls as prune_task
from assistant.tests.test_spending_page import call
from kallpa.celery import app

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)


def bought_at(moment: dt.datetime) -> ModelCall:
    kept = call(moment)
    kept.save()
    return kept


def test_it_deletes_what_is_older(now: dt.datetime, settings: Any) -> None:
    settings.LEDGER_RETENTION_DAYS = 30
    kept = [bought_at(now - 30 * DAY), bought_at(now)]
    for _ in range(3):
        bought_at(now - 30 * DAY - dt.timedelta(seconds=1))
    assert prune_calls(now=now) == 3
    assert set(ModelCall.objects.all()) == set(kept)
    assert prune_calls(now=now) == 0


def test_it_goes_through_all_batches(now: dt.datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "PRUNE_BATCH", 2)
    for _ in range(5):
        bought_at(now - 731 * DAY)
    assert prune_calls(now=now) == 5


def test_the_command_says_how_many_went() -> None:
    bought_at(timezone.now() - 731 * DAY)
    bought_at(timezone.now())
    said = StringIO()
    call_command("prune_calls", stdout=said)
    assert said.getvalue() == "Llamadas borradas: 1 (con más de 730 días).\n"


def test_beat_runs_it_every_hour() -> None:
    entry = app.conf.beat_schedule["prune-calls"]
    assert entry["schedule"] == 3600.0
    assert entry["task"] == prune_task.name
    bought_at(timezone.now() - 731 * DAY)
    prune_task()
    assert not ModelCall.objects.exists()
