"""Datasets, their frozen versions and the signatures on them."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils import timezone

from evals.admin.access import ReadOnlyInline, WithReason, change_by
from evals.admin.comparing import comparing_urls
from evals.admin.dataset_history import DatasetHistory
from evals.admin.guide import guide_url
from evals.admin.health import health_url
from evals.admin.spreadsheets import file_urls
from evals.admin.words import say_signature
from evals.datasets.selection import recording_sets, unsigned_changes
from evals.models import Case, Dataset, DatasetVersion, Run, Signature
from evals.selectors import count_openings
from evals.services import (
    NothingToFreeze,
    NotRunnable,
    ReasonMissing,
    RunConfig,
    freeze_version,
    hold_out_share,
    start_run,
)
from evals.services.runs import BASE_SET, SCRIPTED
from evals.targets import TARGETS


class ShareForm(forms.Form):
    share = forms.FloatField(
        label="Parte (%)",
        min_value=1,
        max_value=100,
        initial=20,
        help_text="Se elige por la clave de cada caso: al agregar casos la elección no se mueve, y no se suelta ninguno ya reservado.",
    )
    reason = forms.CharField(
        label="Motivo", widget=forms.Textarea({"rows": 2, "cols": 80}), help_text="Queda en el historial de cada caso, con tu nombre."
    )


class Versions(ReadOnlyInline):
    model = DatasetVersion
    verbose_name_plural = "Versiones"
    fields = readonly_fields = ("number", "size", "created_at", "signed")
    ordering = ("-number",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[DatasetVersion]:
        return super().get_queryset(request).select_related("signature__signed_by", "dataset")

    @admin.display(description="firma")
    def signed(self, version: DatasetVersion) -> str:
        return say_signature(version)


@admin.register(Dataset)
class DatasetAdmin(DatasetHistory):
    list_display = ("slug", "name", "owner", "approved_cases", "newest_version", "health")
    list_select_related = ("owner",)
    search_fields = ("slug", "name")
    form = WithReason
    fields = (
        "slug", "name", "description", "target", "owner", "delegates", "second_person_approves",
        "what_is_pending", "what_is_held_out", "reason",
    )  # fmt: skip
    inlines = (Versions,)
    actions = ("freeze", "run_scripted", "hold_out")
    change_form_template = "admin/evals/dataset/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        return [guide_url(self), health_url(self), *file_urls(self), *comparing_urls(self), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Dataset]:
        newest = DatasetVersion.objects.filter(dataset=OuterRef("pk")).order_by("-number")
        return (
            super()
            .get_queryset(request)
            .annotate(
                approved=Count("cases", filter=Q(cases__status=Case.Status.APPROVED)),
                newest=Subquery(newest.values("number")[:1]),
                newest_is_signed=Exists(Signature.objects.filter(version=Subquery(newest.values("pk")[:1]))),
            )
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Dataset | None = None) -> tuple[str, ...]:
        """Who signs and who approves is not for those to decide who only edit: it takes the permission to add datasets."""
        decided = () if self.has_add_permission(request) else ("owner", "delegates", "target", "second_person_approves")
        return (*(("slug",) if obj else ()), *decided, "what_is_pending", "what_is_held_out")

    def get_inlines(self, request: HttpRequest, obj: Dataset | None) -> tuple[Any, ...]:
        return self.inlines if obj else ()

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "target":
            return forms.ChoiceField(label="Sistema evaluado", choices=[(name, name) for name in TARGETS], initial="booking-assistant")
        if db_field.name == "description":
            kwargs["widget"] = forms.Textarea({"rows": 3, "cols": 80})
        if db_field.name in ("owner", "delegates"):
            kwargs["queryset"] = User.objects.filter(is_staff=True)  # who signs does it here, and neighbours never come here
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """The people of the desk are few: boxes to tick say more than two lists and their arrows."""
        return super().formfield_for_manytomany(db_field, request, **kwargs | {"widget": forms.CheckboxSelectMultiple})

    @admin.display(description="casos aprobados", ordering="approved")
    def approved_cases(self, dataset: Dataset) -> int:
        return dataset.approved  # type: ignore[attr-defined]

    @admin.display(description="última versión", ordering="newest")
    def newest_version(self, dataset: Dataset) -> str:
        if dataset.newest is None:  # type: ignore[attr-defined]
            return "ninguna"
        return f"v{dataset.newest}, {'firmada' if dataset.newest_is_signed else 'sin firmar'}"  # type: ignore[attr-defined]

    @admin.display(description="salud")
    def health(self, dataset: Dataset) -> str:
        return render_to_string("admin/evals/dataset/health_link.html", {"dataset": dataset})

    @admin.display(description="por firmar")
    def what_is_pending(self, dataset: Dataset) -> str:
        if not dataset.pk:
            return "Guarda el dataset y agrégale casos."
        return render_to_string("admin/evals/pending.html", {"dataset": dataset, "pending": unsigned_changes(dataset)})

    @admin.display(description="reservados")
    def what_is_held_out(self, dataset: Dataset) -> str:
        cases = dataset.cases.filter(status=Case.Status.APPROVED) if dataset.pk else Case.objects.none()
        counts = cases.aggregate(held=Count("id", filter=Q(held_out=True)), total=Count("id"))
        shown = {**counts, "dataset": dataset, "openings": count_openings([dataset]).get(dataset.pk, 0) if dataset.pk else 0}
        return render_to_string("admin/evals/held_out.html", shown)

    def has_freeze_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("evals.add_datasetversion")

    def has_hold_out_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("evals.change_case")

    def has_run_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("evals.add_run")

    @admin.action(description="Congelar versión", permissions=["freeze"])
    def freeze(self, request: HttpRequest, queryset: QuerySet[Dataset]) -> None:
        for dataset in queryset:
            try:
                version = freeze_version(dataset=dataset, by=request.user)  # type: ignore[arg-type]
                self.message_user(request, f"{version}: {version.size} casos congelados.")
            except NothingToFreeze as error:
                self.message_user(request, str(error), messages.ERROR)

    @admin.action(description="Correr con guion los casos de ahora", permissions=["run"])
    def run_scripted(self, request: HttpRequest, queryset: QuerySet[Dataset]) -> None:
        for dataset in queryset:
            try:
                for run in self._start_scripted(request, dataset):
                    words = f"La {run} de {run.version} (juego {run.recording_set}) está en cola: mírala en Corridas."
                    self.message_user(request, words)
            except (NothingToFreeze, NotRunnable) as error:
                self.message_user(request, str(error), messages.ERROR)

    @admin.action(description="Reservar una parte de los casos", permissions=["hold_out"])
    def hold_out(self, request: HttpRequest, queryset: QuerySet[Dataset]) -> HttpResponse | None:
        """First asks how many and why."""
        form = ShareForm(request.POST if "apply" in request.POST else None)
        if form.is_valid():
            self._hold_out(request, queryset, form.cleaned_data["share"] / 100, form.cleaned_data["reason"])
            return None
        context = self.admin_site.each_context(request) | {
            "title": "Reservar una parte de los casos",
            "opts": self.opts,
            "form": form,
            "verb": "Reservar",
            "keys": [str(dataset) for dataset in queryset],
            "action": "hold_out",
            "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
            "select_across": "0",
        }
        return TemplateResponse(request, "admin/evals/case/step_many.html", context)

    def _hold_out(self, request: HttpRequest, queryset: QuerySet[Dataset], share: float, reason: str) -> None:
        for dataset in queryset:
            try:
                done = hold_out_share(dataset=dataset, share=share, change=change_by(request, reason))
                self.message_user(request, f"{dataset}: {done.added} casos reservados ahora; {done.held} de {done.total} lo están.")
            except ReasonMissing as error:
                self.message_user(request, str(error), messages.ERROR)

    @transaction.atomic
    def _start_scripted(self, request: HttpRequest, dataset: Dataset) -> list[Run]:
        """A run of the set `base`; of each set where there is no `base`, as with attacks that a model obeys or resists."""
        version = freeze_version(dataset=dataset, by=request.user)  # type: ignore[arg-type]
        sets = recording_sets(dataset)
        asked = [BASE_SET] if BASE_SET in sets or not sets else sets
        configs = [RunConfig(model=f"{SCRIPTED}:{name}", target=dataset.target, queue=True) for name in asked]
        return [start_run(version=version, config=config, by=request.user, now=timezone.now()) for config in configs]  # type: ignore[arg-type]
