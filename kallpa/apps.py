from django.apps import AppConfig


class KallpaConfig(AppConfig):
    name = "kallpa"
    verbose_name = "Kallpa"
