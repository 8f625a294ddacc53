"""`manage.py dataset_import DATASET FILE`: read a dataset file, all or nothing."""

from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from evals.datasets.rows import MAX_BYTES, ParsedRow
from evals.datasets.spreadsheet import FileRead, say_place
from evals.figures import say_count
from evals.management.lookups import find_dataset, find_user
from evals.models import Case, Dataset
from evals.releases import ExitCode
from evals.selectors.imports import CaseChange, ImportPreview, preview_import, read_import
from evals.services import Change, HeldOutClosed, NotAnApprover, ReasonMissing, import_rows, may_import, save_edited
from evals.targets import TARGETS


class Command(BaseCommand):
    help = (
        "Importa casos a un dataset desde Excel (.xlsx), CSV, JSON Lines o pruebas de promptfoo. Una sola fila mala y no se importa nada: "
        "dice cada problema con su fila y su columna, y sale con 1. Con --dry-run solo dice qué haría. Los casos que el archivo no trae se "
        "quedan como están. Lo nuevo queda propuesto, y también lo aprobado que cambia; con --approve queda aprobado, si quien dice --as "
        "puede aprobar. Cambiar casos de una versión firmada pide --reason. Con --as queda escrito quién lo trajo, y lo correcto cuenta "
        "como escrito por esa persona. Sale con 1 si el archivo o la persona no pueden, con 2 si el uso es incorrecto."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("file", type=Path)
        parser.add_argument("--as", dest="as_user", default=None, metavar="USER", help="quién trae el archivo")
        parser.add_argument("--approve", action="store_true", help="aprueba lo que entra y lo que cambia; necesita --as")
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
        by = _find_importer(options)
        change = Change(by, timezone.now(), options["reason"])
        if options["dry_run"]:
            self._preview(dataset, content, options["file"], change)
            return
        read = read_import(dataset, content, name=name, by=by, now=change.now)
        self._tell_or_refuse(read, options["file"])
        with transaction.atomic():
            if missing:
                save_edited(row=dataset, change=change)
            self._import(dataset, read.rows, change, approved=options["approve"])

    def _import(self, dataset: Dataset, rows: list[ParsedRow], change: Change, *, approved: bool) -> None:
        try:
            summary = import_rows(dataset=dataset, rows=rows, change=change, approved=approved)
        except ReasonMissing as error:
            raise CommandError(f"{error} Usa --reason.", returncode=ExitCode.FAILED) from error
        except (HeldOutClosed, NotAnApprover) as error:
            raise CommandError(str(error), returncode=ExitCode.FAILED) from error
        self.stdout.write(f"{dataset}: {summary.added} nuevos, {summary.changed} cambiados, {summary.unchanged} iguales.")
        waiting = _still_proposed(dataset, rows) if approved else 0
        if waiting and dataset.second_person_approves:
            self.stderr.write(f"Quedan propuestos: en «{dataset}» el autor no aprueba lo suyo.", style_func=str)
        elif waiting:
            said = say_count(waiting, "caso que el archivo no cambia sigue propuesto", "casos que el archivo no cambia siguen propuestos")
            self.stderr.write(f"{said}: se aprueban en «Casos».", style_func=str)

    def _preview(self, dataset: Dataset, content: bytes, file: Path, asked: Change) -> None:
        preview = preview_import(dataset, content, name=file.name, by=asked.by, now=asked.now)
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


def _still_proposed(dataset: Dataset, rows: list[ParsedRow]) -> int:
    """How many cases of the file wait to be approved."""
    return len({row.spec.key for row in rows} & set(dataset.cases.filter(status=Case.Status.PROPOSED).values_list("key", flat=True)))


def _say_counts(preview: ImportPreview) -> str:
    counts = f"{len(preview.added)} nuevos, {len(preview.changed)} cambiados, {preview.unchanged} iguales"
    return f"Con --dry-run no se guardó nada: {counts}."


def _read_bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"No se puede leer {file}: {error.strerror}.", returncode=ExitCode.MISUSED) from error


def _find_importer(options: dict[str, Any]) -> User | None:
    """Who brings the file, with the permissions that the page asks for."""
    if not options["as_user"]:
        if options["approve"]:
            raise CommandError("--approve necesita --as: aprobar lo hace una persona.", returncode=ExitCode.MISUSED)
        return None
    by = find_user(options["as_user"])
    if not may_import(by):
        sentence = f"{by} no puede importar: hacen falta los permisos de agregar y de cambiar casos."
        raise CommandError(sentence, returncode=ExitCode.FAILED)
    return by


def _unsaved_dataset(options: dict[str, Any]) -> Dataset:
    owner = find_user(options["owner"]) if options["owner"] else None
    slug = options["dataset"]
    dataset = Dataset(slug=slug, name=options["name"] or slug, owner=owner, target=options["target"])
    try:
        dataset.full_clean()
    except ValidationError as error:
        raise CommandError(f"El dataset no se puede crear: {' '.join(error.messages)}", returncode=ExitCode.MISUSED) from error
    return dataset
