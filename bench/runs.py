"""What a run costs in processor time, memory and waiting, each command in a process of its own, its start included."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from bench import goals
from bench.desk import ROOT
from bench.goals import Goal

CONCURRENCY = 32


class Usage(NamedTuple):
    """One finished process: wall and processor seconds, peak memory in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def manage(*words: str, **environment: str) -> Usage:
    """Runs a command to its end and asks the operating system what it used."""
    command, started = [sys.executable, "manage.py", *words], time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        # Whatever the verdict, the work is done; what broke off has no figures.
        if process.returncode < 0 or b"Traceback" in said.read():
            sys.exit(f"{' '.join(words)} broke off with {process.returncode}: its figures say nothing.")
    return Usage(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def median_of(count: int, *words: str) -> Usage:
    return Usage(*(statistics.median(values) for values in zip(*(manage(*words) for _ in range(count)), strict=True)))


def show(label: str, used: Usage, *goals_of_it: Goal, note: str = "") -> None:
    line = f"{label:<58} wall {used.wall_s:6.2f} s   cpu {used.cpu_s:6.2f} s   peak {used.peak_mb:6.0f} MB  {note}"
    goals.show(line, *goals_of_it)


def bench_scripted() -> None:
    """Scripted runs: fixed cost, cost per case, memory per case."""
    check = median_of(5, "check")
    kit = median_of(5, "eval_run", "kit")
    small = median_of(3, "eval_run", "banco-1000", "--version", "1")
    large = manage("eval_run", "banco-4000", "--version", "1")
    more_s = kit.wall_s - check.wall_s
    show("manage.py check (n=5, median)", check)
    show(
        "eval_run kit, 14 cases to verdict (n=5, median)",
        kit,
        Goal("wall above check", more_s, 0.5, "s"),
        note=f"check {more_s:+.2f} s wall",
    )
    show("1,000 scripted cases on SQLite (n=3, median)", small, Goal("cpu", small.cpu_s, 4, "s"))
    show("4,000 scripted cases on SQLite (n=1)", large, note=f"{(large.peak_mb - small.peak_mb) / 3:+.1f} MB per 1,000 more")


def bench_real(delay_ms: int) -> None:
    """1,000 calls to a loopback server, 32 at once: how much of the ideal time is reached."""
    server = subprocess.Popen(
        [sys.executable, "-m", "assistant.tests.loopback_provider", "--port", "0", "--always-refuse", "--delay-ms", str(delay_ms)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None  # noqa: S101
        address, words = server.stdout.readline().strip(), ("--model", "banco", "--concurrency", str(CONCURRENCY))
        used = manage("eval_run", "banco-1000", "--version", "1", *words, LLM_BASE_URL=address, LLM_MODEL="banco")
    finally:
        server.terminate()
        server.wait(timeout=10)
    ideal_s = 1000 * delay_ms / 1000 / CONCURRENCY
    note = f"{ideal_s / used.wall_s:.0%} of the ideal {ideal_s:.2f} s" if delay_ms else ""
    show(f"1,000 calls, {delay_ms} ms, {CONCURRENCY} at once (n=1)", used, note=note)


def bench_datasets() -> None:
    """What the two commands that examine a dataset cost."""
    show("dataset_health, 4,000 cases in the database (n=1)", manage("dataset_health", "banco-4000"))
    show("dataset_sensitivity reservas (n=3, median)", median_of(3, "dataset_sensitivity", "reservas"))


def main() -> None:
    bench_scripted()
    bench_datasets()
    for delay_ms in (0, 200):
        bench_real(delay_ms)


if __name__ == "__main__":
    main()
