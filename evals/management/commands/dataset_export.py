"""`manage.py dataset_export DATASET [FILE]`: write a dataset as JSON Lines, the same bytes for the same cases."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evals.datasets.export import Export, export_dataset
from evals.datasets.rows import write_rows
from evals.management.lookups import find_dataset
from evals.releases import ExitCode


class Command(BaseCommand):
    help = "Exporta los casos aprobados de un dataset con sus grabaciones vigentes. Los reservados se quedan, salvo --include-held-out."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("file", nargs="?", default="-", help="archivo de salida; - es la salida estándar")
        parser.add_argument("--include-held-out", action="store_true", help="también los casos reservados")

    def handle(self, *args: Any, **options: Any) -> None:
        export = export_dataset(find_dataset(options["dataset"]), include_held_out=options["include_held_out"])
        _write(options["file"], write_rows(export.rows))
        self.stderr.write(_summary(export))


def _write(file: str, content: bytes) -> None:
    if file == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        Path(file).write_bytes(content)
    except OSError as error:
        raise CommandError(f"No se puede escribir {file}: {error.strerror}.", returncode=ExitCode.MISUSED) from error


def _summary(export: Export) -> str:
    left_out = [f"{export.held_out} reservados"] if export.held_out else []
    left_out += [f"{export.not_approved} propuestos o retirados"] if export.not_approved else []
    return f"{len(export.rows)} casos exportados; quedan fuera {' y '.join(left_out) or '0'}."
