"""Leases: a row belongs to one helper at a time, and an orphan finds another. Each protection has its control."""

import datetime as dt
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from assistant.tests.loopback_provider import LoopbackProvider
from evals import claims, runner, storing
from evals.models import Result, Run, Score
from evals.runner import Surroundings, work
from evals.services import cancel_run
from evals.tests.desk import SteppingClock, draft_output, draft_row, make_version, new_run, outcome_in, surroundings
from evals.values import Outcome
from kallpa.tests.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
CASES = 24


def provide(settings: Any, wait: Callable[[], object]) -> Iterator[LoopbackProvider]:
    """A model server that answers after a wait; its ledger counts calls."""

    def answer(call: Any) -> str:
        wait()
        return draft_output()

    with LoopbackProvider(answer=answer) as provider:
        settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "prueba"
        settings.OUTBOUND_ALLOWED_HOSTS = [provider.base_url.split("/")[2]]
        settings.OUTBOUND_ALLOW_LOOPBACK = True
        yield provider


@pytest.fixture
def slow_provider(settings: Any) -> Iterator[LoopbackProvider]:
    yield from provide(settings, lambda: time.sleep(0.15))


@pytest.fixture
def told() -> Iterator[threading.Event]:
    """What the patient model server waits for."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def patient_provider(settings: Any, told: threading.Event) -> Iterator[LoopbackProvider]:
    """Takes calls and answers none of them until it is told."""
    yield from provide(settings, lambda: told.wait(120))


def slow_run(cases: int = CASES) -> Run:
    version = make_version(
        [draft_row(f"caso-{number}", input={"text": f"fulbito mañana 7 pm, pedido {number}"}) for number in range(cases)]
    )
    return new_run(version, model="prueba", concurrency=4)


def start_helper(run: Run, around: Surroundings) -> threading.Thread:
    """A helper with its own database connection."""

    def help_once() -> None:
        try:
            work(run.pk, around)
        finally:
            connection.close()

    thread = threading.Thread(target=help_once)
    thread.start()
    return thread


def help_from_threads(run: Run, helpers: int, stop: threading.Event | None = None) -> None:
    """Several helpers at once."""
    for thread in [start_helper(run, surroundings(stop)) for _ in range(helpers)]:
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


class TakeOver(NamedTuple):
    """A second helper comes while the first, still asking, has held its eight rows for longer than its first lease of a minute."""

    run: Run
    provider: LoopbackProvider
    clock: SteppingClock

    def begin(self) -> threading.Thread:
        first = start_helper(self.run, surroundings(clock=self.clock))
        wait_until(lambda: len(self.provider.calls) == 4)  # four asked, four wait for a thread
        return first

    def lease_ends(self) -> set[dt.datetime | None]:
        return set(self.run.results.values_list("lease_until", flat=True))


@pytest.fixture
def take_over(patient_provider: LoopbackProvider, settings: Any) -> TakeOver:
    settings.EVALS_LEASE_S = 60
    return TakeOver(slow_run(8), patient_provider, SteppingClock())


def test_a_living_helper_keeps_its_rows_past_the_first_lease(take_over: TakeOver, told: threading.Event) -> None:
    first = take_over.begin()
    for _ in range(3):
        take_over.clock.step(25)
        wait_until(lambda: take_over.lease_ends() == {take_over.clock.now + timedelta(seconds=60)})
    second = start_helper(take_over.run, surroundings(clock=take_over.clock))
    second.join(60)
    assert len(take_over.provider.calls) == 4
    told.set()
    first.join(60)
    assert set(calls_per_case(take_over.provider).values()) == {1}
    assert len(take_over.provider.calls) == 8


def test_without_renewal_a_living_helper_loses_its_rows(
    take_over: TakeOver, told: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: leases that nobody renews."""
    monkeypatch.setattr("evals.runner.renew_leases", lambda tokens, until: None)
    first = take_over.begin()
    take_over.clock.step(75)
    second = start_helper(take_over.run, surroundings(clock=take_over.clock))
    wait_until(lambda: len(take_over.provider.calls) == 8)
    told.set()
    for helper in (first, second):
        helper.join(60)
    assert max(calls_per_case(take_over.provider).values()) == 2


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


def test_no_case_starts_after_the_run_is_cancelled(patient_provider: LoopbackProvider, told: threading.Event) -> None:
    run = slow_run()
    helper = start_helper(run, surroundings())
    wait_until(lambda: len(patient_provider.calls) == 4)
    assert cancel_run(run=run)
    told.set()
    helper.join(60)
    assert len(patient_provider.calls) <= 2 * run.concurrency  # what was in flight
    assert Run.objects.get(pk=run.pk).status == Run.Status.CANCELLED
    assert run.results.filter(status="pending").exists()


def test_a_helper_told_to_stop_gives_back_what_it_has_not_asked(patient_provider: LoopbackProvider, told: threading.Event) -> None:
    run, stop = slow_run(), threading.Event()
    helper = start_helper(run, surroundings(stop))
    wait_until(lambda: len(patient_provider.calls) == 4)
    stop.set()
    wait_until(lambda: run.results.filter(status="claimed").count() == 4)
    told.set()
    helper.join(60)
    assert not run.results.filter(status="claimed").exists()
    assert run.results.filter(status="done").count() == len(patient_provider.calls) == 4
    work(run.pk, surroundings())
    assert set(calls_per_case(patient_provider).values()) == {1}


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
