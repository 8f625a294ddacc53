"""`manage.py dataset_export DATASET [FILE]`: write a dataset as JSON Lines, Excel or CSV.

Held-out cases leave only with a person and a reason, and each one that leaves counts as opened.
"""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from evals.datasets.export import Export, export_dataset
from evals.datasets.rows import write_rows
from evals.datasets.spreadsheet import CellTooLong, write_csv, write_xlsx
from evals.management.lookups import find_dataset, find_user
from evals.models import Dataset
from evals.releases import ExitCode
from evals.services import Change, NotAReader, ReasonMissing, open_for_export

WRITERS = {"jsonl": write_rows, "xlsx": write_xlsx, "csv": write_csv}


class Command(BaseCommand):
    help = (
        "Exporta los casos aprobados de un dataset con sus grabaciones vigentes. Los reservados se quedan, salvo --include-held-out, que "
        "cuenta como abrir cada uno; el archivo dice cuántos son. En las hojas nada de lo que alguien escribió se calcula."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("file", nargs="?", default="-", help="archivo de salida; - es la salida estándar")
        parser.add_argument("--format", default="", choices=["", *WRITERS], help="por defecto, el que dice el nombre del archivo, o jsonl")
        parser.add_argument("--include-proposed", action="store_true", help="también los casos propuestos")
        parser.add_argument("--include-held-out", action="store_true", help="también los casos reservados: pide --as y --reason")
        parser.add_argument("--as", dest="as_user", default=None, metavar="USER", help="quién abre los reservados")
        parser.add_argument("--reason", default="", help="para qué los abre, en una frase")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset, proposed = find_dataset(options["dataset"]), options["include_proposed"]
        if options["include_held_out"]:
            _open_held_out(dataset, options)
        export = export_dataset(dataset, include_held_out=options["include_held_out"], include_proposed=proposed)
        _write(options["file"], _content(export, options))
        self.stderr.write(_summary(export, with_proposed=proposed))


def _content(export: Export, options: dict[str, Any]) -> bytes:
    extension = Path(options["file"]).suffix.lower().removeprefix(".")
    try:
        return WRITERS[options["format"] or (extension if extension in WRITERS else "jsonl")](export.rows, held_out=export.held_out)
    except CellTooLong as error:
        raise CommandError(str(error), returncode=ExitCode.FAILED) from error


def _open_held_out(dataset: Dataset, options: dict[str, Any]) -> None:
    by = find_user(options["as_user"]) if options["as_user"] else None
    try:
        open_for_export(dataset=dataset, change=Change(by, timezone.now(), options["reason"]), include_proposed=options["include_proposed"])
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


def _summary(export: Export, *, with_proposed: bool) -> str:
    left_out = [f"{export.held_out} reservados"] if export.held_out else []
    left_out += [f"{export.not_leaving} {'retirados' if with_proposed else 'propuestos o retirados'}"] if export.not_leaving else []
    return f"{len(export.rows)} casos exportados; quedan fuera {' y '.join(left_out) or '0'}."
