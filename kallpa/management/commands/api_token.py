"""manage.py api_token: tokens for programs."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.formats import date_format

from kallpa.models import ApiToken
from kallpa.tokens import MAX_DAYS, MAX_NAME, create_token, revoke_token


class Command(BaseCommand):
    help = "Crea, lista y revoca tokens de la API. El secreto se imprime una sola vez, al crear."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="create|list|revoke")
        create = actions.add_parser("create", help="crea un token e imprime su secreto en la última línea")
        create.add_argument("name", metavar="NOMBRE", help="para qué es, por ejemplo: editor de Rosa")
        create.add_argument("--owner", required=True, metavar="CUENTA", help="cuenta a la que pertenece; si se desactiva, el token no abre")
        create.add_argument("--scope", action="append", required=True, choices=list(ApiToken.Scope), help="lo que abre; puede repetirse")
        create.add_argument("--days", type=int, default=90, metavar="DÍAS", help=f"días que vale, de 1 a {MAX_DAYS}; 90 si falta")
        actions.add_parser("list", help="lista los tokens, sin secretos")
        revoke = actions.add_parser("revoke", help="cierra un token desde la siguiente solicitud")
        revoke.add_argument("prefix", metavar="COMIENZO", help="las ocho letras que muestra list")

    def handle(self, *, action: str, **options: Any) -> None:
        {"create": self._create, "list": self._list, "revoke": self._revoke}[action](options)

    def _create(self, options: dict[str, Any]) -> None:
        if not 1 <= options["days"] <= MAX_DAYS or not 1 <= len(options["name"]) <= MAX_NAME:
            raise CommandError(f"--days va de 1 a {MAX_DAYS} y NOMBRE tiene de 1 a {MAX_NAME} caracteres.", returncode=2)
        owner = _find_owner(options["owner"])
        made = create_token(name=options["name"], scopes=options["scope"], owner=owner, days=options["days"], now=timezone.now())
        self.stderr.write(f"Token {made.row} creado: {_describe(made.row)}. Guarda el secreto ahora, no se vuelve a mostrar:")
        self.stdout.write(made.secret)

    def _list(self, options: dict[str, Any]) -> None:
        for token in ApiToken.objects.select_related("owner"):
            self.stdout.write(f"{token.prefix}  {token.name}  {token.owner.get_username()}  {_describe(token)}")

    def _revoke(self, options: dict[str, Any]) -> None:
        token = ApiToken.objects.filter(prefix=options["prefix"]).first()
        if token is None:
            raise CommandError(
                f"No hay un token que comience con {options['prefix']!r}: manage.py api_token list los muestra.", returncode=2
            )
        closed = revoke_token(token=token, now=timezone.now())
        self.stdout.write(f"Token {token} revocado." if closed else f"El token {token} ya estaba revocado.")


def _find_owner(username: str) -> AbstractBaseUser:
    owner = get_user_model().objects.filter(username=username, is_active=True).first()
    if owner is None:
        raise CommandError(f"No hay una cuenta activa {username!r}.", returncode=2)
    return owner


def _describe(token: ApiToken) -> str:
    end = f"revocado el {_day(token.revoked_at)}" if token.revoked_at else f"vence el {_day(token.expires_at)}"
    used = f"último uso el {_day(token.last_used_at)}" if token.last_used_at else "sin usar"
    return f"{', '.join(token.scopes)}; {end}; {used}"


def _day(moment: Any) -> str:
    return date_format(timezone.localtime(moment), "d/m/Y H:i")
