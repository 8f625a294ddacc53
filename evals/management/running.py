"""What `eval_run` and `eval_resume` share: working inline with progress, reports, exit codes."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Min
from django.utils import timezone

from evals.models import Run
from evals.releases import ExitCode
from evals.reports import RunReport, as_json, junit, markdown, text
from evals.runner import Surroundings, work
from evals.selectors import progress_of, report_of
from evals.services import interrupt_run
from evals.values import Decision

POLL_S = 0.5
FORMATS = {"junit": junit.render, "json": as_json.render, "markdown": markdown.render}


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files that the reports go to, by format; the places are checked before any model is called."""

    files: dict[str, Path]

    @staticmethod
    def add_arguments(parser: CommandParser) -> None:
        for name in FORMATS:
            parser.add_argument(f"--{name}", type=Path, default=None, metavar="F")

    @classmethod
    def of(cls, options: dict[str, Any]) -> "Outputs":
        files = {name: options[name] for name in FORMATS if options[name]}
        for path in files.values():
            if not path.absolute().parent.is_dir():
                raise CommandError(f"No existe la carpeta de {path}.", returncode=ExitCode.MISUSED)
        return cls(files)

    def write(self, report: RunReport) -> None:
        for name, path in self.files.items():
            path.write_text(FORMATS[name](report), encoding="utf-8")


def finish_on_screen(command: BaseCommand, run: Run, outputs: Outputs) -> None:
    """Works on the run until it closes, prints its report, and leaves with the exit code that the verdict deserves."""
    with _stop_on_signals() as stop:
        run = _work_until_closed(command, run, stop)
    if stop.is_set() and run.status != Run.Status.FINISHED:
        interrupt_run(run=run)
        command.stderr.write(f"Corrida {run.pk} interrumpida. Sigue con: manage.py eval_resume {run.pk}")
        sys.exit(ExitCode.INTERRUPTED)
    report = report_of(run, every_row=bool(outputs.files))
    outputs.write(report)
    command.stdout.write(text.render(report))
    code = exit_code(run, report)
    if code:
        sys.exit(code)


def exit_code(run: Run, report: RunReport) -> ExitCode:
    """0 passed, 1 failed on quality, 2 no policy, 3 incomplete, 4 budget."""
    if run.status == Run.Status.OVER_BUDGET:
        return ExitCode.OVER_BUDGET
    decision = report.verdict.decision if report.verdict else Decision.INCONCLUSIVE
    if decision is Decision.INCONCLUSIVE:
        return ExitCode.MISUSED if run.policy is None and not report.errors else ExitCode.INCOMPLETE
    return ExitCode.FAILED if decision is Decision.FAIL else ExitCode.PASSED


def _work_until_closed(command: BaseCommand, run: Run, stop: threading.Event) -> Run:
    """Works; while other helpers still hold rows, waits for them or for their leases to run out, and works again."""
    progress = _Progress(command, run)
    around = Surroundings(clock=timezone.now, stop=stop, on_store=progress.advance)
    while True:
        run = work(run.pk, around)
        held_until = run.results.aggregate(first=Min("lease_until"))["first"]
        if stop.is_set() or run.status not in (Run.Status.QUEUED, Run.Status.RUNNING) or held_until is None:
            progress.close()
            return run
        progress.wait_for(held_until)
        time.sleep(POLL_S)


@contextmanager
def _stop_on_signals() -> Iterator[threading.Event]:
    """The first Ctrl-C (or SIGTERM) lets calls in flight finish; the second leaves at once, and their leases run out."""
    stop = threading.Event()

    def ask_to_stop(signum: int, frame: FrameType | None) -> None:
        if stop.is_set():
            os._exit(ExitCode.INTERRUPTED)
        stop.set()

    before = {number: signal.signal(number, ask_to_stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Progress:
    """A bar on a terminal; elsewhere a plain line whenever another tenth is done."""

    def __init__(self, command: BaseCommand, run: Run) -> None:
        counts = progress_of(run)
        self.out = command.stderr
        self.done, self.total = counts["done"] + counts["error"], run.expected_results
        self.on_terminal = bool(getattr(command.stderr, "isatty", lambda: False)())
        self.announced = self.done * 10 // max(self.total, 1)
        self.waiting = False

    def advance(self, count: int) -> None:
        self.done += count
        tenth = self.done * 10 // max(self.total, 1)
        if self.on_terminal:
            filled = "█" * (self.done * 30 // max(self.total, 1))
            self.out.write(f"\r{filled:·<30} {self.done}/{self.total}", ending="")
        elif tenth > self.announced:
            self.out.write(f"{self.done}/{self.total}")
        self.announced = tenth

    def wait_for(self, held_until: Any) -> None:
        if not self.waiting:
            self.out.write(f"Otro proceso tiene casos de esta corrida (hasta {timezone.localtime(held_until):%H:%M:%S}); esperando.")
        self.waiting = True

    def close(self) -> None:
        if self.on_terminal:
            self.out.write("")
