"""What all apps stand on."""

from django.conf import settings
from django.db import models


class IdempotencyKey(models.Model):
    """A request that a person's client named, and the answer it got. Written in the transaction that did the work."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, verbose_name="cuenta", on_delete=models.CASCADE, related_name="+")
    key = models.CharField("clave", max_length=255)
    request_hash = models.CharField("huella de la solicitud", max_length=64)
    status = models.PositiveSmallIntegerField("estado HTTP", default=0)  # 0 only inside the transaction that is still at work
    body = models.TextField("respuesta (JSON)", blank=True)  # text, not jsonb: the same answer is the same bytes
    created_at = models.DateTimeField("creada", db_index=True)

    class Meta:
        verbose_name = "clave de idempotencia"
        verbose_name_plural = "claves de idempotencia"
        ordering = ["-created_at", "-pk"]
        constraints = [models.UniqueConstraint(name="one_answer_per_user_and_key", fields=["user", "key"])]

    def __str__(self) -> str:
        return f"{self.key} ({self.status})"
