"""`manage.py prune_interactions`: delete uses of the assistant past their time, as beat does every hour."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from assistant.services import prune_interactions


class Command(BaseCommand):
    help = "Borra los usos del asistente más antiguos que INTERACTION_RETENTION_DAYS."

    def handle(self, *args: Any, **options: Any) -> None:
        deleted = prune_interactions(now=timezone.now())
        self.stdout.write(f"Usos del asistente borrados: {deleted} (con más de {settings.INTERACTION_RETENTION_DAYS} días).")
