"""`manage.py dataset_sign DATASET --version N --as USER --reason TEXT`: the owner signs a version."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from evals.management.lookups import find_dataset, find_user, find_version
from evals.releases import ExitCode
from evals.services import AlreadySigned, NotTheOwner, ReasonMissing, VersionBroken, sign_version


class Command(BaseCommand):
    help = (
        "Firma una versión de un dataset. Firma su dueño o un delegado, una vez, con un motivo, y solo si sus huellas coinciden; "
        "si no, sale con 1."
    )
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's own --version gives way to ours: the version of the dataset."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--version", type=int, required=True)
        parser.add_argument("--as", dest="as_user", required=True, metavar="USER")
        parser.add_argument("--reason", required=True, help="por qué esta versión es el examen, en una frase")

    def handle(self, *args: Any, **options: Any) -> None:
        version = find_version(find_dataset(options["dataset"]), options["version"])
        user = find_user(options["as_user"])
        try:
            signature = sign_version(version=version, by=user, reason=options["reason"], now=timezone.now())
        except (NotTheOwner, AlreadySigned, ReasonMissing, VersionBroken) as error:
            raise CommandError(str(error), returncode=ExitCode.FAILED) from error
        self.stdout.write(f"{signature}, huella {signature.content_hash[:12]}.")
