"""«Cómo se revisará»: the form as it stands, told back in sentences. Nothing is saved."""

import re
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from evals.admin.access import KeptAdmin
from evals.admin.case_form import PreviewForm
from evals.admin.how_checked import say_how_checked
from evals.datasets.revisions import spec_of
from evals.models import Case, Dataset


class CasePreview(KeptAdmin):
    """The page, and the piece of page, that says how a case will be checked."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.preview))
        pages = [path("preview/", view, name="evals_case_preview"), path("<int:pk>/preview/", view, name="evals_case_preview_of")]
        return [*pages, *super().get_urls()]

    def preview(self, request: HttpRequest, pk: int | None = None) -> HttpResponse:
        case = get_object_or_404(Case.objects.select_related("dataset"), pk=pk) if pk else None
        may = self.has_change_permission(request, case) if case else self.has_add_permission(request)
        if not may:
            raise PermissionDenied
        fragment = request.headers.get("X-Requested-With") == "fetch"
        template = "admin/evals/case/how_checked.html" if fragment else "admin/evals/case/preview.html"
        context = self.admin_site.each_context(request) | {"title": "Cómo se revisará", "opts": self.opts}
        return TemplateResponse(request, template, context | _told(request, case))


def _told(request: HttpRequest, case: Case | None) -> dict[str, Any]:
    """The sentences, or what has to be mended before there are any."""
    given = request.POST.copy()
    given["category"] = given.get("category") or "sin-categoria"  # what is only for finding the case can wait
    form = PreviewForm(given, instance=case or Case(key="sin-clave"))
    if not form.is_valid():
        return {"mend": [(form.fields[name].label if name in form.fields else "", errors) for name, errors in form.errors.items()]}
    return {"sentences": list(say_how_checked(spec_of(form.instance), target=_target_of(request, case)))}


def _target_of(request: HttpRequest, case: Case | None) -> str:
    if case:
        return case.dataset.target
    chosen = request.POST.get("dataset", "")
    dataset = Dataset.objects.filter(pk=int(chosen)).first() if re.fullmatch(r"[0-9]{1,18}", chosen) else None
    return dataset.target if dataset else ""
