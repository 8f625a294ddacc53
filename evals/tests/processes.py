"""Real processes for fault tests: their own database, a model server, and `manage.py` as a person would call it."""

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import dj_database_url
import psycopg
from django.conf import settings

ROOT = Path(settings.BASE_DIR)


@contextmanager
def own_database(folder: Path) -> Iterator[str]:
    """The URL of a migrated database of the kind that the suite runs on; dropped afterwards."""
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        yield f"sqlite:///{shutil.copy(migrated_file(), folder / 'fault.sqlite3')}"
        return
    server, name = settings.DATABASES["default"], f"kallpa_fault_{uuid.uuid4().hex[:12]}"
    address = f"postgresql://{server['USER']}@{server['HOST']}:{server['PORT'] or 5432}"
    with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            migrate(f"{address}/{name}")
            yield f"{address}/{name}"
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@cache
def migrated_file() -> Path:
    """An SQLite file with every table, made once for all installations of this test process."""
    folder = Path(tempfile.mkdtemp(prefix="kallpa-migrated-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    migrate(f"sqlite:///{folder / 'migrated.sqlite3'}")
    return folder / "migrated.sqlite3"


def migrate(url: str) -> None:
    """Makes the tables, as a person would."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO_")} | {"DATABASE_URL": url}
    subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=environment, timeout=300, check=True)


@dataclass
class Site:
    """One installation of Kallpa, made of processes."""

    environment: dict[str, str]
    children: list[subprocess.Popen[str]] = field(default_factory=list)

    def manage(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words], cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Starts a process, in a group of its own, that `stop_all` ends."""
        child = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self.children.append(child)
        return child

    def stop_all(self) -> None:
        for child in self.children:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait(timeout=20)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the database says, asked past the application."""
        config = dj_database_url.parse(self.environment["DATABASE_URL"])
        if config["ENGINE"].endswith("sqlite3"):
            import sqlite3

            connection = sqlite3.connect(config["NAME"], timeout=20)
            try:
                return connection.execute(query).fetchall()
            finally:
                connection.close()
        with psycopg.connect(self.environment["DATABASE_URL"]) as postgres:
            return postgres.execute(query).fetchall()


@contextmanager
def site(folder: Path, **environment: str) -> Iterator[Site]:
    """A migrated installation with its own database, and no git to tell its commit; every process is ended on leaving."""
    with own_database(folder) as url:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("LLM_", "EVALS_", "CELERY_", "DJANGO_"))}
        here = Site(clean | {"DATABASE_URL": url, "CELERY_BROKER_URL": "", "PYTHONUNBUFFERED": "1", "GIT_DIR": os.devnull} | environment)
        try:
            yield here
        finally:
            here.stop_all()


def start_model(here: Site, ledger: Path, *, delay_ms: int, port: int = 0) -> subprocess.Popen[str]:
    """Starts a model server that refuses everything after a while, and points the installation at it."""
    words = ("--port", str(port), "--always-refuse", "--delay-ms", str(delay_ms), "--ledger", str(ledger))
    server = here.start("-m", "assistant.tests.loopback_provider", *words)
    assert server.stdout is not None
    here.environment |= {"LLM_BASE_URL": server.stdout.readline().strip(), "LLM_MODEL": "prueba"}
    return server


def import_cases(here: Site, folder: Path, count: int) -> None:
    """A dataset `examen` of cases that expect anything but a draft."""
    rows = [
        {
            "key": f"caso-{number:04}",
            "category": "imposible",
            "stratum": "edge",
            "input": {"text": f"fulbito a medianoche, pedido {number}"},
            "context": {"now": "2026-03-09T10:00"},
            "expected": {"kind": "none"},
            "recordings": [{"text": '{"action":"refuse"}', "invalid": False}],
        }
        for number in range(count)
    ]
    path = folder / "examen.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    here.manage("createsuperuser", "--noinput", "--username", "jefa", "--email", "jefa@kallpa.test")
    here.manage("dataset_import", "examen", str(path), "--create", "--as", "jefa", "--approve")
    here.manage("dataset_freeze", "examen")


def assert_complete_and_single(here: Site, count: int) -> None:
    """By SQL: every result is there once, scored once, and the run closed once."""
    results = "SELECT count(*), count(DISTINCT (revision_id * 1000 + repetition)) FROM evals_result WHERE status = 'done'"
    assert here.rows(results) == [(count, count)]
    assert here.rows("SELECT count(*) FROM evals_result") == [(count,)]
    assert here.rows("SELECT count(*), count(DISTINCT result_id) FROM evals_score WHERE metric = 'correct'") == [(count, count)]
    assert here.rows("SELECT count(*) FROM evals_scoring WHERE decision <> ''") == [(1,)]
    assert here.rows("SELECT status FROM evals_run") == [("finished",)]


def calls_in(ledger: Path) -> int:
    """Calls that the model server has received, by its own count."""
    return len(ledger.read_text(encoding="utf-8").splitlines()) if ledger.exists() else 0
