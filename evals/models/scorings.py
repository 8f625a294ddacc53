"""Opinions: how a run was graded. A run can be graded again without asking the model again."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from evals.models.runs import Result, Run


class Scoring(models.Model):
    """One grading of a run. Its aggregates and verdict are written once."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="scorings", verbose_name="corrida")
    is_current = models.BooleanField("vigente", default=True)
    metrics_hash = models.CharField("huella de las métricas", max_length=64)
    judge = models.CharField("juez", max_length=120, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name="quién")
    created_at = models.DateTimeField("creada")
    aggregates = models.JSONField("métricas", null=True, blank=True)
    verdict = models.JSONField("veredicto", null=True, blank=True)
    decision = models.CharField("decisión", max_length=12, blank=True)
    closed_at = models.DateTimeField("cerrada", null=True, blank=True)

    class Meta:
        verbose_name = "calificación"
        verbose_name_plural = "calificaciones"
        ordering = ["run", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["run"], condition=Q(is_current=True), name="scoring_one_current_per_run"),
            models.CheckConstraint(
                condition=Q(decision="", closed_at__isnull=True) | ~Q(decision="") & Q(closed_at__isnull=False),
                name="scoring_closed_has_a_decision",
            ),
        ]

    def __str__(self) -> str:
        return f"calificación {self.pk} de {self.run}"


class Score(models.Model):
    """One metric's opinion on one result. No row: the metric does not apply. `value` null: it applies but cannot say."""

    scoring = models.ForeignKey(Scoring, models.CASCADE, related_name="scores", verbose_name="calificación")
    result = models.ForeignKey(Result, models.CASCADE, related_name="scores", verbose_name="resultado")
    metric = models.CharField("métrica", max_length=40)
    value = models.FloatField("valor", null=True)
    reason = models.TextField("razón", blank=True)

    class Meta:
        verbose_name = "puntaje"
        verbose_name_plural = "puntajes"
        constraints = [models.UniqueConstraint(fields=["scoring", "result", "metric"], name="score_unique_per_scoring_result_metric")]

    def __str__(self) -> str:
        return f"{self.metric}: {self.value}"
