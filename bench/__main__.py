"""`make bench`: what a run costs in processor time, memory and waiting, and how soon pages and API answer. Trust ratios of one run."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SEED = ROOT / "evals" / "seeds" / "reservas.jsonl"
CONCURRENCY = 32


class Usage(NamedTuple):
    """One finished process: wall and processor seconds, peak memory in MB, exit code."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    code: int


def measure(command: list[str], environment: dict[str, str]) -> Usage:
    """Runs a command to its end and asks the operating system what it used."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Usage(time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode)


def manage(environment: dict[str, str], *words: str) -> Usage:
    return measure([sys.executable, "manage.py", *words], environment)


def manage_quietly(environment: dict[str, str], *words: str) -> None:
    """Set-up that must work: what it prints is shown when it fails."""
    done = subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stdout}{done.stderr}")


def write_cases(path: Path, count: int) -> None:
    """`count` cases: those of `reservas`, again and again under other keys."""
    rows = [json.loads(line) for line in SEED.read_text(encoding="utf-8").splitlines()]
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            row = rows[number % len(rows)] | {"key": f"caso-{number:06}"}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


@contextmanager
def desk(counts: list[int]) -> Iterator[dict[str, str]]:
    """An environment with its own database, holding the demo data and a dataset `banco-N` for each N."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3", "CELERY_BROKER_URL": "", "REDIS_URL": ""}
        manage_quietly(environment, "migrate", "--verbosity", "0")
        manage_quietly(environment, "seed_demo")
        for count in counts:
            path = Path(folder) / f"{count}.jsonl"
            write_cases(path, count)
            manage_quietly(environment, "dataset_import", f"banco-{count}", str(path), "--create", "--as", "experta", "--approve")
            manage_quietly(environment, "dataset_freeze", f"banco-{count}")
        yield environment


def median_of(runs: list[Usage]) -> Usage:
    return Usage(*(statistics.median(values) for values in zip(*runs, strict=True)))


def show(label: str, used: Usage, note: str = "") -> None:
    print(f"{label:<58} wall {used.wall_s:6.2f} s   cpu {used.cpu_s:6.2f} s   peak {used.peak_mb:6.0f} MB  {note}", flush=True)


def bench_scripted(environment: dict[str, str]) -> None:
    """Scripted runs: fixed cost, cost per case, memory per case."""
    check = median_of([manage(environment, "check") for _ in range(5)])
    kit = median_of([manage(environment, "eval_run", "kit") for _ in range(5)])
    small = median_of([manage(environment, "eval_run", "banco-1000", "--version", "1") for _ in range(3)])
    large = manage(environment, "eval_run", "banco-4000", "--version", "1")
    show("manage.py check (median of 5)", check)
    show("eval_run kit, 14 cases to verdict (median of 5)", kit, f"check {kit.wall_s - check.wall_s:+.2f} s wall (goal +0.50)")
    show("1,000 scripted cases on SQLite (median of 3)", small, "goal 4 s of cpu")
    show("4,000 scripted cases on SQLite", large, f"{(large.peak_mb - small.peak_mb) / 3:+.1f} MB per 1,000 more")


def bench_real(environment: dict[str, str], delay_ms: int) -> None:
    """1,000 calls to a loopback server, 32 at once: how much of the ideal time is reached."""
    server = subprocess.Popen(
        [sys.executable, "-m", "assistant.tests.loopback_provider", "--port", "0", "--always-refuse", "--delay-ms", str(delay_ms)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None  # noqa: S101
        model = environment | {"LLM_BASE_URL": server.stdout.readline().strip(), "LLM_MODEL": "banco"}
        used = manage(model, "eval_run", "banco-1000", "--version", "1", "--model", "banco", "--concurrency", str(CONCURRENCY))
    finally:
        server.terminate()
        server.wait(timeout=10)
    ideal = 1000 * delay_ms / 1000 / CONCURRENCY
    note = f"{ideal / used.wall_s:.0%} of the ideal {ideal:.2f} s" if delay_ms else ""
    show(f"1,000 calls, {delay_ms} ms, {CONCURRENCY} at once", used, note)


def bench_pages(module: str) -> None:
    """Pages as the test client gets them, in a process and a database of their own."""
    with desk([]) as environment:
        subprocess.run(
            [sys.executable, "-m", module], cwd=ROOT, env=environment | {"DJANGO_SETTINGS_MODULE": "kallpa.settings"}, check=True
        )


def bench_datasets(environment: dict[str, str]) -> None:
    """What the two commands that examine a dataset cost, start of the process included."""
    show("dataset_health, 4,000 cases in the database", manage(environment, "dataset_health", "banco-4000"))
    show(
        "dataset_sensitivity reservas (median of 3)", median_of([manage(environment, "dataset_sensitivity", "reservas") for _ in range(3)])
    )


def main() -> None:
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}", flush=True)
    for module in ("bench.pages", "bench.metrics", "bench.health", "bench.imports", "bench.lists"):
        bench_pages(module)
    with desk([1000, 4000]) as environment:
        bench_scripted(environment)
        bench_datasets(environment)
        for delay_ms in (0, 200):
            bench_real(environment, delay_ms)


if __name__ == "__main__":
    main()
