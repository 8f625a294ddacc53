"""`manage.py agent_demo`: the agent's loop with a scripted model, its context after each step."""

from typing import Any

from django.core.management.base import BaseCommand

from assistant.agent_demo import tell_demo


class Command(BaseCommand):
    help = "Muestra el ciclo del agente con un modelo con guion: cómo crece el contexto, el corte, y un modelo que dice que terminó."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        for line in tell_demo():
            self.stdout.write(line)
