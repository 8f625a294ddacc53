"""`manage.py dataset_import DATASET FILE`: read a dataset file, all or nothing."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from evals.datasets.rows import MAX_BYTES, ParsedRow, Problem, parse_rows
from evals.management.lookups import find_dataset, find_user
from evals.models import Dataset
from evals.releases import ExitCode
from evals.services import Change, HeldOutClosed, ReasonMissing, import_rows, save_edited
from evals.targets import TARGETS


class Command(BaseCommand):
    help = (
        "Importa un archivo JSON Lines a un dataset. Una sola fila mala y no se importa nada: dice cada problema con su línea y su campo, "
        "y sale con 1. Los casos que el archivo no trae se quedan como están. Cambiar casos de una versión firmada pide --reason. "
        "Con --as queda escrito quién lo trajo, y lo correcto cuenta como escrito por esa persona. Sale con 2 si el uso es incorrecto."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("file", type=Path)
        parser.add_argument("--as", dest="as_user", default=None, metavar="USER", help="quién trae el archivo")
        parser.add_argument("--reason", default="", help="por qué cambian los casos, en una frase")
        parser.add_argument("--create", action="store_true", help="crea el dataset si no existe, con lo que dicen las opciones siguientes")
        parser.add_argument("--name", default="")
        parser.add_argument("--owner", default=None, metavar="USER", help="quien firmará sus versiones")
        parser.add_argument("--target", default="booking-assistant", choices=list(TARGETS), help="sistema evaluado")

    def handle(self, *args: Any, **options: Any) -> None:
        missing = options["create"] and not Dataset.objects.filter(slug=options["dataset"]).exists()
        dataset = _unsaved_dataset(options) if missing else find_dataset(options["dataset"])
        rows, problems = parse_rows(_read_lines(options["file"]))
        if problems:
            self._refuse(options["file"], problems)
        by = find_user(options["as_user"]) if options["as_user"] else None
        change = Change(by, timezone.now(), options["reason"])
        with transaction.atomic():
            if missing:
                save_edited(row=dataset, change=change)
            self._import(dataset, rows, change)

    def _import(self, dataset: Dataset, rows: list[ParsedRow], change: Change) -> None:
        try:
            summary = import_rows(dataset=dataset, rows=rows, change=change)
        except ReasonMissing as error:
            raise CommandError(f"{error} Usa --reason.", returncode=ExitCode.FAILED) from error
        except HeldOutClosed as error:
            raise CommandError(str(error), returncode=ExitCode.FAILED) from error
        self.stdout.write(f"{dataset}: {summary.added} nuevos, {summary.changed} cambiados, {summary.unchanged} iguales.")

    def _refuse(self, file: Path, problems: list[Problem]) -> None:
        for problem in problems:
            self.stderr.write(" · ".join(part for part in _place(problem) if part) + f": {problem.message}")
        raise CommandError(f"{file}: {len(problems)} problemas; no se importó nada.", returncode=ExitCode.FAILED)


def _place(problem: Problem) -> tuple[str, str]:
    return (f"línea {problem.line}" if problem.line else "archivo"), problem.field


def _read_lines(file: Path) -> list[bytes]:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES + 1).splitlines(keepends=True)
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
