"""No message is delivered twice because a task, a delay or a limit outlives Redis' visibility timeout."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from kallpa.celery import app

ROOT = Path(settings.BASE_DIR)
DELAYS = {"countdown", "default_retry_delay", "retry_backoff_max", "soft_time_limit", "time_limit"}
CELERY_BACKOFF_MAX_S = 600  # what `retry_backoff=` grows to when `retry_backoff_max` is not given


def waits(source: str) -> Iterator[tuple[int, str, float]]:
    """(line, option, seconds) of each delay or limit written into a call; one that cannot be read counts as endless."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        options = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        for name in DELAYS & options.keys():
            yield node.lineno, name, seconds(options[name])
        if "eta" in options:
            yield node.lineno, "eta", float("inf")
        if "retry_backoff" in options and "retry_backoff_max" not in options:
            yield node.lineno, "retry_backoff", CELERY_BACKOFF_MAX_S


def seconds(value: ast.expr) -> float:
    if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
        return float(value.value)
    return float("inf")


def limits(visibility_timeout: int) -> tuple[int, int, int]:
    """(soft, hard, visibility) in seconds of a process started with this timeout."""
    show = "from kallpa.celery import app as a; print(a.conf.task_soft_time_limit, a.conf.task_time_limit, a.conf.visibility_timeout)"
    shown = subprocess.run(
        [sys.executable, "-c", show],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "CELERY_VISIBILITY_TIMEOUT_S": str(visibility_timeout)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    soft, hard, visibility = shown.stdout.split()
    return int(soft), int(hard), int(visibility)


@pytest.mark.parametrize("timeout", [10, 600, 86400])
def test_soft_limit_is_below_hard_limit_is_below_visibility(timeout: int) -> None:
    soft, hard, visibility = limits(timeout)
    assert soft < hard < visibility == timeout


def test_the_three_visibility_settings_are_equal() -> None:
    conf = app.conf
    values = {
        conf.broker_transport_options["visibility_timeout"],
        conf.result_backend_transport_options["visibility_timeout"],
        conf.visibility_timeout,
    }
    assert values == {settings.CELERY_VISIBILITY_TIMEOUT_S}


def test_a_web_process_or_command_sends_with_these_settings() -> None:
    show = "import django; django.setup(); from celery import current_app as a; print(a.main, a.conf.task_ignore_result)"
    environment = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "kallpa.settings"}
    shown = subprocess.run([sys.executable, "-c", show], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert shown.stdout.split() == ["kallpa", "True"]


def test_a_lost_worker_loses_no_message_and_nothing_waits_on_results() -> None:
    conf = app.conf
    assert (conf.task_acks_late, conf.task_reject_on_worker_lost, conf.worker_prefetch_multiplier) == (True, True, 1)
    assert 0 < conf.worker_soft_shutdown_timeout < conf.visibility_timeout
    assert conf.worker_cancel_long_running_tasks_on_connection_loss is True
    assert (conf.task_serializer, conf.accept_content) == ("json", ["json"])
    assert (conf.result_backend, conf.task_ignore_result) == (None, True)


def test_no_delay_or_limit_in_the_code_reaches_the_visibility_timeout() -> None:
    files = [path for folder in ("kallpa", "assistant", "bookings", "evals") for path in (ROOT / folder).rglob("tasks.py")]
    found = [(path.name, *wait) for path in files for wait in waits(path.read_text(encoding="utf-8"))]
    assert [wait for wait in found if wait[-1] >= settings.CELERY_VISIBILITY_TIMEOUT_S] == []


@pytest.mark.parametrize(
    "source",
    [
        "help_run.apply_async((1,), countdown=600)",
        "help_run.apply_async((1,), eta=tomorrow)",
        "help_run.apply_async((1,), countdown=delay)",
        "@shared_task(retry_backoff=True)\ndef help_run(): ...",
        "@shared_task(time_limit=3600)\ndef help_run(): ...",
        "self.retry(countdown=2 ** 10)",
    ],
)
def test_control_the_search_finds_a_delay_that_is_too_long(source: str) -> None:
    assert max(wait[-1] for wait in waits(source)) >= 600


def test_control_the_search_lets_short_delays_pass() -> None:
    assert list(waits("help_run.apply_async((1,), countdown=5)")) == [(1, "countdown", 5.0)]


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0"])
def test_it_gives_up_soon_when_the_broker_is_down(url: str) -> None:
    send = "from kallpa.celery import app; app.send_task('evals.tasks.help_run', args=[1])"
    sent = subprocess.run(
        [sys.executable, "-c", send],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "CELERY_BROKER_URL": url},
        capture_output=True,
        text=True,
        timeout=60,  # tries without end would fill it; a crowded machine needs seconds for the start alone
        check=False,
    )
    assert sent.returncode == 1
    assert "kombu.exceptions.OperationalError" in sent.stderr
