"""`kill -9` in the middle of a run, then `eval_resume`: nothing lost, nothing twice."""

import os
import signal
from pathlib import Path

import pytest

from evals.tests.processes import Site, assert_complete_and_single, calls_in, import_cases, site, start_model
from kallpa.tests.processes import wait_until

CASES = 200
SWITCHED_OFF = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "kallpa.settings"
import django
django.setup()
from django.core.management import execute_from_command_line
from evals import runner

prepare = runner._Helper.__init__

def claim_everything(self, run, around):
    prepare(self, run, around)
    self.window = self.store_at = 10**6

runner._Helper.__init__ = claim_everything
runner.CLAIM_AT_MOST = runner.STORE_AT_MOST = runner.STORE_AFTER_S = 10**6
execute_from_command_line({argv!r})
"""
RUN = ("manage.py", "eval_run", "examen", "--model", "prueba", "--concurrency", "8")


def kill_halfway(here: Site, ledger: Path, *, after_calls: int) -> int:
    """Starts the run, kills it once the model server counts that many calls; returns the rows in flight at that moment."""
    process = here.start(*RUN)
    wait_until(lambda: calls_in(ledger) >= after_calls)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    (in_flight,) = here.rows("SELECT count(*) FROM evals_result WHERE status = 'claimed'")[0]
    return int(in_flight)


@pytest.mark.parametrize("after_calls", [pytest.param(20, marks=pytest.mark.faults), 100, pytest.param(180, marks=pytest.mark.faults)])
def test_each_case_has_one_result_and_only_calls_in_flight_are_repeated(tmp_path: Path, after_calls: int) -> None:
    ledger = tmp_path / "ledger.jsonl"
    with site(tmp_path, EVALS_LEASE_S="2") as here:
        import_cases(here, tmp_path, CASES)
        start_model(here, ledger, delay_ms=40)
        in_flight = kill_halfway(here, ledger, after_calls=after_calls)
        (done_before,) = here.rows("SELECT count(*) FROM evals_result WHERE status = 'done'")[0]
        resumed = here.manage("eval_resume", "1", check=False)
        assert resumed.returncode in (0, 2), resumed.stderr  # the dataset has no policy: the figures are there, the verdict is not
        assert 0 < in_flight <= 16 + 8  # asked or waiting for a thread, and answered but not yet stored
        assert_complete_and_single(here, CASES)
        assert CASES <= calls_in(ledger) <= CASES + in_flight
        assert done_before >= after_calls - in_flight - 8


def test_without_storing_as_it_goes_a_kill_repeats_more_than_was_in_flight(tmp_path: Path) -> None:
    """The control: the same code, told to store only once everything is answered and to claim the whole run at once.

    Its answers die with it, so the second process asks again what a first one had already paid for.
    """
    ledger = tmp_path / "ledger.jsonl"
    with site(tmp_path, EVALS_LEASE_S="2") as here:
        import_cases(here, tmp_path, CASES)
        start_model(here, ledger, delay_ms=40)
        process = here.start("-c", SWITCHED_OFF.format(argv=list(RUN)))
        wait_until(lambda: calls_in(ledger) >= 100)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=20)
        here.manage("eval_resume", "1", check=False)
        assert calls_in(ledger) > CASES + 16
