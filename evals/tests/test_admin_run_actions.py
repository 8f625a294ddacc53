"""What an engineer can do to runs from the admin's list, and what an expert cannot."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from evals.models import Run, Scoring
from evals.tests.desk import draft_row, finished_run, make_version, new_run
from kallpa.tests.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def login(*permissions: str) -> Client:
    user = User.objects.create_user("persona", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def engineer() -> Client:
    return login("view_run", "add_run")


def act(client: Client, action: str, run: Run) -> str:
    answer = client.post(reverse("admin:evals_run_changelist"), {"action": action, "_selected_action": [run.pk]}, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def status(run: Run) -> str:
    return Run.objects.get(pk=run.pk).status


def test_a_stopped_run_goes_on(engineer: Client, settings: Any) -> None:
    settings.CELERY_BROKER_URL = ""
    run = new_run(make_version([draft_row("a")]))
    Run.objects.filter(pk=run.pk).update(status="interrupted")
    assert "está en cola" in act(engineer, "resume", run)
    wait_until(lambda: status(run) == "finished", seconds=20)


def test_a_run_without_errors_has_nothing_to_ask_again(engineer: Client) -> None:
    run = finished_run(make_version([draft_row("a")]))
    assert "no tiene nada pendiente" in act(engineer, "retry_errors", run)
    assert status(run) == "finished"


def test_a_run_is_cancelled_once(engineer: Client) -> None:
    run = new_run(make_version([draft_row("a")]))
    assert "se canceló" in act(engineer, "cancel", run)
    assert "ya había terminado" in act(engineer, "cancel", run)
    assert status(run) == "cancelled"
    assert "empieza otra" in act(engineer, "resume", run)


def test_a_finished_run_is_graded_again(engineer: Client) -> None:
    run = finished_run(make_version([draft_row("a")]))
    assert "se calificó otra vez" in act(engineer, "rescore", run)
    assert Scoring.objects.filter(run=run).count() == 2
    assert "no ha terminado" in act(engineer, "rescore", new_run(run.version))


@pytest.mark.parametrize("action", ["resume", "retry_errors", "cancel", "rescore"])
def test_who_may_only_look_changes_nothing(action: str) -> None:
    run = new_run(make_version([draft_row("a")]))
    act(login("view_run"), action, run)
    assert status(run) == "queued"
    assert Scoring.objects.filter(run=run).count() == 1
