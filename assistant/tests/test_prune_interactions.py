"""Uses of the assistant are kept for so many days, and no longer."""

import datetime as dt
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from assistant import services
from assistant.models import Interaction, UserReport
from assistant.services import prune_interactions
from assistant.tasks import prune_interactions as prune_task
from kallpa.celery import app

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)


def use_at(moment: dt.datetime) -> Interaction:
    interaction = Interaction.objects.create(created_at=moment, kind="refuse")
    UserReport.objects.create(interaction=interaction, created_at=moment)
    return interaction


def test_it_deletes_what_is_older_and_its_reports(now: dt.datetime, settings: Any) -> None:
    settings.INTERACTION_RETENTION_DAYS = 30
    kept = [use_at(now - 30 * DAY), use_at(now)]
    for _ in range(3):
        use_at(now - 30 * DAY - dt.timedelta(seconds=1))
    assert prune_interactions(now=now) == 3
    assert set(Interaction.objects.all()) == set(kept)
    assert UserReport.objects.count() == 2
    assert prune_interactions(now=now) == 0


def test_it_goes_through_all_batches(now: dt.datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "PRUNE_BATCH", 2)
    for _ in range(5):
        use_at(now - 181 * DAY)
    assert prune_interactions(now=now) == 5


def test_the_command_says_how_many_went() -> None:
    use_at(timezone.now() - 181 * DAY)
    use_at(timezone.now())
    said = StringIO()
    call_command("prune_interactions", stdout=said)
    assert said.getvalue() == "Usos del asistente borrados: 1 (con más de 180 días).\n"


def test_beat_runs_it_every_hour() -> None:
    entry = app.conf.beat_schedule["prune-interactions"]
    assert entry["schedule"] == 3600.0
    assert entry["task"] == prune_task.name
    use_at(timezone.now() - 181 * DAY)
    prune_task()
    assert not Interaction.objects.exists()
