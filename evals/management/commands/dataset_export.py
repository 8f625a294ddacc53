"""`manage.py dataset_export DATASET [FILE]`: write a dataset as JSON Lines, the same bytes for the same cases.

Held-out cases leave only with a person and a reason, and each one that leaves counts as opened.
"""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from evals.datasets.export import Export, export_dataset
from evals.datasets.rows import write_rows
from evals.management.lookups import find_dataset, find_user
from evals.models import Dataset
from evals.releases import ExitCode
from evals.services import Change, NotAReader, ReasonMissing, open_for_export


class Command(BaseCommand):
    help = (
        "Exporta los casos aprobados de un dataset con sus grabaciones vigentes. Los reservados se quedan, salvo --include-held-out, que "
        "cuenta como abrir cada uno."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("file", nargs="?", default="-", help="archivo de salida; - es la salida estándar")
        parser.add_argument("--include-held-out", action="store_true", help="también los casos reservados: pide --as y --reason")
        parser.add_argument("--as", dest="as_user", default=None, metavar="USER", help="quién abre los reservados")
        parser.add_argument("--reason", default="", help="para qué los abre, en una frase")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = find_dataset(options["dataset"])
        if options["include_held_out"]:
            _open_held_out(dataset, options)
        export = export_dataset(dataset, include_held_out=options["include_held_out"])
        _write(options["file"], write_rows(export.rows))
        self.stderr.write(_summary(export))


def _open_held_out(dataset: Dataset, options: dict[str, Any]) -> None:
    by = find_user(options["as_user"]) if options["as_user"] else None
    try:
        open_for_export(dataset=dataset, change=Change(by, timezone.now(), options["reason"]))
    except (NotAReader, ReasonMissing) as error:
        raise CommandError(f"{error} Usa --as y --reason.", returncode=ExitCode.FAILED) from error


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
