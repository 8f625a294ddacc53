"""Queued runs without a broker: the process that started them helps in a daemon thread, once the transaction commits."""

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from evals.models import Run, Score, Scoring
from evals.runner import work
from evals.selectors import is_dead, runs_that_need_help
from evals.tasks import help_run, queue_help, sweep_runs
from evals.tests.desk import draft_row, make_version, new_run, surroundings
from kallpa.tests.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("help-run-")]


def finished(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).status == Run.Status.FINISHED


@pytest.fixture(autouse=True)
def _leave_no_helper_behind(settings: Any) -> Any:
    settings.CELERY_BROKER_URL = ""
    yield
    for thread in helpers():
        thread.join(20)


def test_a_queued_run_closes_by_itself() -> None:
    run = new_run(make_version([draft_row("a"), draft_row("b")]), queue=True)
    wait_until(lambda: finished(run), seconds=20)
    assert run.results.filter(status="done").count() == 2


def test_help_is_asked_for_only_after_the_commit() -> None:
    version = make_version([draft_row("a")])
    with transaction.atomic():
        run = new_run(version, queue=True)
        time.sleep(0.2)
        assert helpers() == []
    wait_until(lambda: finished(run), seconds=20)


def test_a_rolled_back_run_asks_for_no_help() -> None:
    version = make_version([draft_row("a")])
    with transaction.atomic():
        new_run(version, queue=True)
        transaction.set_rollback(True)
    assert helpers() == []
    assert not Run.objects.exists()


def test_every_task_may_run_twice_and_after_the_end() -> None:
    run = new_run(make_version([draft_row(f"caso-{number}") for number in range(30)]))
    twins = [threading.Thread(target=queue_help, args=(run.pk,)) for _ in range(2)]
    for twin in twins:
        twin.start()
    wait_until(lambda: finished(run) and not helpers(), seconds=20)
    closed = Scoring.objects.get(run=run)
    help_run(run.pk)
    help_run(run.pk)
    assert Score.objects.filter(metric="correct").count() == 30
    again = Scoring.objects.get(run=run)
    assert (again.closed_at, again.verdict) == (closed.closed_at, closed.verdict)


def test_the_sweeper_finds_runs_that_nobody_works_on() -> None:
    version = make_version([draft_row("a")])
    forgotten, finished_run, held, stopped = (new_run(version) for _ in range(4))
    work(finished_run.pk, surroundings())
    held.results.update(status="claimed", lease_token="vivo", lease_until=timezone.now() + timedelta(minutes=1))
    Run.objects.filter(pk=stopped.pk).update(status=Run.Status.INTERRUPTED)
    assert list(runs_that_need_help(timezone.now())) == [forgotten]
    held.results.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert list(runs_that_need_help(timezone.now())) == [forgotten, held]


def test_the_sweeper_closes_a_run_whose_last_helper_died_before_closing_it(settings: Any) -> None:
    run = new_run(make_version([draft_row("a")]))
    run.results.update(status="error", error_cause="crash", finished_at=timezone.now())
    settings.CELERY_TASK_ALWAYS_EAGER = True
    from kallpa.celery import app

    app.conf.task_always_eager = True
    try:
        sweep_runs()
    finally:
        app.conf.task_always_eager = False
    assert finished(run)


def test_a_run_without_a_living_helper_is_dead_after_a_while() -> None:
    run = new_run(make_version([draft_row("a")]))
    later = timezone.now() + timedelta(minutes=6)
    assert not is_dead(run, now=timezone.now(), grace=timedelta(minutes=5))
    assert is_dead(run, now=later, grace=timedelta(minutes=5))
    run.results.update(status="claimed", lease_token="vivo", lease_until=later + timedelta(seconds=30))
    assert not is_dead(run, now=later, grace=timedelta(minutes=5))
