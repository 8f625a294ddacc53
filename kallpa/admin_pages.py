"""The admin's pages are loaded by what serves or checks them: they would double the time that each command needs to start."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class AdminPagesConfig(SimpleAdminConfig):
    """The admin; `kallpa.urls` loads its pages."""

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_pages, checks.Tags.admin)


def check_pages(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[checks.CheckMessage]:
    """Django's checks of every page, whether or not the addresses have been loaded yet."""
    autodiscover()
    return check_admin_app(app_configs, **options)
