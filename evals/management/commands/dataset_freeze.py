"""`manage.py dataset_freeze DATASET [--as USER]`: make a numbered version of the approved cases."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evals.management.lookups import find_dataset, find_user
from evals.releases import ExitCode
from evals.services import NothingToFreeze, freeze_version


class Command(BaseCommand):
    help = "Congela los casos aprobados en una versión numerada; si nada cambió, dice cuál es la vigente. Sale con 1 si no hay ninguno."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--as", dest="as_user", default=None, metavar="USER", help="quién la congela; queda escrito en la versión")

    def handle(self, *args: Any, **options: Any) -> None:
        by = find_user(options["as_user"]) if options["as_user"] else None
        try:
            version = freeze_version(dataset=find_dataset(options["dataset"]), by=by)
        except NothingToFreeze as error:
            raise CommandError(str(error), returncode=ExitCode.FAILED) from error
        self.stdout.write(f"{version}: {version.size} casos, huella {version.content_hash[:12]}.")
