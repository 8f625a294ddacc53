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


class ApiToken(models.Model):
    """What a program shows to be let in. The row holds a hash: whoever reads the database cannot use the token."""

    class Scope(models.TextChoices):
        MCP = "mcp", "Servidor MCP"
        METRICS = "metrics", "Leer /metrics"
        GATE = "gate", "Preguntar si una versión puede salir"

    name = models.CharField("nombre", max_length=80)
    prefix = models.CharField("comienzo", max_length=8, unique=True)  # stands open in the token, to find its row and to speak about it
    digest = models.CharField("huella SHA-256", max_length=64)
    scopes = models.JSONField("permisos")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, verbose_name="dueño", on_delete=models.CASCADE, related_name="api_tokens")
    created_at = models.DateTimeField("creado")
    expires_at = models.DateTimeField("vence")
    revoked_at = models.DateTimeField("revocado", null=True, blank=True)
    last_used_at = models.DateTimeField("último uso", null=True, blank=True)

    class Meta:
        verbose_name = "token de la API"
        verbose_name_plural = "tokens de la API"
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(name="token_expires_after_it_is_made", condition=models.Q(expires_at__gt=models.F("created_at"))),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class Incident(models.Model):
    """Something that should work and does not, from its first sign to its end. Holds names and counts, never what people wrote."""

    class Kind(models.TextChoices):
        MODEL = "model", "Modelo caído"

    kind = models.CharField("qué", max_length=20, choices=Kind)
    subject = models.CharField("cuál", max_length=320)
    cause = models.CharField("causa", max_length=40)
    detail = models.CharField("en palabras", max_length=200, blank=True)
    counts = models.JSONField("cuentas al abrirse", default=dict, blank=True)
    signs = models.PositiveIntegerField("señales", default=1)  # how often it was reported while it was open
    opened_at = models.DateTimeField("desde", db_index=True)
    last_sign_at = models.DateTimeField("última señal")
    closed_at = models.DateTimeField("hasta", null=True, blank=True)
    opening_told_at = models.DateTimeField("aviso enviado", null=True, blank=True)
    closing_told_at = models.DateTimeField("aviso del fin enviado", null=True, blank=True)

    class Meta:
        verbose_name = "incidente"
        verbose_name_plural = "incidentes"
        ordering = ["-opened_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                name="one_open_incident_per_kind_and_subject", fields=["kind", "subject"], condition=models.Q(closed_at=None)
            ),
            models.CheckConstraint(name="incident_says_its_cause", condition=~models.Q(cause="")),
            models.CheckConstraint(
                name="incident_ends_after_it_begins", condition=models.Q(closed_at=None) | models.Q(closed_at__gte=models.F("opened_at"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.subject}"
