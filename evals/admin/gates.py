"""What a release must satisfy."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from evals.admin.access import KeptAdmin, WithReason, change_by
from evals.metrics import METRICS
from evals.models import GatePolicy, ProductThreshold
from evals.services import ReasonMissing, demand_reason, remove_threshold, save_edited

METRIC_CHOICES = [*((metric.name, metric.label) for metric in METRICS.values()), ("latency_p95_ms", "Latencia p95 (ms)")]


class ThresholdForm(forms.ModelForm):
    metric = forms.ChoiceField(label="Métrica", choices=METRIC_CHOICES)

    class Meta:
        model = ProductThreshold
        fields = ("metric", "op", "value", "justification")
        widgets = {"justification": forms.Textarea({"rows": 3, "cols": 80})}

    def clean_justification(self) -> str:
        justification: str = self.cleaned_data["justification"]
        try:
            demand_reason(justification, "Un límite necesita su justificación")
        except ReasonMissing as error:
            raise forms.ValidationError(str(error)) from error
        return justification

    def clean_value(self) -> float:
        """A share is written between 0 and 1."""
        value: float = self.cleaned_data["value"]
        metric = METRICS.get(self.cleaned_data.get("metric", ""))
        if value < 0 or (metric and metric.unit == "share" and value > 1):
            raise forms.ValidationError("Un porcentaje se escribe entre 0 y 1 (0.95 es 95 %); lo demás, desde 0.")
        return value


class Thresholds(admin.StackedInline):
    model = ProductThreshold
    form = ThresholdForm
    fields = (("metric", "op", "value"), "justification")
    extra = 0


class PolicyForm(WithReason):
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("needs_scripted") and not cleaned.get("needs_real"):
            self.add_error("needs_scripted", "Publicar exige al menos un tipo de corrida. Marca uno.")
        return cleaned


@admin.register(GatePolicy)
class GatePolicyAdmin(KeptAdmin):
    form = PolicyForm
    list_display = ("dataset", "needs_scripted", "needs_real", "max_known_limitations", "updated_at")
    list_select_related = ("dataset",)
    fields = ("dataset", "needs_scripted", "needs_real", "max_known_limitations", "reason")
    inlines = (Thresholds,)

    def get_readonly_fields(self, request: HttpRequest, obj: GatePolicy | None = None) -> tuple[str, ...]:
        return ("dataset",) if obj else ()

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Each threshold is written by the service: its history says who, when and why."""
        why = change_by(request, form.cleaned_data["reason"])
        for threshold in formset.save(commit=False):
            save_edited(row=threshold, change=why)
        for threshold in formset.deleted_objects:
            remove_threshold(threshold=threshold, change=why)
