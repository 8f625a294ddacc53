"""What a release must satisfy."""

from django.db import models
from django.db.models import Q

from evals.models.datasets import Dataset
from evals.models.history import KeptHistory


class GatePolicy(models.Model):
    """The policy of one dataset. The invariants are not here: nobody can switch them off."""

    dataset = models.OneToOneField(Dataset, models.PROTECT, related_name="policy", verbose_name="dataset")
    needs_scripted = models.BooleanField("publicar exige una corrida con guion", default=True)
    needs_real = models.BooleanField("publicar exige una corrida con modelo real", default=False)
    max_known_limitations = models.PositiveSmallIntegerField("limitaciones conocidas como máximo", default=0)
    updated_at = models.DateTimeField("editada", auto_now=True)
    history = KeptHistory()

    class Meta:
        verbose_name = "política"
        verbose_name_plural = "políticas"
        constraints = [models.CheckConstraint(condition=Q(needs_scripted=True) | Q(needs_real=True), name="policy_needs_some_kind_of_run")]

    def __str__(self) -> str:
        return f"política de {self.dataset}"


class ProductThreshold(models.Model):
    """A product decision: a metric, a limit, and the written reason. Judged on real runs only."""

    class Op(models.TextChoices):
        AT_LEAST = ">=", "al menos"
        AT_MOST = "<=", "a lo más"
        MAX_DROP = "max-drop", "no cae más que, contra la línea base"

    policy = models.ForeignKey(GatePolicy, models.CASCADE, related_name="thresholds", verbose_name="política")
    metric = models.CharField("métrica", max_length=40)
    op = models.CharField("condición", max_length=8, choices=Op)
    value = models.FloatField("valor")
    justification = models.TextField("justificación", help_text="Qué cuesta un error, y a quién.")
    history = KeptHistory()

    class Meta:
        verbose_name = "umbral de producto"
        verbose_name_plural = "umbrales de producto"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["policy", "metric", "op"], name="threshold_unique_per_metric_and_condition"),
            models.CheckConstraint(condition=~Q(justification__regex=r"^\s*$"), name="threshold_has_a_justification"),
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.op} {self.value}"
