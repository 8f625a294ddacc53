"""`manage.py seed_demo`: load the demo; a second time it does nothing."""

import os
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from evals.management.demo import LOGINS, Login, seed_demo


class Command(BaseCommand):
    help = (
        "Carga la demostración: personas, un complejo pequeño y los datasets firmados. Lo que ya existe no se toca. "
        "Las cuentas solo tienen contraseña, y el complejo una semana de reservas, con DEBUG encendido."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--logins", action="store_true", help="muestra la dirección del sitio y las cuentas de demostración")

    def handle(self, *args: Any, **options: Any) -> None:
        for sentence in seed_demo(with_passwords=settings.DEBUG, now=timezone.now()):
            self.stdout.write(f"Creado: {sentence}")
        if options["logins"]:
            self._show_logins()

    def _show_logins(self) -> None:
        # `make serve` hands its PORT down; runserver prints the address again once it listens.
        site = f"http://127.0.0.1:{os.environ.get('PORT', '8000')}/"
        self.stdout.write(f"Reservas de los vecinos: {site}")
        self.stdout.write(f"Mesa de evaluación y complejo: {site}admin/")
        for login in LOGINS:
            self.stdout.write(f"  {login.username:<19} {_password_words(login):<28} {login.role}")


def _password_words(login: Login) -> str:
    """Never a password that would not work."""
    user = User.objects.filter(username=login.username).first()
    return login.password if user and user.check_password(login.password) else "(su contraseña no es la de demostración)"
