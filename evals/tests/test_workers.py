"""The same runs on real Celery workers, a beat, PostgreSQL and Redis. Each fault is checked in SQL and in the model's ledger."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.conf import settings

from evals.tests.processes import Site, assert_complete_and_single, calls_in, import_cases, site, start_model
from kallpa.tests.processes import wait_until

pytestmark = pytest.mark.services
CASES = 60
# Sessions that stand still within a transaction and have locked or written rows.
IDLE_WITHIN = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' AND backend_xid IS NOT NULL"
)


@pytest.fixture
def broker(worker_id: str) -> Iterator[str]:
    """An empty Redis database of this test process, or a skip where there is no Redis."""
    if not settings.REDIS_URL or not settings.DATABASES["default"]["ENGINE"].endswith("postgresql"):
        pytest.skip("needs DATABASE_URL (PostgreSQL) and REDIS_URL")
    number = 8 + int(worker_id.removeprefix("gw") if worker_id != "master" else 0) % 8
    url = f"{settings.REDIS_URL.rpartition('/')[0]}/{number}"
    connection = redis.Redis.from_url(url)
    connection.flushdb()
    yield url
    connection.flushdb()
    connection.close()


@pytest.fixture
def desk(tmp_path: Path, broker: str) -> Iterator[Site]:
    with site(tmp_path, CELERY_BROKER_URL=broker, EVALS_LEASE_S="2", EVALS_SWEEP_S="1", EVALS_CONCURRENCY="4") as here:
        import_cases(here, tmp_path, CASES)
        start_model(here, tmp_path / "ledger.jsonl", delay_ms=60)
        yield here


def start_worker(here: Site, name: str, *, children: int = 1) -> int:
    worker = here.start("-m", "celery", "-A", "kallpa", "worker", "-c", str(children), "-n", f"{name}@%h", "--loglevel", "WARNING")
    return worker.pid


def start_beat(here: Site, folder: Path) -> None:
    here.start("-m", "celery", "-A", "kallpa", "beat", "--schedule", str(folder / "beat"), "--pidfile", "", "--loglevel", "WARNING")


def queue_run(here: Site) -> None:
    here.manage("eval_run", "examen", "--model", "prueba", "--queue")


def is_finished(here: Site) -> bool:
    return here.rows("SELECT status FROM evals_run") == [("finished",)]


def child_of(pid: int) -> int:
    """A pool child of a worker."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if parent == str(pid):
                return int(entry.name)
    raise AssertionError(f"worker {pid} has no child")


def test_two_workers_share_a_run(desk: Site, tmp_path: Path) -> None:
    start_worker(desk, "uno")
    start_worker(desk, "dos")
    queue_run(desk)
    wait_until(lambda: is_finished(desk))
    assert_complete_and_single(desk, CASES)
    assert calls_in(tmp_path / "ledger.jsonl") == CASES


def test_a_run_queued_while_no_worker_lives_starts_later(desk: Site, tmp_path: Path) -> None:
    queue_run(desk)
    assert desk.rows("SELECT status FROM evals_run") == [("queued",)]
    start_worker(desk, "tarde")
    wait_until(lambda: is_finished(desk))
    assert_complete_and_single(desk, CASES)


@pytest.mark.parametrize("victim", ["child", "worker"])
def test_a_killed_worker_loses_nothing(desk: Site, tmp_path: Path, victim: str) -> None:
    ledger = tmp_path / "ledger.jsonl"
    first = start_worker(desk, "uno")
    queue_run(desk)
    wait_until(lambda: calls_in(ledger) >= 15)
    os.kill(child_of(first) if victim == "child" else first, signal.SIGKILL)
    if victim == "worker":
        os.killpg(first, signal.SIGKILL)
    (in_flight,) = desk.rows("SELECT count(*) FROM evals_result WHERE status = 'claimed'")[0]
    start_worker(desk, "dos")
    start_beat(desk, tmp_path)
    wait_until(lambda: is_finished(desk))
    assert_complete_and_single(desk, CASES)
    assert CASES <= calls_in(ledger) <= CASES + in_flight


def test_redis_emptied_in_the_middle_loses_nothing(desk: Site, tmp_path: Path, broker: str) -> None:
    queue_run(desk)
    connection = redis.Redis.from_url(broker)
    connection.flushdb()
    connection.close()
    start_worker(desk, "uno")
    start_beat(desk, tmp_path)
    wait_until(lambda: is_finished(desk))
    assert_complete_and_single(desk, CASES)


def test_without_the_sweeper_an_emptied_redis_leaves_the_run_waiting(desk: Site, tmp_path: Path, broker: str) -> None:
    """The control of the test above: the same, with nobody who looks into the database."""
    queue_run(desk)
    connection = redis.Redis.from_url(broker)
    connection.flushdb()
    connection.close()
    start_worker(desk, "uno")
    with pytest.raises(AssertionError, match="in time"):
        wait_until(lambda: is_finished(desk), seconds=8)
    assert desk.rows("SELECT status FROM evals_run") == [("queued",)]


def stop_between_transactions(desk: Site, group: int) -> bool:
    """Stops the processes; those that were inside a transaction go on, for stopped there they would keep its locks for long."""
    os.killpg(group, signal.SIGSTOP)
    busy = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'"
    if desk.rows(busy) == [(0,)]:
        return True
    os.killpg(group, signal.SIGCONT)
    return False


def stop_within_a_transaction(desk: Site, group: int) -> bool:
    """Stops the processes where one is inside a transaction; elsewhere they go on."""
    os.killpg(group, signal.SIGSTOP)
    time.sleep(0.2)  # until the server has done what it was asked before
    if desk.rows(IDLE_WITHIN) > [(0,)]:
        return True
    os.killpg(group, signal.SIGCONT)
    return False


def start_and_stop(desk: Site, ledger: Path, *, idle_s: int) -> int:
    """A worker that stands still within a transaction of the run, and a second one with a beat."""
    desk.environment["DATABASE_IDLE_S"] = str(idle_s)
    first = start_worker(desk, "uno")
    queue_run(desk)
    wait_until(lambda: calls_in(ledger) >= 5)
    wait_until(lambda: stop_within_a_transaction(desk, first), seconds=30)
    start_worker(desk, "dos")
    start_beat(desk, ledger.parent)
    return first


def test_a_worker_stopped_within_a_transaction_is_cut_off_and_comes_back(desk: Site, tmp_path: Path) -> None:
    first = start_and_stop(desk, tmp_path / "ledger.jsonl", idle_s=2)
    wait_until(lambda: is_finished(desk))
    assert_complete_and_single(desk, CASES)
    facts = "SELECT id, finished_at, outcome::text FROM evals_result ORDER BY id"
    before = desk.rows(facts)
    os.killpg(desk.children[-2].pid, signal.SIGKILL)  # the second worker
    os.killpg(first, signal.SIGCONT)
    queue_run(desk)
    wait_until(lambda: desk.rows("SELECT status FROM evals_run ORDER BY id") == [("finished",), ("finished",)])
    assert desk.rows(facts)[:CASES] == before


def test_control_without_the_limit_it_keeps_the_run_for_ever(desk: Site, tmp_path: Path) -> None:
    start_and_stop(desk, tmp_path / "ledger.jsonl", idle_s=0)
    with pytest.raises(AssertionError, match="in time"):
        wait_until(lambda: is_finished(desk), seconds=15)
    assert desk.rows(IDLE_WITHIN) > [(0,)]


def test_a_stopped_worker_s_late_answers_change_nothing(desk: Site, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.jsonl"
    first = start_worker(desk, "uno")
    queue_run(desk)
    wait_until(lambda: calls_in(ledger) >= 15)
    wait_until(lambda: stop_between_transactions(desk, first))
    start_worker(desk, "dos")
    start_beat(desk, tmp_path)
    wait_until(lambda: is_finished(desk))
    facts = "SELECT id, finished_at, outcome::text FROM evals_result ORDER BY id"
    before = desk.rows(facts)
    os.killpg(first, signal.SIGCONT)
    asked = calls_in(ledger)
    wait_until(lambda: desk.rows("SELECT count(*) FROM evals_result WHERE status <> 'done'") == [(0,)])
    assert desk.rows(facts) == before
    assert_complete_and_single(desk, CASES)
    assert asked <= CASES + 8
