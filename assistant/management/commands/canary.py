"""`manage.py canary`: does the model answer?"""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from assistant.canary import send_canary


class Command(BaseCommand):
    help = (
        "Hace una llamada mínima al modelo. Sale con 0 si respondió, 1 si no, 2 si falta LLM_BASE_URL o LLM_MODEL, "
        "3 si no se le preguntó (presupuesto, contadores o modelo en pausa)."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not (settings.LLM_BASE_URL and settings.LLM_MODEL):
            raise CommandError("No hay modelo al que preguntar: pon LLM_BASE_URL y LLM_MODEL.", returncode=2)
        sung = send_canary(now=timezone.now())
        if not sung.cause:
            self.stdout.write(f"{settings.LLM_MODEL} responde.")
            return
        self.stderr.write(f"{settings.LLM_MODEL} no respondió. {sung.detail}")
        sys.exit(1 if sung.asked or sung.cause in ("not-configured", "forbidden-model") else 3)
