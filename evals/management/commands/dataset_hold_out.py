"""`manage.py dataset_hold_out DATASET --share 0.2 --reason TEXT`: keep a share of the cases for releases alone."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from evals.figures import say_number
from evals.management.lookups import find_dataset, find_user
from evals.releases import ExitCode
from evals.services import Change, ReasonMissing, hold_out_share


class Command(BaseCommand):
    help = (
        "Reserva una parte de los casos para las corridas de publicación, elegida por la huella de su clave: agregar casos no mueve la "
        "elección, y una parte mayor contiene a la menor. No suelta ninguno. Sale con 1 si falta el motivo, 2 por uso."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--share", type=read_share, required=True, help="de 0 a 1: 0.2 es el 20 %%")
        parser.add_argument("--reason", required=True, help="por qué se reservan, en una frase")
        parser.add_argument("--as", dest="as_user", default=None, metavar="USER", help="quién los reserva")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = find_dataset(options["dataset"])
        by = find_user(options["as_user"]) if options["as_user"] else None
        try:
            done = hold_out_share(dataset=dataset, share=options["share"], change=Change(by, timezone.now(), options["reason"]))
        except ReasonMissing as error:
            raise CommandError(str(error), returncode=ExitCode.FAILED) from error
        held = f"{say_number(done.held)} de {say_number(done.total)} están reservados"
        self.stdout.write(f"{dataset}: {say_number(done.added)} casos reservados ahora; {held}.")


def read_share(text: str) -> float:
    """A share between 0 and 1."""
    try:
        share = float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} no es un número") from None
    if not 0 <= share <= 1:
        raise ArgumentTypeError(f"{text!r} no está entre 0 y 1")
    return share
