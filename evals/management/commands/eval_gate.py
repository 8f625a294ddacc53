"""`manage.py eval_gate DATASET`: may this commit go out?"""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from evals.checkout import head_commit
from evals.management.arguments import read_commit, read_days
from evals.management.lookups import find_dataset
from evals.releases import ExitCode, judge_release


class Command(BaseCommand):
    help = (
        "Dice si un commit puede salir, según su última corrida para publicar. Sale con 0 solo si está demostrado: 1 si falló, 2 si falta "
        "la política o el commit, 3 si la corrida es vieja, de otro commit, de una versión sin firmar o no concluyó, 5 si no hay corridas."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--commit", type=read_commit, default=None, help="SHA de 7 caracteres o más (HEAD de este checkout)")
        parser.add_argument("--max-age-days", type=read_days, default=None)

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = find_dataset(options["dataset"])
        commit = options["commit"] or head_commit(Path(settings.BASE_DIR))
        if not commit:
            raise CommandError("¿Qué commit? Fuera de un checkout de git hace falta --commit SHA.", returncode=ExitCode.MISUSED)
        days = options["max_age_days"]
        answer = judge_release(dataset, commit=commit, max_age=None if days is None else timedelta(days=days), now=timezone.now())
        self.stdout.write(answer.sentence)
        self.stdout.write(f"Corridas para publicar de este commit: {answer.runs_of_commit}.")
        if answer.code:
            sys.exit(answer.code)
