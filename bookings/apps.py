from importlib import import_module

from django.apps import AppConfig


class BookingsConfig(AppConfig):
    name = "bookings"
    verbose_name = "Complejo deportivo"

    def ready(self) -> None:
        """The admin's login counts attempts as the neighbours' does: a limit on one door of two is none."""
        import_module("django.contrib.admin").site.login_form = import_module("bookings.account_forms").AdminLogInForm
