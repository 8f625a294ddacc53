"""`manage.py dataset_health DATASET [--version N] [--json]`: is this dataset a good exam? Exits 1 when something is lacking."""

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from evals.datasets.health import Check, HealthReport, Level, say_names
from evals.management.lookups import find_dataset, find_version
from evals.releases import ExitCode
from evals.selectors import health_of, health_of_version

SHOWN_KEYS = 10
MARKS = {Level.GOOD: "✓", Level.CARE: "!", Level.LACKING: "✗"}


class Command(BaseCommand):
    help = (
        "Revisa si un dataset es un buen examen: tamaño, mezcla, ataques y gemelos, repetidos, escritura, datos personales, dueño. "
        "Sin --version mira los casos aprobados como están ahora. Sale con 1 si algo falta. No nombra casos reservados."
    )
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's own --version gives way to ours: the version of the dataset."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--version", type=int, default=None, metavar="N", help="una versión congelada, en vez de lo de ahora")
        parser.add_argument("--json", action="store_true", help="el informe como datos")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset, number, now = find_dataset(options["dataset"]), options["version"], timezone.now()
        version = None if number is None else find_version(dataset, number)
        report = health_of_version(version, now=now) if version else health_of(dataset, now=now)
        if options["json"]:
            row = {"dataset": dataset.slug, "version": number, **report.as_row()}
            self.stdout.write(json.dumps(row, ensure_ascii=False, indent=2))
        else:
            self._show(f"{version or dataset}", report)
        if report.level is Level.LACKING:
            sys.exit(ExitCode.FAILED)

    def _show(self, about: str, report: HealthReport) -> None:
        self.stdout.write(f"Salud de {about}: {report.level.value}")
        for check in report.checks:
            self.stdout.write(f"\n{MARKS[check.level]} {check.title}: {check.figure} · {check.level.value}")
            for line in _lines(check, report.held_out):
                self.stdout.write(f"    {line}")


def _lines(check: Check, closed: frozenset[str]) -> list[str]:
    alike = [f"{pair.key} ≈ {pair.like}" for pair in check.alike if not {*pair} & closed]
    named = say_names(check.keys, closed, most=SHOWN_KEYS)
    parts = [
        check.sentence,
        "; ".join(f"{name}: {count}" for name, count in check.rows),
        check.advice and f"Qué hacer: {check.advice}",
        named and f"Casos: {named}",
        f"Pares: {', '.join(alike[:SHOWN_KEYS])}" if alike else "",
    ]
    return [part for part in parts if part]
