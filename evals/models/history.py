"""Who changed a row that is edited in place, when and why."""

from typing import Any

from django.conf import settings
from django.db import models
from simple_history.models import HistoricalRecords


class KeptHistory(HistoricalRecords):
    """A frozen line for each state of a row. Whoever wrote one cannot be deleted, and nobody is given permissions on it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(history_change_reason_field=models.TextField("motivo", null=True, blank=True), **options)

    def _get_history_user_fields(self) -> dict[str, Any]:
        person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name="quién")
        return {"history_user": person}

    def get_meta_options(self, model: type[models.Model]) -> dict[str, Any]:
        return {**super().get_meta_options(model), "default_permissions": ()}
