"""Frozen versions, the signatures on them, and the revisions that they hold."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from evals.admin.access import AboutCase, FrozenAdmin, is_held_out, may_read_held_out
from evals.admin.asking import ask
from evals.admin.trail import trail_url
from evals.admin.words import case_lines, say_signature
from evals.datasets.comparison import Comparison, compare_states, say_counts, say_side
from evals.datasets.revisions import read_spec
from evals.datasets.selection import latest_version, unsigned_changes
from evals.models import CaseRevision, DatasetVersion, Signature
from evals.selectors import health_report
from evals.services import AlreadySigned, NotTheOwner, ReasonMissing, VersionBroken, may_sign, sign_version

SHOWN_LEVELS = ("falta", "atención")


def say_health(signature: Signature) -> str:
    """The health report that a signature keeps, in words; signatures of before keep none."""
    shown = {"health": signature.health}
    return render_to_string("admin/evals/datasetversion/health.html", shown) if signature.health else "—"


class SigningForm(forms.Form):
    reason = forms.CharField(
        label="Motivo",
        widget=forms.Textarea({"rows": 3, "cols": 80}),
        help_text="Qué revisaste y por qué esta versión es el examen. Queda escrito.",
    )


@admin.register(DatasetVersion)
class DatasetVersionAdmin(FrozenAdmin):
    list_display = ("__str__", "size", "created_at", "frozen_by", "signed", "short_hash")
    list_filter = ("dataset",)
    list_select_related = ("dataset", "created_by", "signature__signed_by")
    fields = (
        "dataset", "number", "size", "created_at", "frozen_by", "content_hash", "signed", "why_signed", "health_when_signed",
        "what_is_pending",
    )  # fmt: skip
    readonly_fields = fields
    change_form_template = "admin/evals/datasetversion/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        sign = path("<int:pk>/sign/", self.admin_site.admin_view(self.sign), name="evals_datasetversion_sign")
        return [sign, trail_url(self, DatasetVersion), *super().get_urls()]

    @admin.display(description="huella")
    def short_hash(self, version: DatasetVersion) -> str:
        return version.content_hash[:12]

    @admin.display(description="congelada por")
    def frozen_by(self, version: DatasetVersion) -> str:
        return str(version.created_by or "no quedó escrito")

    @admin.display(description="firma")
    def signed(self, version: DatasetVersion) -> str:
        return say_signature(version)

    @admin.display(description="motivo")
    def why_signed(self, version: DatasetVersion) -> str:
        return version.signature.reason if hasattr(version, "signature") else "—"

    @admin.display(description="salud al firmar")
    def health_when_signed(self, version: DatasetVersion) -> str:
        return say_health(version.signature) if hasattr(version, "signature") else "—"

    @admin.display(description="por firmar")
    def what_is_pending(self, version: DatasetVersion) -> str:
        shown = {"dataset": version.dataset, "pending": unsigned_changes(version.dataset)}
        return render_to_string("admin/evals/pending.html", shown)

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        version = self.get_object(request, object_id)
        may = version is not None and not hasattr(version, "signature") and may_sign(version.dataset, request.user)  # type: ignore[arg-type]
        shown = {"may_sign": may and request.user.has_perm("evals.add_signature")}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    def sign(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The owner or a delegate signs, with a reason. The service decides who may."""
        version = get_object_or_404(DatasetVersion.objects.select_related("dataset"), pk=pk)
        if not request.user.has_perm("evals.add_signature"):
            raise PermissionDenied
        form = SigningForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                sign_version(version=version, by=request.user, reason=form.cleaned_data["reason"], now=timezone.now())  # type: ignore[arg-type]
                self.message_user(request, f"Firmaste {version}.")
                return HttpResponseRedirect(reverse("admin:evals_datasetversion_change", args=[pk]))
            except (NotTheOwner, AlreadySigned, ReasonMissing, VersionBroken) as error:
                form.add_error(None, str(error))
        return ask(self, request, form, about=version, verb="Firmar", lines=_what_is_signed(version))


def _what_is_signed(version: DatasetVersion) -> list[tuple[str, str]]:
    """What a person should know before they sign: names, figures, and no case."""
    before = latest_version(version.dataset, signed=True)
    checks = health_report(version, now=timezone.now())["checks"]
    health = [f"{level}: {', '.join(check['title'] for check in checks if check['level'] == level)}" for level in SHOWN_LEVELS]
    found = compare_states(version.dataset, before, version) if before else None
    changes = f"{say_counts(found)}{_say_closed(found)}" if found else "es la primera que se firma"
    return [
        ("Versión", f"{version}, {version.size:,} casos"),
        ("Huella", version.content_hash),
        (f"Desde {say_side(before)}" if before else "Cambios", changes),
        ("Salud", "; ".join(line for line in health if not line.endswith(": ")) or "todo bien"),
    ]


def _say_closed(found: Comparison) -> str:
    """Who signs without reading held-out cases must know that some of what they sign is in them."""
    closed = sum(case_id in found.held_out for _, case_id in found.differing)
    if not closed:
        return ""
    said = f"{closed:,} de esas diferencias está" if closed == 1 else f"{closed:,} de esas diferencias están"
    return f". Ojo: {said} en casos reservados, y qué dice cada una lo lee solo quien los abre"


@admin.register(Signature)
class SignatureAdmin(FrozenAdmin):
    list_display = ("version", "signed_by", "signed_at", "reason")
    list_select_related = ("version__dataset", "signed_by")
    list_filter = ("version__dataset",)
    fields = ("version", "signed_by", "signed_at", "reason", "content_hash", "health_when_signed")
    readonly_fields = fields

    @admin.display(description="salud al firmar")
    def health_when_signed(self, signature: Signature) -> str:
        return say_health(signature)


@admin.register(CaseRevision)
class CaseRevisionAdmin(AboutCase):
    list_display = ("case", "dataset", "short_hash", "created_at")
    list_filter = ("case__dataset",)
    list_select_related = ("case__dataset",)
    search_fields = ("case__key",)
    fields = ("case", "created_at", "in_words", "content_hash", "full_hash")
    readonly_fields = fields
    show_facets = admin.ShowFacets.NEVER

    def get_queryset(self, request: HttpRequest) -> QuerySet[CaseRevision]:
        """Held-out ones, by what the revision froze or by what the case is now, are for those who may read them."""
        revisions = super().get_queryset(request)
        return revisions if may_read_held_out(request) else revisions.filter(traits__held_out__isnull=True, case__held_out=False)

    def case_of(self, row: CaseRevision) -> tuple[int, bool]:
        return row.case_id, is_held_out(row)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup == "versions__id__exact" or super().lookup_allowed(lookup, value, request)

    @admin.display(description="dataset")
    def dataset(self, revision: CaseRevision) -> str:
        return str(revision.case.dataset)

    @admin.display(description="huella")
    def short_hash(self, revision: CaseRevision) -> str:
        return revision.full_hash[:12]

    @admin.display(description="el caso, como quedó")
    def in_words(self, revision: CaseRevision) -> str:
        return render_to_string("admin/evals/lines.html", {"lines": case_lines(read_spec(revision))})
