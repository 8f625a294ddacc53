"""`manage.py eval_resume RUN`: finish a run that stopped."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from assistant.llm import ModelError
from evals.checkout import current_commit
from evals.management.arguments import read_micro_usd
from evals.management.running import Outputs, finish_on_screen
from evals.models import Run
from evals.releases import ExitCode
from evals.services import NotRunnable, resume_run


class Command(BaseCommand):
    help = "Sigue una corrida que se detuvo: pregunta solo lo que falta. Los códigos de salida son los de eval_run."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=int)
        parser.add_argument("--retry-errors", action="store_true", help="pregunta otra vez lo que terminó en error")
        parser.add_argument("--max-cost", type=read_micro_usd, default=None, metavar="USD", help="nuevo tope de gasto de toda la corrida")
        Outputs.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        outputs = Outputs.of(options)
        run = Run.objects.select_related("version__dataset").filter(pk=options["run"]).first()
        if run is None:
            raise CommandError(f"No existe la corrida {options['run']}.", returncode=ExitCode.MISUSED)
        try:
            run = resume_run(
                run=run,
                retry_errors=options["retry_errors"],
                commit=current_commit(Path(settings.BASE_DIR)),
                by=None,
                now=timezone.now(),
                max_cost_micro_usd=options["max_cost"],
            )
        except (NotRunnable, ModelError) as error:
            raise CommandError(str(error), returncode=ExitCode.MISUSED) from error
        finish_on_screen(self, run, outputs)
