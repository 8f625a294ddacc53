"""A wrong setting stops the start with a sentence; production settings pass Django's deployment check."""

import os
import subprocess
import sys

import pytest
from django.conf import settings

PRODUCTION = {"DEBUG": "0", "SECRET_KEY": "cl4ve-de-prueba_" * 4, "ALLOWED_HOSTS": "kallpa.example"}


def run_manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs manage.py with these variables and no other setting of Kallpa."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=settings.BASE_DIR,
        env={"PATH": os.environ["PATH"], "PYTHONUTF8": "1", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEBUG", "maybe"),
        ("HTTPS_ONLY", "2"),
        ("LOG_LEVEL", "LOUD"),
        ("DATABASE_URL", "mysql://root@127.0.0.1/kallpa"),
        ("DATABASE_URL", "postgres://kallpa@127.0.0.1:port/kallpa"),
        ("DATABASE_URL", "kallpa.sqlite3"),
        ("REDIS_URL", "127.0.0.1:6379"),
        ("CELERY_BROKER_URL", "amqp://guest@127.0.0.1"),
        ("CELERY_BROKER_URL", "redis://127.0.0.1:99999/1"),
        ("CELERY_VISIBILITY_TIMEOUT_S", "9"),
        ("ALERT_EMAILS", "guardia@kallpa.example, guardia"),
        ("ALERT_WEBHOOK_URL", "mailto:guardia@kallpa.example"),
        ("LLM_BASE_URL", "ftp://models.example/v1"),
        ("LLM_BASE_URL", "https:///v1"),
        ("LLM_TEMPERATURE", "hot"),
        ("LLM_TEMPERATURE", "nan"),
        ("LLM_MAX_TOKENS", "10.5"),
        ("LLM_TIMEOUT_S", "0"),
        ("AGENT_MCP_TOKENS", "kallpa:secreto"),
        ("EVALS_CONCURRENCY", "0"),
        ("EVALS_LEASE_S", "1e9"),
    ],
)
def test_it_stops_with_one_sentence_that_names_the_variable(name: str, value: str) -> None:
    stopped = run_manage("check", **{name: value})
    assert (stopped.returncode, stopped.stdout) == (2, "")
    assert len(stopped.stderr.splitlines()) == 1, stopped.stderr
    assert stopped.stderr.startswith(name)
    assert "set it" in stopped.stderr


def test_it_starts_with_an_empty_environment() -> None:
    started = run_manage("check")
    assert (started.returncode, started.stderr) == (0, "")


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "LLM_BASE_URL", "AGENT_MCP_TOKENS"])
def test_it_never_repeats_the_password_of_an_address(name: str) -> None:
    stopped = run_manage("check", **{name: "nonsense://user:hunter2-canary@127.0.0.1:x/1"})
    assert stopped.returncode == 2
    assert "hunter2-canary" not in stopped.stdout + stopped.stderr


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"SECRET_KEY": ""}, "SECRET_KEY"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY"),
        ({"SECRET_KEY": "django-insecure-" + "x" * 50}, "SECRET_KEY"),
        ({"ALLOWED_HOSTS": ""}, "ALLOWED_HOSTS"),
    ],
)
def test_it_refuses_to_start_a_server_without_its_secrets(change: dict[str, str], word: str) -> None:
    stopped = run_manage("check", **{**PRODUCTION, **change})
    assert stopped.returncode == 2
    assert word in stopped.stderr


def test_it_passes_the_deployment_check_on_production_settings_with_nothing_silenced() -> None:
    checked = run_manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert checked.returncode == 0, checked.stderr
    assert "no issues (0 silenced)" in checked.stdout


def test_control_the_deployment_check_fails_without_https() -> None:
    checked = run_manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION, HTTPS_ONLY="0")
    assert checked.returncode == 1
    assert "security.W008" in checked.stderr
