"""`manage.py dataset_import DATASET FILE`: read a dataset file, all or nothing."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from evals.datasets.rows import MAX_BYTES, ParsedRow
from evals.datasets.spreadsheet import FileRead, say_place
from evals.management.lookups import find_dataset, find_user
from evals.models import Dataset
from evals.releases import ExitCode
from evals.selectors.imports import CaseChange, ImportPreview, preview_import, read_import
from evals.services import Change, HeldOutClosed, ReasonMissing, import_rows, save_edited
from evals.targets import TARGETS


class Command(BaseCommand):
    help = (
        "Importa casos a un dataset desde Excel (.xlsx), CSV, JSON Lines o pruebas de promptfoo. Una sola fila mala y no se importa nada: "
        "dice cada problema con su fila y su columna, y sale con 1. Con --dry-run solo dice qué haría. Los casos que el archivo no trae se "
        "quedan como están. Cambiar casos de una versión firmada pide --reason. Con --as queda escrito quién lo trajo, y lo correcto "
        "cuenta como escrito por esa persona. Sale con 2 si el uso es incorrecto."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("file", type=Path)
        parser.add_argument("--as", dest="as_user", default=None, metavar="USER", help="quién trae el archivo")
        parser.add_argument("--reason", default="", help="por qué cambian los casos, en una frase")
        parser.add_argument("--dry-run", action="store_true", help="dice qué agregaría y qué cambiaría, celda por celda, y no guarda nada")
        parser.add_argument("--create", action="store_true", help="crea el dataset si no existe, con lo que dicen las opciones siguientes")
        parser.add_argument("--name", default="")
        parser.add_argument("--owner", default=None, metavar="USER", help="quien firmará sus versiones")
        parser.add_argument("--target", default="booking-assistant", choices=list(TARGETS), help="sistema evaluado")

    def handle(self, *args: Any, **options: Any) -> None:
        missing = options["create"] and not Dataset.objects.filter(slug=options["dataset"]).exists()
        dataset = _unsaved_dataset(options) if missing else find_dataset(options["dataset"])
        content, name = _read_bytes(options["file"]), options["file"].name
        if options["dry_run"]:
            self._preview(dataset, content, options["file"])
            return
        read = read_import(dataset, content, name=name, sees_held_out=True)
        self._tell_or_refuse(read, options["file"])
        by = find_user(options["as_user"]) if options["as_user"] else None
        change = Change(by, timezone.now(), options["reason"])
        with transaction.atomic():
            if missing:
                save_edited(row=dataset, change=change)
            self._import(dataset, read.rows, change)

    def _import(self, dataset: Dataset, rows: list[ParsedRow], change: Change) -> None:
        try:
            summary = import_rows(dataset=dataset, rows=rows, change=change)
        except ReasonMissing as error:
            raise CommandError(f"{error} Usa --reason.", returncode=ExitCode.FAILED) from error
        except HeldOutClosed as error:
            raise CommandError(str(error), returncode=ExitCode.FAILED) from error
        self.stdout.write(f"{dataset}: {summary.added} nuevos, {summary.changed} cambiados, {summary.unchanged} iguales.")

    def _preview(self, dataset: Dataset, content: bytes, file: Path) -> None:
        preview = preview_import(dataset, content, name=file.name, sees_held_out=True)
        self._tell_or_refuse(preview.read, file)
        for change in preview.added:
            self.stdout.write(f"nuevo · {change.key}")
        for change in preview.changed:
            self._say_change(change)
        self.stdout.write(_say_counts(preview))

    def _say_change(self, change: CaseChange) -> None:
        for cell in change.cells:
            words = "reservado" if change.held_out else f"{cell.before!r} → {cell.after!r}"
            self.stdout.write(f"cambia · {change.key} · {cell.column}: {words}")

    def _tell_or_refuse(self, read: FileRead, file: Path) -> None:
        for note in read.notes:
            self.stderr.write(note, style_func=str)
        for problem in read.problems:
            self.stderr.write(f"{say_place(problem, read.unit)}: {problem.message}")
        if read.problems:
            raise CommandError(f"{file}: {len(read.problems)} problemas; no se importó nada.", returncode=ExitCode.FAILED)


def _say_counts(preview: ImportPreview) -> str:
    counts = f"{len(preview.added)} nuevos, {len(preview.changed)} cambiados, {preview.unchanged} iguales"
    return f"Con --dry-run no se guardó nada: {counts}."


def _read_bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"No se puede leer {file}: {error.strerror}.", returncode=ExitCode.MISUSED) from error


def _unsaved_dataset(options: dict[str, Any]) -> Dataset:
    owner = find_user(options["owner"]) if options["owner"] else None
    slug = options["dataset"]
    dataset = Dataset(slug=slug, name=options["name"] or slug, owner=owner, target=options["target"])
    try:
        dataset.full_clean()
    except ValidationError as error:
        raise CommandError(f"El dataset no se puede crear: {' '.join(error.messages)}", returncode=ExitCode.MISUSED) from error
    return dataset
