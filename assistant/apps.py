from importlib import import_module

from django.apps import AppConfig
from django.core import checks


class AssistantConfig(AppConfig):
    name = "assistant"
    verbose_name = "Asistente"

    def ready(self) -> None:
        checks.register(import_module("assistant.checks").check_mcp_servers)
