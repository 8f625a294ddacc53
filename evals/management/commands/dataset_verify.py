"""`manage.py dataset_verify [DATASET]`: are revisions, versions and signatures what was written? Exits 1 when a hash says no."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from evals.datasets.verification import verify_dataset
from evals.figures import say_count
from evals.management.lookups import find_dataset
from evals.models import Dataset
from evals.releases import ExitCode


class Command(BaseCommand):
    help = (
        "Calcula otra vez cada huella de un dataset, o de todos: las revisiones (contenido y completa), las versiones y las firmas. "
        "Nombra la fila cuya huella no coincide y sale con 1. Las grabaciones no tienen huella."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset", nargs="?", default=None, help="sin nombrar ninguno, todos")

    def handle(self, *args: Any, **options: Any) -> None:
        datasets = [find_dataset(options["dataset"])] if options["dataset"] else list(Dataset.objects.order_by("slug"))
        if sum([self._verify(dataset) for dataset in datasets]):
            sys.exit(ExitCode.FAILED)

    def _verify(self, dataset: Dataset) -> int:
        """The number of broken hashes."""
        found = verify_dataset(dataset)
        looked = (
            f"{say_count(found.revisions, 'revisión', 'revisiones')}, {say_count(found.versions, 'versión', 'versiones')}, "
            f"{say_count(found.signatures, 'firma', 'firmas')}"
        )
        faults = len(found.broken)
        said = "todas las huellas coinciden" if not faults else say_count(faults, "no coincide", "no coinciden")
        self.stdout.write(f"{dataset}: {looked}; {said}.")
        for fault in found.broken:
            self.stdout.write(f"  {fault}")
        return faults
