"""Files that wait between their preview and their confirmation."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models

from evals.models.datasets import Dataset

KEPT_FOR = timedelta(hours=1)


def forget_files(*, now: datetime) -> None:
    """Deletes the files that nobody confirmed in time."""
    PendingImport.objects.filter(created_at__lt=now - KEPT_FOR).delete()


class PendingImport(models.Model):
    """A file that somebody brought and has not confirmed. Only they see it; it goes when it is confirmed, replaced or an hour old."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="+", verbose_name="dataset")
    brought_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name="quién lo trajo")
    file_name = models.CharField("archivo", max_length=200)
    content = models.BinaryField("contenido")
    content_hash = models.CharField("huella", max_length=64)
    created_at = models.DateTimeField("traído", db_index=True)

    class Meta:
        verbose_name = "archivo por confirmar"
        verbose_name_plural = "archivos por confirmar"
        default_permissions = ()

    def __str__(self) -> str:
        return self.file_name
