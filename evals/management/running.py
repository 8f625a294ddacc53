"""What `eval_run` and `eval_resume` share: working inline with progress, reports, exit codes."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.db.models import Min
from django.utils import timezone

from evals.models import Run
from evals.outages import Patience
from evals.releases import ExitCode
from evals.reports import RunReport, as_json, junit, markdown, text
from evals.runner import Surroundings, WrongHelper, work
from evals.selectors import outage_of, progress_of, report_of
from evals.services import interrupt_run
from evals.values import Decision

POLL_S = 0.5
UNFINISHED = (Run.Status.QUEUED, Run.Status.RUNNING)
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
            if problem := _why_not_a_file(path):
                raise CommandError(problem, returncode=ExitCode.MISUSED)
        if len({path.absolute() for path in files.values()}) < len(files):
            raise CommandError("Dos informes no caben en el mismo archivo: dale uno a cada formato.", returncode=ExitCode.MISUSED)
        return cls(files)

    def write(self, report: RunReport) -> None:
        for name, path in self.files.items():
            try:
                path.write_text(FORMATS[name](report), encoding="utf-8")
            except OSError as error:
                sentence = f"La corrida {report.run_id} está guardada, pero no se pudo escribir {path}: {error.strerror}."
                raise CommandError(sentence, returncode=ExitCode.MISUSED) from error


def _why_not_a_file(path: Path) -> str:
    """Why no report can be written there, or an empty string."""
    folder = path.absolute().parent
    if not folder.is_dir():
        return f"No existe la carpeta de {path}."
    if path.is_dir():
        return f"{path} es una carpeta: falta el nombre del archivo."
    return "" if os.access(path if path.exists() else folder, os.W_OK) else f"No hay permiso para escribir {path}."


def finish_on_screen(command: BaseCommand, run: Run, outputs: Outputs) -> None:
    """Works on the run until it closes, prints its report, and leaves with the exit code that the verdict deserves."""
    with _stop_on_signals() as stop:
        run = _work_until_closed(command, run, stop)
    if stop.is_set() and run.status in UNFINISHED:
        interrupt_run(run=run)
        command.stderr.write(f"Corrida {run.pk} interrumpida. Sigue con: manage.py eval_resume {run.pk}")
        sys.exit(ExitCode.INTERRUPTED)
    report = report_of(run, every_row=bool(outputs.files))
    command.stdout.write(text.render(report))
    outputs.write(report)
    if run.status == Run.Status.OVER_BUDGET:
        command.stderr.write(_say_over_budget(run))
    code = exit_code(run, report)
    if code:
        sys.exit(code)


def _say_over_budget(run: Run) -> str:
    """Which budget stopped it, and how to go on."""
    if run.budget_reached == Run.Budget.DAY:
        budget = f"Se acabó el presupuesto del día para todas las corridas, EVALS_DAILY_BUDGET_USD={settings.EVALS_DAILY_BUDGET_USD}."
        return f"{budget} Sigue mañana, o con un tope mayor, con: manage.py eval_resume {run.pk}"
    return f"Se acabó el presupuesto de la corrida. Sigue con: manage.py eval_resume {run.pk} --max-cost USD"


def exit_code(run: Run, report: RunReport) -> ExitCode:
    """0 passed, 1 failed on quality, 2 no policy, 3 incomplete, 4 budget."""
    if run.status == Run.Status.OVER_BUDGET:
        return ExitCode.OVER_BUDGET
    if run.status != Run.Status.FINISHED or report.verdict is None:
        return ExitCode.INCOMPLETE
    if report.verdict.decision is Decision.INCONCLUSIVE:
        return ExitCode.MISUSED if run.policy is None and not report.errors else ExitCode.INCOMPLETE
    return ExitCode.FAILED if report.verdict.decision is Decision.FAIL else ExitCode.PASSED


def _work_until_closed(command: BaseCommand, run: Run, stop: threading.Event) -> Run:
    """Works; while other helpers still hold rows, waits for them or for their leases to run out, and works again.

    While the model is down it waits as well, as long as its patience lasts.
    """
    progress, patience = _Progress(command, run), Patience(timezone.now)
    around = Surroundings(clock=timezone.now, stop=stop, on_store=progress.advance)
    while True:
        run = _work(run.pk, around)
        if stop.is_set() or run.status not in UNFINISHED:
            progress.close()
            return run
        if outage := outage_of(run):
            progress.say_outage(run, outage.cause)
            if not patience.wait(run, stop) and not stop.is_set():
                _leave(run, outage.cause)
            continue
        progress.wait_for(run.results.aggregate(first=Min("lease_until"))["first"])
        time.sleep(POLL_S)


def _leave(run: Run, cause: str) -> NoReturn:
    """Leaves a run whose model does not come back: what was answered is stored, and the rest was not burned."""
    interrupt_run(run=run)
    waited = f"después de esperar {settings.EVALS_OUTAGE_PATIENCE_S} s" if settings.EVALS_OUTAGE_PATIENCE_S else "y no se espera"
    sentence = (
        f"{run.model_name} sigue sin responder ({cause}) {waited}. No se perdió ningún caso: sigue con manage.py eval_resume {run.pk}"
    )
    raise CommandError(sentence, returncode=ExitCode.INCOMPLETE)


def _work(run_id: int, around: Surroundings) -> Run:
    """A database that fails is no verdict on quality; what was stored stays."""
    try:
        return work(run_id, around)
    except WrongHelper as error:
        raise CommandError(str(error), returncode=ExitCode.MISUSED) from error
    except DatabaseError as error:
        first_line = str(error).partition("\n")[0]  # the lines below may quote a whole row, of a held-out case too
        sentence = f"La base de datos falló: {first_line}. Sigue con: manage.py eval_resume {run_id}"
        raise CommandError(sentence, returncode=ExitCode.INCOMPLETE) from error


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
    """The number of the run, for whoever must resume it; then a bar on a terminal, elsewhere a line whenever another tenth is done."""

    def __init__(self, command: BaseCommand, run: Run) -> None:
        counts = progress_of(run)
        self.out = command.stderr
        self.done, self.total = counts["done"] + counts["error"], run.expected_results
        self.on_terminal = bool(getattr(command.stderr, "isatty", lambda: False)())
        self.announced = self.done * 10 // max(self.total, 1)
        self.waiting, self.outage = False, ""
        self._say(f"Corrida {run.pk}: {self.done} de {self.total} resultados.")

    def advance(self, count: int) -> None:
        self.done += count
        tenth = self.done * 10 // max(self.total, 1)
        if self.on_terminal:
            filled = "█" * (self.done * 30 // max(self.total, 1))
            self._say(f"\r{filled:·<30} {self.done}/{self.total}", ending="")
        elif tenth > self.announced:
            self._say(f"{self.done}/{self.total}")
        self.announced = tenth

    def wait_for(self, held_until: datetime | None) -> None:
        if held_until and not self.waiting:
            self.close()
            self._say(f"Otro proceso tiene casos de esta corrida (hasta {timezone.localtime(held_until):%H:%M:%S}); esperando.")
            self.waiting = True

    def say_outage(self, run: Run, cause: str) -> None:
        """Once for each outage: what is waited for, and how long."""
        if cause != self.outage:
            self.close()
            each, most = settings.BREAKER_OPEN_S, settings.EVALS_OUTAGE_PATIENCE_S
            self._say(
                f"{run.model_name} no responde ({cause}): la corrida espera y prueba con un caso cada {each} s, hasta {most} s en total."
            )
            self.outage = cause

    def close(self) -> None:
        if self.on_terminal:
            self._say("")

    def _say(self, line: str, ending: str = "\n") -> None:
        """Without the red that Django gives to what goes to stderr: progress is no error."""
        self.out.write(line, style_func=str, ending=ending)
