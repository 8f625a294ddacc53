"""`manage.py audit_trail --run R | --dataset D --version N [--json]`: what stands behind a result, and what changed since."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from evals.management.lookups import find_dataset, find_version
from evals.models import Run
from evals.releases import ExitCode
from evals.reports.trail import Trail, render_json, render_text
from evals.selectors import trail_of_run, trail_of_version


class Command(BaseCommand):
    help = (
        "Cuenta qué hay detrás de una corrida o de una versión: el examen y su huella, quién lo firmó y por qué, su salud al firmar, los "
        "resultados con sus denominadores, la política como estaba, y cada cambio desde entonces con quién, cuándo y por qué. De los "
        "reservados no dice nada. Sale con 0, con 1 si alguna huella no coincide, con 2 si no existe lo que se pide."
    )
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's own --version gives way to ours: the version of the dataset."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--run", type=int, default=None, metavar="R")
        parser.add_argument("--dataset", default="", metavar="D")
        parser.add_argument("--version", type=int, default=None, metavar="N")
        parser.add_argument("--json", action="store_true", help="lo mismo como datos")

    def handle(self, *args: Any, **options: Any) -> None:
        trail = _find(options)
        self.stdout.write(render_json(trail) if options["json"] else render_text(trail), ending="")
        if trail.broken:
            sys.exit(ExitCode.FAILED)


def _find(options: dict[str, Any]) -> Trail:
    run_id, slug, number, now = options["run"], options["dataset"], options["version"], timezone.now()
    if (run_id is None) == (not slug) or (slug and number is None):
        raise CommandError("Di --run R, o --dataset D --version N.", returncode=ExitCode.MISUSED)
    if run_id is None:
        return trail_of_version(find_version(find_dataset(slug), number), now=now)
    run = Run.objects.select_related("version__dataset", "version__signature", "created_by").filter(pk=run_id).first()
    if run is None:
        raise CommandError(f"No existe la corrida {run_id}.", returncode=ExitCode.MISUSED)
    return trail_of_run(run, now=now)
