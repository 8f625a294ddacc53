"""Leases: a row belongs to one helper at a time, and an orphan finds another. Each protection has its control."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from assistant.tests.loopback_provider import LoopbackProvider
from evals import claims, runner, storing
from evals.models import Result, Run, Score
from evals.runner import work
from evals.services import cancel_run
from evals.tests.desk import draft_output, draft_row, make_version, new_run, outcome_in, surroundings
from evals.values import Outcome
from kallpa.tests.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
CASES = 24


def provide(settings: Any, *, delay_s: float) -> Iterator[LoopbackProvider]:
    """A model server that answers after a while; its ledger counts calls."""

    def answer(call: Any) -> str:
        time.sleep(delay_s)
        return draft_output()

    with LoopbackProvider(answer=answer) as provider:
        settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "prueba"
        settings.OUTBOUND_ALLOWED_HOSTS = [provider.base_url.split("/")[2]]
        settings.OUTBOUND_ALLOW_LOOPBACK = True
        yield provider


@pytest.fixture
def slow_provider(settings: Any) -> Iterator[LoopbackProvider]:
    yield from provide(settings, delay_s=0.15)


def slow_run(cases: int = CASES) -> Run:
    version = make_version(
        [draft_row(f"caso-{number}", input={"text": f"fulbito mañana 7 pm, pedido {number}"}) for number in range(cases)]
    )
    return new_run(version, model="prueba", concurrency=4)


def help_from_threads(run: Run, helpers: int, stop: threading.Event | None = None) -> None:
    """Several helpers at once, each with its own database connection."""

    def help_once() -> None:
        try:
            work(run.pk, surroundings(stop))
        finally:
            connection.close()

    threads = [threading.Thread(target=help_once) for _ in range(helpers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def calls_per_case(provider: LoopbackProvider) -> Counter[str]:
    return Counter(call.text for call in provider.calls)


def test_helpers_at_the_same_time_ask_each_case_once(slow_provider: LoopbackProvider) -> None:
    run = slow_run()
    help_from_threads(run, helpers=3)
    assert set(calls_per_case(slow_provider).values()) == {1}
    assert len(slow_provider.calls) == CASES
    assert list(run.results.values_list("status", flat=True)) == ["done"] * CASES
    assert Run.objects.get(pk=run.pk).status == Run.Status.FINISHED
    assert Score.objects.filter(metric="correct").count() == CASES


def test_without_the_condition_helpers_ask_the_same_case_twice(slow_provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: claims that ignore that a row is taken."""
    monkeypatch.setattr(claims, "_claimable", lambda run, now: Q(run=run) & ~Q(status__in=("done", "error")))
    run, stop = slow_run(), threading.Event()
    helpers = threading.Thread(target=help_from_threads, args=(run, 3, stop))
    helpers.start()
    wait_until(lambda: len(slow_provider.calls) > CASES, seconds=30)
    stop.set()
    helpers.join(60)
    assert max(calls_per_case(slow_provider).values()) > 1


def take_over(run: Run, provider: LoopbackProvider, *, after_s: float) -> None:
    """A second helper comes while the first one, still alive, has been at work for longer than its first lease."""
    stop = threading.Event()
    first = threading.Thread(target=help_from_threads, args=(run, 1, stop))
    first.start()
    wait_until(lambda: len(provider.calls) > 0, seconds=20)
    time.sleep(after_s)
    second = threading.Thread(target=help_from_threads, args=(run, 1, stop))
    second.start()
    wait_until(lambda: not second.is_alive() or len(provider.calls) > 8, seconds=20)
    stop.set()  # without renewal the two would take the rows from each other again and again
    for helper in (first, second):
        helper.join(60)


@pytest.fixture
def very_slow_provider(settings: Any) -> Iterator[LoopbackProvider]:
    """Answers after a second, so that eight cases, four at once, take two leases of a second."""
    settings.EVALS_LEASE_S = 1
    yield from provide(settings, delay_s=1.0)


def test_a_living_helper_keeps_its_rows_past_the_first_lease(very_slow_provider: LoopbackProvider) -> None:
    take_over(slow_run(8), very_slow_provider, after_s=1.3)
    assert len(very_slow_provider.calls) == 8


def test_without_renewal_a_living_helper_loses_its_rows(very_slow_provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: leases that nobody renews."""
    monkeypatch.setattr("evals.runner.renew_leases", lambda tokens, until: None)
    take_over(slow_run(8), very_slow_provider, after_s=1.3)
    assert len(very_slow_provider.calls) > 8


def orphan(run: Run, *, lease_left_s: float) -> None:
    """What a killed helper leaves behind: claimed rows and a lease that runs out."""
    until = timezone.now() + timedelta(seconds=lease_left_s)
    rows = run.results.order_by("id")[:5].values_list("pk", flat=True)
    Result.objects.filter(pk__in=list(rows)).update(status="claimed", lease_token="muerto", lease_until=until)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)


def test_rows_of_a_dead_helper_are_claimed_again_once_the_lease_is_over() -> None:
    run = new_run(make_version([draft_row(f"caso-{number}") for number in range(10)]))
    orphan(run, lease_left_s=-1)
    assert work(run.pk, surroundings()).status == Run.Status.FINISHED
    assert run.results.filter(status="done").count() == 10


def test_rows_of_a_living_helper_are_left_alone() -> None:
    run = new_run(make_version([draft_row(f"caso-{number}") for number in range(10)]))
    orphan(run, lease_left_s=60)
    assert work(run.pk, surroundings()).status == Run.Status.RUNNING
    assert run.results.filter(status="done").count() == 5
    assert run.results.filter(lease_token="muerto").count() == 5


def test_without_expiry_a_dead_helper_keeps_its_rows_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the two tests above."""
    monkeypatch.setattr(claims, "_claimable", lambda run, now: Q(run=run, status="pending"))
    run = new_run(make_version([draft_row(f"caso-{number}") for number in range(10)]))
    orphan(run, lease_left_s=-1)
    assert work(run.pk, surroundings()).status == Run.Status.RUNNING
    assert run.results.filter(status="claimed").count() == 5


FIRST = Outcome("refuse", said="primero")


def lose_the_lease_while_asking(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the only call is in flight, another helper stores its answer to the same row."""
    ask = runner._ask

    def ask_slowly(target: Any, row: Any) -> Any:
        other = threading.Thread(target=store_first, args=(row.result_id,))
        other.start()
        other.join()
        return ask(target, row)

    monkeypatch.setattr(runner, "_ask", ask_slowly)
    work(run.pk, surroundings())


def store_first(result_id: int) -> None:
    row = runner.Claimed(result_id, Result.objects.get(pk=result_id).lease_token, None, None, None)  # type: ignore[arg-type]
    assert storing.write_result(row, FIRST, now=timezone.now())
    connection.close()


def test_an_answer_that_comes_after_its_lease_was_lost_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(make_version([draft_row("a")]))
    lose_the_lease_while_asking(run, monkeypatch)
    assert outcome_in(run, "a") == FIRST
    assert not Score.objects.exists()


def test_without_the_token_a_late_answer_would_be_scored_over_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: stores that ignore who holds the row, and a table that does not refuse the change."""
    monkeypatch.setattr("evals.storing.hold_result", lambda result_id, token: Result.objects.filter(pk=result_id))
    with connection.cursor() as cursor:
        suffix = " ON evals_result" if connection.vendor == "postgresql" else ""
        cursor.execute(f"DROP TRIGGER frozen_UPDATE_evals_result{suffix}")
    try:
        run = new_run(make_version([draft_row("a")]))
        lose_the_lease_while_asking(run, monkeypatch)
        assert outcome_in(run, "a") != FIRST
    finally:
        _install_triggers_again()


def _install_triggers_again() -> None:
    from importlib import import_module

    migration = import_module("evals.migrations.0002_frozen_rows")
    condition, message = migration.FROZEN["evals_result"]
    build = {"sqlite": migration._sqlite, "postgresql": migration._postgresql}[connection.vendor]
    with connection.cursor() as cursor:
        for statement in build("evals_result", "UPDATE", condition, message):
            cursor.execute(statement.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"))


def test_no_case_starts_after_the_run_is_cancelled(slow_provider: LoopbackProvider) -> None:
    run = slow_run()
    helper = threading.Thread(target=help_from_threads, args=(run, 1))
    helper.start()
    while not slow_provider.calls:
        time.sleep(0.02)
    assert cancel_run(run=run)
    in_flight = 2 * run.concurrency
    asked = len(slow_provider.calls)
    helper.join(60)
    assert len(slow_provider.calls) <= asked + in_flight
    assert Run.objects.get(pk=run.pk).status == Run.Status.CANCELLED
    assert run.results.filter(status="pending").exists()


def test_a_helper_told_to_stop_gives_back_what_it_has_not_asked(slow_provider: LoopbackProvider) -> None:
    run, stop = slow_run(), threading.Event()

    def help_once() -> None:
        work(run.pk, surroundings(stop))
        connection.close()

    helper = threading.Thread(target=help_once)
    helper.start()
    while not slow_provider.calls:
        time.sleep(0.02)
    stop.set()
    helper.join(60)
    assert not run.results.filter(status="claimed").exists()
    assert run.results.filter(status="done").count() == len(slow_provider.calls)
    work(run.pk, surroundings())
    assert set(calls_per_case(slow_provider).values()) == {1}


def test_one_crash_is_one_error_and_the_run_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    from evals.targets.booking import BookingAssistant

    ask = BookingAssistant.run

    def crash_once(self: BookingAssistant, case: Any, model: Any) -> Any:
        if case.key == "caso-3":
            raise ZeroDivisionError("división entre cero")
        return ask(self, case, model)

    monkeypatch.setattr(BookingAssistant, "run", crash_once)
    run = work(new_run(make_version([draft_row(f"caso-{number}") for number in range(10)])).pk, surroundings())
    assert run.status == Run.Status.FINISHED
    assert run.results.filter(status="done").count() == 9
    assert run.results.get(status="error").error_cause == "crash"
