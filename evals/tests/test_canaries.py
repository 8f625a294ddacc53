"""Secrets and what people wrote, followed through a day of the whole site at DEBUG: they stand where they are at home and nowhere else."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import settings
from django.db import connection

from evals.tests.canaries import CANARIES, ENVIRONMENT, FORGED, Canary, Said, find_leaks
from kallpa.tests.processes import address_of_the_test_database

pytestmark = pytest.mark.django_db(transaction=True)
CLEARED = ("LLM_", "EVALS_", "CELERY_", "DJANGO_", "ASSISTANT_", "AGENT_", "ALERT_", "EMAIL_")


class Day(NamedTuple):
    """All that was said, by the site and in the database, and what must be found in none of it but at home."""

    said: list[Said]
    canaries: dict[str, Canary]

    @property
    def log(self) -> str:
        return next(text for place, text in self.said if place == "log")

    @property
    def forged_lines(self) -> list[str]:
        return [line for line in self.log.splitlines() if line.startswith(FORGED)]


def spend_day(folder: Path, *options: str, **environment: str) -> Day:
    """Runs canary_day.py against the test's own database."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(CLEARED)}
    site = {"LOG_LEVEL": "DEBUG", "ALLOWED_HOSTS": "testserver", "LLM_TIMEOUT_S": "0.4", "OUTBOUND_ALLOW_LOOPBACK": "1"}
    limits = {"ASSISTANT_PER_MINUTE": "1000", "ASSISTANT_PER_DAY": "1000", "AGENT_PER_MINUTE": "1000", "AGENT_PER_DAY": "1000"}
    python = {"DJANGO_SETTINGS_MODULE": "kallpa.settings", "PYTHONPATH": str(settings.BASE_DIR), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-m", "evals.tests.canary_day", str(folder), *options],
        cwd=folder,
        env=clean | site | limits | python | ENVIRONMENT | {"DATABASE_URL": address_of_the_test_database()} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    said = [Said(*json.loads(line)) for line in (folder / "said.jsonl").read_text().splitlines()]
    made = {name: Canary((value,), ("table django_session",)) for name, value in json.loads((folder / "made.json").read_text()).items()}
    return Day([*said, Said("log", done.stderr), Said("stdout", done.stdout), *dump()], CANARIES | made)


def dump() -> Iterator[Said]:
    """Every row of every table."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608 -- a name that the database gave
            yield Said(f"table {table}", "\n".join(map(repr, cursor.fetchall())))


def assert_silent(day: Day) -> None:
    assert find_leaks(day.said, day.canaries) == set()
    assert day.forged_lines == []


def at_home(day: Day) -> set[str]:
    """The canaries that were seen where they are at home: what was never there proves nothing by its absence."""
    open_house = {name: canary._replace(at_home=()) for name, canary in day.canaries.items()}
    return {what for what, _ in find_leaks(day.said, open_house)}


def test_in_production_nothing_is_told(tmp_path: Path) -> None:
    day = spend_day(tmp_path, DEBUG="0")
    assert_silent(day)
    assert at_home(day) == {
        "a phone in a request",
        "a member's phone",
        "a sentence of a request",
        "the words of a case",
        "a neighbour's session",
        "the desk's session",
    }
    said = {place for place, _ in day.said}
    assert {"log", "mail", "hook", "cache", "report informe.junit", "page /metrics", "page /roto/", "page /ocupado/"} <= said
    assert "DEBUG kallpa.canary_day the day begins" in day.log


@pytest.mark.faults
@pytest.mark.parametrize("debug", ["0", "1"])
def test_nor_is_it_with_every_fault_and_on_a_laptop(debug: str, tmp_path: Path) -> None:
    day = spend_day(tmp_path, "--all", DEBUG=debug)
    assert_silent(day)
    assert "Traceback" in day.log


def test_control_without_the_guards_log_and_error_page_tell_it_all(tmp_path: Path) -> None:
    day = spend_day(tmp_path, "--unguarded", DEBUG="1")
    leaks = find_leaks(day.said, day.canaries)
    private = {"the model's key", "a member's phone", "a phone in a request", "a sentence of a request"}
    assert private <= {what for what, where in leaks if where == "log"}
    assert private - {"a member's phone"} <= {what for what, where in leaks if where == "page /roto/"}
    assert day.forged_lines != []
