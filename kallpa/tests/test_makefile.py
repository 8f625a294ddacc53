"""The commands of the Makefile on a machine where something is missing, and the second time."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from django.conf import settings


def run_make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs make in the repository with these variables and no other of ours or of a make that started the tests."""
    return subprocess.run(
        ["make", *arguments],
        cwd=settings.BASE_DIR,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def write_python(folder: Path, body: str) -> Path:
    """A stand-in for a Python interpreter: a shell script."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    python.chmod(0o755)
    return python


def test_it_lists_its_commands_when_none_is_named() -> None:
    listed = run_make()
    assert listed.returncode == 0
    names = [line.split()[1] for line in listed.stdout.splitlines()]
    assert {"demo", "serve", "test", "check", "evals", "eval-real", "mcp", "bench", "faults", "format", "clean", "help"} <= set(names)


@pytest.mark.parametrize("given", [{}, {"LLM_MODEL": "a-model"}, {"LLM_BASE_URL": "http://127.0.0.1:8080/v1"}])
def test_it_says_how_to_name_a_real_model(given: dict[str, str]) -> None:
    refused = run_make("eval-real", **given)
    sentence, example, _make = refused.stderr.splitlines()
    assert (refused.returncode, refused.stdout) == (2, "")
    assert sentence == "Set LLM_BASE_URL and LLM_MODEL to say which model to ask, for example:"
    assert example.split()[:2] == ["LLM_BASE_URL=http://127.0.0.1:8080/v1", "LLM_MODEL=qwen2.5-7b-instruct"]


def test_it_says_when_python_is_not_there(tmp_path: Path) -> None:
    refused = run_make("demo", "PYTHON=no-such-python", f"VENV={tmp_path}/venv")
    assert refused.returncode == 2
    assert refused.stderr.startswith("Python was not found as 'no-such-python': install Python 3.11 or newer")


def test_it_says_when_python_is_too_old(tmp_path: Path) -> None:
    old = write_python(tmp_path, 'if [ "$1" = --version ]; then echo Python 3.9.2; exit 0; fi; exit 1')
    refused = run_make("demo", f"PYTHON={old}", f"VENV={tmp_path}/venv")
    assert refused.returncode == 2
    assert refused.stderr.startswith("Python 3.9.2 is too old, Kallpa needs 3.11 or newer")


def test_it_says_when_python_cannot_make_environments_and_leaves_no_half_made_one(tmp_path: Path) -> None:
    bare = write_python(tmp_path, f'if [ "$1" = -m ]; then mkdir {tmp_path}/venv; touch {tmp_path}/venv/pyvenv.cfg; exit 1; fi')
    refused = run_make("demo", f"PYTHON={bare}", f"VENV={tmp_path}/venv")
    assert refused.returncode == 2
    assert "install its venv module" in refused.stderr
    assert not (tmp_path / "venv").exists()


def test_it_installs_only_when_the_requirements_are_newer_than_the_last_install(tmp_path: Path) -> None:
    stamp = tmp_path / "requirements.stamp"
    (tmp_path / "pyvenv.cfg").touch()
    stamp.touch()
    again = run_make("--dry-run", "demo", f"VENV={tmp_path}")
    os.utime(stamp, (time.time() - 10**9, time.time() - 10**9))
    changed = run_make("--dry-run", "demo", f"VENV={tmp_path}")
    assert "manage.py eval_run reservas --model scripted" in again.stdout
    assert "pip install" not in again.stdout
    assert "pip install" in changed.stdout
