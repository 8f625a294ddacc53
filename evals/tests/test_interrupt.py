"""Ctrl-C in the middle of a run, by real signals to a real process: what was paid for is kept, and the rest can follow."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from assistant.tests.loopback_provider import REFUSAL, Call, LoopbackProvider
from evals.tests.processes import Site, calls_in, import_cases, site, start_model
from kallpa.tests.processes import wait_until

CASES = 24
RUN = ("manage.py", "eval_run", "examen", "--model", "prueba", "--concurrency", "4")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("interrupt")
    with site(folder, EVALS_LEASE_S="2", LLM_TIMEOUT_S="300") as here:
        import_cases(here, folder, CASES)
        yield here


def statuses(here: Site, run: int) -> dict[str, int]:
    """Results of a run by status, by SQL."""
    return dict(here.rows(f"SELECT status, count(*) FROM evals_result WHERE run_id = {run} GROUP BY status"))  # noqa: S608 -- a number


def run_status(here: Site, run: int) -> str:
    return str(here.rows(f"SELECT status FROM evals_run WHERE id = {run}")[0][0])  # noqa: S608 -- a number


def newest_run(here: Site) -> int:
    return int(here.rows("SELECT max(id) FROM evals_run")[0][0])


def start_run(here: Site, ledger: Path, *, after_calls: int) -> "subprocess.Popen[str]":
    """Starts a run and returns once the model server has received that many calls."""
    process = here.start(*RUN)
    wait_until(lambda: calls_in(ledger) >= after_calls)
    return process


@contextmanager
def slow_after(here: Site, *, calls: int) -> "Iterator[tuple[LoopbackProvider, Callable[[], None]]]":
    """The installation's model answers so many calls at once, and the others when the test says so."""
    told = threading.Event()

    def answer(call: Call) -> str:
        if call.number > calls:
            told.wait(120)
        return REFUSAL

    with LoopbackProvider(answer) as provider:
        here.environment |= {"LLM_BASE_URL": provider.base_url, "LLM_MODEL": "prueba"}
        yield provider, told.set


def assert_complete_and_single(here: Site, run: int) -> None:
    assert statuses(here, run) == {"done": CASES}
    assert run_status(here, run) == "finished"
    scores = "SELECT count(*), count(DISTINCT result_id) FROM evals_score JOIN evals_result ON evals_result.id = result_id"
    assert here.rows(f"{scores} WHERE metric = 'correct' AND run_id = {run}") == [(CASES, CASES)]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_keeps_what_it_asked_and_goes_on_later(desk: Site, tmp_path: Path, sent: signal.Signals) -> None:
    with slow_after(desk, calls=7) as (provider, answer_the_rest):
        process = desk.start(*RUN)
        wait_until(lambda: len(provider.calls) == 7 + 4)  # four at once, and none of them is answered
        run = newest_run(desk)
        wait_until(lambda: (statuses(desk, run).get("done"), statuses(desk, run)["claimed"] > 4) == (7, True))
        os.kill(process.pid, sent)
        wait_until(lambda: statuses(desk, run) == {"done": 7, "claimed": 4, "pending": CASES - 11})  # what has not begun is given back
        answer_the_rest()
        assert process.wait(timeout=60) == 130
        assert run_status(desk, run) == "interrupted"
        assert len(provider.calls) == 11
        assert statuses(desk, run) == {"done": 11, "pending": CASES - 11}
        resumed = desk.manage("eval_resume", str(run), check=False)
        assert resumed.returncode == 2  # every figure, and no policy to judge them by
        assert f"Resultados: {CASES} de {CASES} medidos" in resumed.stdout
        assert len(provider.calls) == CASES
        assert_complete_and_single(desk, run)


def test_a_second_signal_leaves_at_once_and_the_rest_waits_for_the_lease(desk: Site, tmp_path: Path) -> None:
    slow, quick = tmp_path / "slow.jsonl", tmp_path / "quick.jsonl"
    model = start_model(desk, slow, delay_ms=250_000)
    process = start_run(desk, slow, after_calls=4)
    run = newest_run(desk)
    os.kill(process.pid, signal.SIGINT)
    wait_until(lambda: statuses(desk, run) == {"claimed": 4, "pending": CASES - 4})  # what has not begun is given back
    assert process.poll() is None  # and what has begun may finish
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 130  # long before the model answers
    assert statuses(desk, run) == {"claimed": 4, "pending": CASES - 4}
    leases = dict(desk.rows("SELECT id, lease_until FROM evals_result WHERE status = 'claimed'"))
    model.kill()
    model.wait(timeout=20)
    start_model(desk, quick, delay_ms=5, port=urlsplit(desk.environment["LLM_BASE_URL"]).port or 0)  # a run goes on with its server
    assert desk.manage("eval_resume", str(run), check=False).returncode == 2
    assert calls_in(quick) == CASES
    assert_complete_and_single(desk, run)
    finished = dict(desk.rows(f"SELECT id, finished_at FROM evals_result WHERE run_id = {run}"))  # noqa: S608 -- a number
    assert all(finished[result] > until for result, until in leases.items())
