"""`manage.py model_check [NAME]`: may we use this model, and does it do?"""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from decimal import Decimal, InvalidOperation
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from assistant.ledger import RecordedModel, record_calls
from assistant.llm import ForbiddenModel, ModelError, ModelNotConfigured
from assistant.llm.provider import ProviderModel, provider_from_settings
from assistant.model_check import Answer, Check, check_model
from assistant.models import Purpose

NO, MISUSED, NOT_ANSWERED = 1, 2, 3


class Command(BaseCommand):
    help = (
        "Le pregunta a un servidor, en este orden: si el modelo está permitido, si pide herramientas, si le cabe el pedido más grande y "
        "cuánto cuesta. Se detiene en el primer no. Sale con 0 si sirve, 1 si no sirve, 2 por uso o configuración y 3 si el servidor no "
        "respondió. Hace hasta tres llamadas, que quedan en el registro de gastos."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", default="", metavar="NAME", help="el modelo (LLM_MODEL)")
        parser.add_argument("--context", type=_read_tokens, default=None, metavar="TOKENS", help="su contexto, si el servidor no lo dice")
        parser.add_argument("--max-usd", type=_read_usd, default=None, metavar="USD", help="lo más que pueden costar 1,000 pedidos típicos")

    def handle(self, *, name: str, context: int | None, max_usd: Decimal | None, **options: Any) -> None:
        provider = self._allowed_provider(name)
        self.stdout.write(f"{provider.name} en {provider.server}")
        self._say(0, Answer("¿Está permitido?", True, "Sí: no es una variante gratuita ni de prueba."))
        known = context or provider.listed_context()
        recorded = RecordedModel(provider, purpose=Purpose.CHECK, now=timezone.now())
        check = Check(recorded, timezone.now(), settings.LLM_MAX_TOKENS, settings.AGENT_CONTEXT_TOKENS, known, max_usd)
        try:
            answers = [self._say(number, answer) for number, answer in enumerate(check_model(check), start=1)]
        except ModelError as error:
            raise CommandError(f"No se pudo preguntar. {error}", returncode=NOT_ANSWERED) from None
        finally:
            record_calls(recorded.calls, reference="model_check")
        if not answers[-1].ok:
            sys.exit(NO)

    def _allowed_provider(self, name: str) -> ProviderModel:
        try:
            return provider_from_settings(name or None)
        except ForbiddenModel as error:
            self._say(0, Answer("¿Está permitido?", False, f"No. {error}"))
            sys.exit(NO)
        except ModelNotConfigured as error:
            raise CommandError(str(error), returncode=MISUSED) from None

    def _say(self, number: int, answer: Answer) -> Answer:
        self.stdout.write(f"{number}. {answer.question} {answer.sentence}")
        return answer


def _read_tokens(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100_000_000:
        raise ArgumentTypeError(f"{text!r} no es un número de tokens")
    return int(text)


def _read_usd(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ArgumentTypeError(f"{text!r} no es un número") from None
    if not value.is_finite() or not 0 <= value <= 10_000:
        raise ArgumentTypeError(f"{text!r} no está entre 0 y 10000")
    return value
