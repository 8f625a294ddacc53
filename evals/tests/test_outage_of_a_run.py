"""A model that is down makes a run wait; it does not burn its rows. One row at a time tries, and a command waits so long and no longer."""

import datetime as dt
import threading
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from assistant.breaker import Circuit
from assistant.models import ModelCall
from assistant.tests.loopback_provider import Call, LoopbackProvider, Reply
from evals.models import Result, Run
from evals.outages import Patience
from evals.releases import ExitCode, judge_release
from evals.runner import Surroundings, work
from evals.tasks import help_run, queue_help
from evals.tests.commands import point_at, run_command
from evals.tests.desk import SteppingClock, draft_output, draft_row, make_version, new_run
from kallpa.models import Incident
from kallpa.tests.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = 200
IN_FLIGHT = 16  # with a concurrency of 8
# What can be asked before the circuit opens: four failures that were noted, and as many rows as were in flight at the fifth.
MOST_BEFORE_IT_OPENS = 5 - 1 + IN_FLIGHT


class Provider:
    """Answers 503 to its first `dead` calls, and to every text in `poison`; otherwise with the right draft."""

    def __init__(self) -> None:
        self.dead = 0
        self.poison: frozenset[str] = frozenset()
        self.status = 503

    def __call__(self, call: Call) -> Any:
        if call.number <= self.dead or any(word in call.text for word in self.poison):
            return Reply(status=self.status)
        return draft_output()


@pytest.fixture
def answer() -> Provider:
    return Provider()


@pytest.fixture
def provider(answer: Provider, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackProvider]:
    monkeypatch.setattr("assistant.llm.provider.RETRYABLE", ())  # a call is one request, and none waits
    settings.LLM_API_KEY = settings.CELERY_BROKER_URL = ""
    with LoopbackProvider(answer) as server:
        point_at(settings, server)
        yield server


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


def rows_of(count: int) -> list[dict[str, Any]]:
    return [
        draft_row(f"caso-{number:03}", input={"text": f"fulbito mañana a las 7 de la noche, pedido {number:03}."})
        for number in range(count)
    ]


def start(count: int, *, concurrency: int = 8) -> Run:
    return new_run(make_version(rows_of(count)), model="prueba", concurrency=concurrency)


def help_with(run: Run, clock: SteppingClock) -> Run:
    return work(run.pk, Surroundings(clock=clock, stop=threading.Event()))


def help_until_closed(run: Run, clock: SteppingClock) -> Run:
    """As often as it takes, half a minute apart."""
    for _ in range(20):
        run = help_with(run, clock)
        if run.status == Run.Status.FINISHED:
            return run
        clock.step(31)
    raise AssertionError("it never closed")


def statuses(run: Run) -> dict[str, int]:
    found = list(run.results.values_list("status", flat=True))
    return {status: found.count(status) for status in set(found)}


def test_a_provider_that_is_dead_at_first_costs_no_row(answer: Provider, provider: LoopbackProvider, clock: SteppingClock) -> None:
    answer.dead = 20
    run = help_until_closed(start(ROWS), clock)
    assert statuses(run) == {"done": ROWS}
    assert len(provider.calls) == ROWS + answer.dead
    assert ModelCall.objects.filter(outcome="server-error").count() == answer.dead  # a call whose answer did not count was made
    incident = Incident.objects.get()
    assert (incident.cause, incident.closed_at is not None) == ("server-error", True)


def test_control_without_the_pause_it_burns_the_rows(
    answer: Provider, provider: LoopbackProvider, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evals.outages.circuit_of", lambda model: None)
    answer.dead = ROWS // 2
    run = help_with(start(ROWS), clock)
    assert run.status == Run.Status.FINISHED
    assert statuses(run) == {"error": ROWS // 2, "done": ROWS // 2}


def test_while_it_is_down_one_row_at_a_time_tries(answer: Provider, provider: LoopbackProvider, clock: SteppingClock) -> None:
    answer.dead = 10**6
    run = help_with(start(ROWS), clock)
    assert run.status == Run.Status.RUNNING
    assert statuses(run) == {"pending": ROWS}
    began = len(provider.calls)
    assert 5 <= began <= MOST_BEFORE_IT_OPENS
    help_with(run, clock)
    assert len(provider.calls) == began  # not yet
    for number in range(1, 4):
        clock.step(31)
        help_with(run, clock)
        help_with(run, clock)
        assert len(provider.calls) == began + number
    assert statuses(run) == {"pending": ROWS}


def test_two_helpers_send_one_probe(answer: Provider, provider: LoopbackProvider, clock: SteppingClock) -> None:
    answer.dead = 10**6
    run = help_with(start(40), clock)
    clock.step(31)
    began, together = len(provider.calls), threading.Barrier(2)

    def help_at_once() -> None:
        from django.db import connection

        together.wait(20)
        try:
            help_with(run, clock)
        finally:
            connection.close()

    helpers = [threading.Thread(target=help_at_once) for _ in range(2)]
    for helper in helpers:
        helper.start()
    for helper in helpers:
        helper.join(30)
    assert len(provider.calls) == began + 1


@pytest.mark.parametrize("count", [5, 6, 12])  # so many open the circuit twice; of 12 some are left to be the probe, whoever is quick
def test_rows_that_always_fail_do_not_hold_the_run_for_ever(
    answer: Provider, provider: LoopbackProvider, clock: SteppingClock, count: int
) -> None:
    answer.poison = frozenset(f"pedido {number:03}." for number in range(10, 10 + count))
    run = help_until_closed(start(30, concurrency=1), clock)
    assert statuses(run) == {"done": 30 - count, "error": count}
    assert set(run.results.filter(status="error").values_list("error_cause", flat=True)) == {"server-error"}


def test_control_a_probe_that_is_put_off_whatever_was_answered_since_never_lets_the_run_close(
    answer: Provider, provider: LoopbackProvider, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.breaker.Circuit.was_mended_since", lambda circuit, moment: False)
    answer.poison = frozenset(f"pedido {number:03}." for number in range(10, 22))
    with pytest.raises(AssertionError, match="it never closed"):
        help_until_closed(start(30, concurrency=1), clock)


def test_in_one_long_outage_no_probe_is_burned_however_often_it_tries(
    answer: Provider, provider: LoopbackProvider, clock: SteppingClock
) -> None:
    answer.dead = 10**6
    run = help_with(start(10), clock)
    for _ in range(25):  # each row more than once
        clock.step(31)
        help_with(run, clock)
    assert statuses(run) == {"pending": 10}
    assert len(provider.calls) >= 5 + 25
    answer.dead = 0
    assert statuses(help_until_closed(run, clock)) == {"done": 10}


def test_a_few_failures_among_answers_pause_nothing(answer: Provider, provider: LoopbackProvider, clock: SteppingClock) -> None:
    answer.poison = frozenset(f"pedido {number:03}." for number in (3, 9, 15))
    run = help_with(start(20, concurrency=1), clock)
    assert run.status == Run.Status.FINISHED
    assert statuses(run) == {"done": 17, "error": 3}
    assert len(provider.calls) == 20
    assert not Incident.objects.exists()


@pytest.mark.parametrize(("status", "cause"), [(401, "auth"), (400, "bad-request")])
def test_what_waiting_does_not_mend_pauses_nothing(
    answer: Provider, provider: LoopbackProvider, clock: SteppingClock, status: int, cause: str
) -> None:
    answer.dead, answer.status = 10**6, status
    run = help_with(start(40), clock)
    assert run.status == Run.Status.FINISHED
    assert statuses(run) == {"error": 40}
    assert set(run.results.values_list("error_cause", flat=True)) == {cause}
    assert Incident.objects.get().cause == cause  # and yet it is told


def test_a_new_process_knows_of_the_outage_from_the_database(
    answer: Provider, provider: LoopbackProvider, clock: SteppingClock, settings: Any
) -> None:
    answer.dead = 10**6
    run = help_with(start(40), clock)
    began = len(provider.calls)
    settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid.uuid4().hex}}  # with a memory of its own
    clock.step(31)
    help_with(run, clock)
    assert len(provider.calls) == began + 1
    assert statuses(run) == {"pending": 40}


def test_the_gate_says_that_a_run_waits_for_its_model(answer: Provider, provider: LoopbackProvider, clock: SteppingClock) -> None:
    answer.dead = 10**6
    version = make_version(rows_of(40), needs_scripted=False, needs_real=True)
    run = help_with(new_run(version, model="prueba", purpose="release", commit="abc1234"), clock)
    gate = judge_release(version.dataset, commit="abc1234", max_age=None, now=dt.datetime.now(dt.UTC))
    sentence = f"La última corrida de este commit ({run.pk}) espera a que el modelo responda (server-error)."
    assert (gate.code, gate.sentence) == (ExitCode.INCOMPLETE, sentence)


# --- Commands and helpers in the background -------------------------------------------------------------------------------


@pytest.fixture
def impatient(settings: Any) -> None:
    settings.BREAKER_OPEN_S, settings.EVALS_OUTAGE_PATIENCE_S = 1, 2


LOOKS = 4  # two seconds of patience, half a second at a time: a probe may be due at each look of a slow machine, at no more


def test_a_command_leaves_a_run_that_can_be_resumed(answer: Provider, provider: LoopbackProvider, impatient: None) -> None:
    answer.dead = 10**6
    version = make_version(rows_of(40), needs_scripted=False, needs_real=True)
    code, _, err = run_command("eval_run", version.dataset.slug, "--model", "prueba", "--purpose", "release")
    run = Run.objects.get()
    assert code == 3
    assert "prueba no responde (server-error): la corrida espera y prueba con un caso cada 1 s, hasta 2 s en total." in err
    assert f"No se perdió ningún caso: sigue con manage.py eval_resume {run.pk}" in err
    assert (run.status, statuses(run)) == (Run.Status.INTERRUPTED, {"pending": 40})
    assert len(provider.calls) <= MOST_BEFORE_IT_OPENS + LOOKS
    Run.objects.update(commit="abc1234")
    gate = judge_release(version.dataset, commit="abc1234", max_age=None, now=dt.datetime.now(dt.UTC))
    assert (gate.code, gate.sentence) == (ExitCode.INCOMPLETE, f"La última corrida de este commit ({run.pk}) quedó interrumpida.")
    Run.objects.update(commit=run.commit)
    answer.dead = 0
    code, _, _ = run_command("eval_resume", str(run.pk))
    assert code == 0
    assert statuses(run) == {"done": 40}


def test_a_command_goes_on_when_the_model_is_back(answer: Provider, provider: LoopbackProvider, impatient: None, settings: Any) -> None:
    settings.EVALS_OUTAGE_PATIENCE_S = 60
    answer.dead = MOST_BEFORE_IT_OPENS + 1  # at least one probe finds it dead
    version = make_version(rows_of(40))
    code, out, _ = run_command("eval_run", version.dataset.slug, "--model", "prueba")
    assert code == 0
    assert "40 de 40 medidos" in out
    assert len(provider.calls) == 40 + MOST_BEFORE_IT_OPENS + 1


def test_a_thread_of_the_web_process_interrupts_a_run_that_it_cannot_help(
    answer: Provider, provider: LoopbackProvider, impatient: None
) -> None:
    answer.dead = 10**6
    run = start(20)
    queue_help(run.pk)
    wait_until(lambda: Run.objects.get().status == Run.Status.INTERRUPTED, seconds=30)
    for thread in threading.enumerate():
        if thread.name.startswith("help-run-"):
            thread.join(20)
    assert statuses(run) == {"pending": 20}


def test_a_task_returns_and_the_sweeper_s_next_message_probes(
    answer: Provider, provider: LoopbackProvider, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BREAKER_OPEN_S, answer.dead = 1, 10**6
    run = start(20)
    help_run(run.pk)
    began = len(provider.calls)
    assert (Run.objects.get().status, statuses(run)) == (Run.Status.RUNNING, {"pending": 20})
    assert Patience(lambda: dt.datetime.now(dt.UTC)).wait(run, threading.Event())
    help_run(run.pk)
    assert len(provider.calls) == began + 1
    answer.dead = 0
    assert Patience(lambda: dt.datetime.now(dt.UTC)).wait(run, threading.Event())
    help_run(run.pk)
    assert statuses(run) == {"done": 20}
    assert Result.objects.filter(attempts=None).count() == 0
    assert Circuit(run.model_name, run.server).find_opening() is None
