"""Facts: what was run, and what came out of each case."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from evals.models.datasets import CaseRevision, DatasetVersion, Recording


class Run(models.Model):
    """One execution of a version against a target and a model, with everything that can change later copied in."""

    class Status(models.TextChoices):
        QUEUED = "queued", "en cola"
        RUNNING = "running", "corriendo"
        INTERRUPTED = "interrupted", "interrumpida"
        OVER_BUDGET = "over-budget", "sin presupuesto"
        CANCELLED = "cancelled", "cancelada"
        FINISHED = "finished", "terminada"

    class Kind(models.TextChoices):
        SCRIPTED = "scripted", "guion"
        REAL = "real", "modelo real"
        RULES = "rules", "reglas sin modelo"

    class Purpose(models.TextChoices):
        ITERATION = "iteration", "iterar"
        RELEASE = "release", "publicar"

    class Budget(models.TextChoices):
        RUN = "run", "el de la corrida"
        DAY = "day", "el del día, de todas las corridas juntas"

    version = models.ForeignKey(DatasetVersion, models.PROTECT, related_name="runs", verbose_name="versión")
    target = models.CharField("sistema evaluado", max_length=40)
    model_kind = models.CharField("tipo", max_length=8, choices=Kind)
    model_name = models.CharField("modelo", max_length=120)
    server = models.CharField("servidor del modelo", max_length=255, blank=True)
    recording_set = models.CharField("juego de grabaciones", max_length=40, blank=True)
    prompt_variant = models.CharField("variante del prompt", max_length=40)
    prompt_hash = models.CharField("huella del prompt", max_length=64)
    system_prompt = models.TextField("instrucciones del sistema", blank=True)
    temperature = models.FloatField("temperatura")
    max_tokens = models.PositiveIntegerField("tokens de salida como máximo")
    repetitions = models.PositiveSmallIntegerField("repeticiones", default=1)
    concurrency = models.PositiveSmallIntegerField("llamadas en paralelo", default=1)
    purpose = models.CharField("para qué", max_length=10, choices=Purpose, default=Purpose.ITERATION)
    commit = models.CharField("commit", max_length=60, blank=True)
    policy = models.JSONField("política al momento de correr", null=True, blank=True)
    max_cost_micro_usd = models.PositiveBigIntegerField("tope de gasto (micro-USD)", null=True, blank=True)
    lost_cost_micro_usd = models.PositiveBigIntegerField("gasto de llamadas perdidas (micro-USD)", default=0)
    budget_reached = models.CharField("tope que la detuvo por última vez", max_length=3, choices=Budget, blank=True)
    expected_results = models.PositiveIntegerField("resultados esperados")
    status = models.CharField("estado", max_length=12, choices=Status, default=Status.QUEUED)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name="quién")
    created_at = models.DateTimeField("creada")
    finished_at = models.DateTimeField("terminada", null=True, blank=True)

    class Meta:
        verbose_name = "corrida"
        verbose_name_plural = "corridas"
        ordering = ["-id"]
        indexes = [models.Index(fields=["purpose", "commit"], name="run_purpose_commit")]
        constraints = [
            models.CheckConstraint(condition=Q(repetitions__gte=1), name="run_repeats_at_least_once"),
            models.CheckConstraint(
                condition=Q(status="finished", finished_at__isnull=False) | ~Q(status="finished") & Q(finished_at__isnull=True),
                name="run_finished_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"corrida {self.pk}"


class Result(models.Model):
    """One row per (run, revision, repetition). Once DONE it never changes."""

    class Status(models.TextChoices):
        PENDING = "pending", "sin correr"
        CLAIMED = "claimed", "en curso"
        DONE = "done", "respondido"
        ERROR = "error", "error"

    run = models.ForeignKey(Run, models.CASCADE, related_name="results", verbose_name="corrida")
    revision = models.ForeignKey(CaseRevision, models.PROTECT, related_name="results", verbose_name="revisión")
    repetition = models.PositiveSmallIntegerField("repetición", default=1)
    recording = models.ForeignKey(
        Recording, models.PROTECT, null=True, blank=True, related_name="results", verbose_name="grabación repetida"
    )
    status = models.CharField("estado", max_length=8, choices=Status, default=Status.PENDING)
    lease_token = models.CharField("ficha", max_length=32, blank=True)
    lease_until = models.DateTimeField("ficha válida hasta", null=True, blank=True)
    reserved_micro_usd = models.PositiveBigIntegerField("reservado (micro-USD)", default=0)

    outcome_kind = models.CharField("salió", max_length=12, blank=True)
    outcome = models.JSONField("resultado", null=True, blank=True)
    error_cause = models.CharField("causa del error", max_length=40, blank=True)
    error_detail = models.TextField("detalle del error", blank=True)
    input_tokens = models.PositiveIntegerField("tokens de entrada", null=True, blank=True)
    output_tokens = models.PositiveIntegerField("tokens de salida", null=True, blank=True)
    tokens_measured = models.BooleanField("tokens medidos", null=True, blank=True)
    latency_ms = models.FloatField("latencia (ms)", null=True, blank=True)
    cost_micro_usd = models.PositiveBigIntegerField("costo (micro-USD)", null=True, blank=True)
    price_known = models.BooleanField("precio conocido", null=True, blank=True)
    attempts = models.PositiveSmallIntegerField("intentos", null=True, blank=True)
    finished_at = models.DateTimeField("terminado", null=True, blank=True)

    class Meta:
        verbose_name = "resultado"
        verbose_name_plural = "resultados"
        ordering = ["run", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "revision", "repetition"], name="result_unique_per_run_revision_repetition"),
            models.CheckConstraint(
                condition=Q(status="claimed") & ~Q(lease_token="") & Q(lease_until__isnull=False)
                | ~Q(status="claimed") & Q(lease_token="", lease_until__isnull=True),
                name="result_claimed_has_a_lease",
            ),
            models.CheckConstraint(condition=~Q(status="done") | Q(outcome__isnull=False), name="result_done_has_an_outcome"),
            models.CheckConstraint(condition=~Q(status="error") | ~Q(error_cause=""), name="result_error_has_a_cause"),
        ]
        indexes = [models.Index(fields=["run", "status"], name="result_run_status")]

    def __str__(self) -> str:
        return f"resultado {self.pk}"
