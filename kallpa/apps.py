from importlib import import_module

from django.apps import AppConfig


class KallpaConfig(AppConfig):
    name = "kallpa"
    verbose_name = "Kallpa"

    def ready(self) -> None:
        """Makes our Celery app the current one: `.delay` in a web process or a command would else use Celery's defaults."""
        import_module("kallpa.celery")
