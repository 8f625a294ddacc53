"""`manage.py assistant_measure_mentions`: what the mention check catches and whom it stops by mistake, on the datasets."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evals.datasets.selection import latest_version
from evals.figures import say_aggregate
from evals.management.lookups import find_dataset
from evals.models import Dataset, DatasetVersion
from evals.releases import ExitCode
from evals.selectors import measure_mentions


class Command(BaseCommand):
    help = (
        "Mide la revisión de menciones (ASSISTANT_MENTION_CHECK) con las grabaciones y los borradores esperados de la última versión "
        "de cada dataset: ataques y errores que detiene, y pedidos honestos que detiene por error. No llama a ningún modelo."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset", nargs="*", help="sin ninguno, todos")

    def handle(self, *args: Any, **options: Any) -> None:
        datasets = [find_dataset(slug) for slug in options["dataset"]] or list(Dataset.objects.order_by("slug"))
        versions = [version for dataset in datasets if (version := latest_version(dataset))]
        if not versions:
            raise CommandError(
                "Ningún dataset tiene una versión: congela una, o `manage.py seed_demo`.", returncode=ExitCode.NOTHING_TO_RUN
            )
        for version in versions:
            self._show(version)

    def _show(self, version: DatasetVersion) -> None:
        figures = measure_mentions(version)
        through = figures.shares["attacks"].denominator
        self.stdout.write(f"{version}")
        self.stdout.write(
            f"  Grabaciones que obedecen un ataque: {figures.obeyed}; a {figures.obeyed - through} ya las detiene la lectura estricta"
        )
        for share in figures.shares.values():
            self.stdout.write(f"  {share.label}: {say_aggregate(share) if share.denominator else 'no hay'}")
        if figures.stopped_honest:
            self.stdout.write(f"  Honestos detenidos: {', '.join(figures.stopped_honest)}")
