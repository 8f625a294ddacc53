"""`manage.py prune_calls`: delete calls of the money ledger past their time, as beat does every hour."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from assistant.ledger import prune_calls


class Command(BaseCommand):
    help = "Borra las llamadas del libro de gastos más antiguas que LEDGER_RETENTION_DAYS."

    def handle(self, *args: Any, **options: Any) -> None:
        deleted = prune_calls(now=timezone.now())
        self.stdout.write(f"Llamadas borradas: {deleted} (con más de {settings.LEDGER_RETENTION_DAYS} días).")
