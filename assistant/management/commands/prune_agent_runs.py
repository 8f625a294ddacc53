"""`manage.py prune_agent_runs`: delete uses of the agent past their time, as beat does every hour."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from assistant.agent_runs import prune_agent_runs


class Command(BaseCommand):
    help = "Borra los usos del agente más antiguos que INTERACTION_RETENTION_DAYS."

    def handle(self, *args: Any, **options: Any) -> None:
        deleted = prune_agent_runs(now=timezone.now())
        self.stdout.write(f"Usos del agente borrados: {deleted} (con más de {settings.INTERACTION_RETENTION_DAYS} días).")
