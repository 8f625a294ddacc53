"""`manage.py dataset_diff DATASET A B`: what differs between two versions, or between a version and the cases as they are now."""

from itertools import islice
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evals.datasets.comparison import NOW, CaseChange, Comparison, Side, compare_states, load_changes, say_counts, say_side
from evals.datasets.differences import changed_fields
from evals.datasets.revisions import BATCH
from evals.management.lookups import find_dataset, find_version
from evals.models import Dataset
from evals.releases import ExitCode
from evals.reports.wording import clean

WORDS = {"changed": "Cambiado", "added": "Agregado", "retired": "Retirado"}


class Command(BaseCommand):
    help = (
        "Compara dos versiones de un dataset caso por caso: agregados, retirados y cambiados, campo por campo. En vez de un número, "
        f"«{NOW}» son los casos aprobados como están. De los reservados solo dice cuántos. Sale con 2 si una versión no existe."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("a", help=f"número de versión, o «{NOW}»")
        parser.add_argument("b", help=f"número de versión, o «{NOW}»")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = find_dataset(options["dataset"])
        found = compare_states(dataset, _side(dataset, options["a"]), _side(dataset, options["b"]))
        self.stdout.write(f"{dataset}, de {say_side(found.before)} a {say_side(found.after)}: {say_counts(found)}.")
        self._show(found)

    def _show(self, found: Comparison) -> None:
        closed = [kind for kind, pk in found.differing if pk in found.held_out]
        waiting = iter([(kind, pk) for kind, pk in found.differing if pk not in found.held_out])
        while some := list(islice(waiting, BATCH)):
            for change in load_changes(found, some):
                self.stdout.write("\n".join(_lines(change)))
        if closed:
            self.stdout.write(
                f"Y {len(closed):,} reservado{'' if len(closed) == 1 else 's'}, que aquí no se muestra{'' if len(closed) == 1 else 'n'}."
            )


def _side(dataset: Dataset, asked: str) -> Side:
    if asked == NOW:
        return None
    if not (asked.isdecimal() and asked.isascii() and len(asked) < 10):
        raise CommandError(f"«{asked}» no es un número de versión ni «{NOW}».", returncode=ExitCode.MISUSED)
    return find_version(dataset, int(asked))


def _lines(change: CaseChange) -> list[str]:
    lines = [f"\n{WORDS[change.kind]}: {change.key}"]
    if change.before and change.after:
        lines += [
            f"  {each.field}: {clean(each.before, 400) or '(nada)'} → {clean(each.after, 400) or '(nada)'}"
            for each in changed_fields(change.before, change.after)
        ]
    return lines
