"""manage.py prune: deletes what has served its time."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from kallpa.pruning import prune_keys


class Command(BaseCommand):
    help = "Borra las claves de idempotencia que ya cumplieron su plazo (IDEMPOTENCY_HOURS)."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Claves de idempotencia borradas: {prune_keys(now=timezone.now())}.")
