"""`manage.py dataset_template FILE`: the workbook that an expert starts from."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evals.datasets.spreadsheet import write_template
from evals.releases import ExitCode


class Command(BaseCommand):
    help = "Escribe la plantilla de Excel para casos: títulos, listas para elegir, una fila de ejemplo y una hoja de ayuda."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="archivo .xlsx de salida")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            options["file"].write_bytes(write_template())
        except OSError as error:
            raise CommandError(f"No se puede escribir {options['file']}: {error.strerror}.", returncode=ExitCode.MISUSED) from error
        self.stdout.write(f"Plantilla escrita en {options['file']}.")
