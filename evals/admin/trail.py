"""The audit answer on a page: the same sentences as `manage.py audit_trail`."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone

from evals.models import DatasetVersion, Run
from evals.reports.trail import Trail, sections_of
from evals.selectors import trail_of_run, trail_of_version

SHOWN_LINES = 200


def trail_url(page: admin.ModelAdmin, model: type[Run] | type[DatasetVersion]) -> URLPattern:
    """`…/<pk>/trail/`, for `get_urls` of the admin of runs or versions."""

    def view(request: HttpRequest, pk: int) -> HttpResponse:
        row = get_object_or_404(model, pk=pk)
        if not page.has_view_permission(request, row):
            raise PermissionDenied
        return _show(page, request, row, _trail_of(row))

    return path("<int:pk>/trail/", page.admin_site.admin_view(view), name=f"evals_{model._meta.model_name}_trail")


def _trail_of(row: Model) -> Trail:
    if isinstance(row, Run):
        return trail_of_run(row, now=timezone.now())
    assert isinstance(row, DatasetVersion)  # noqa: S101 -- the two models that have a trail
    return trail_of_version(row, now=timezone.now())


def _show(page: admin.ModelAdmin, request: HttpRequest, row: Model, trail: Trail) -> HttpResponse:
    """Of a long section the newest lines; the command prints all."""
    sections = [(each.title, each.lines[-SHOWN_LINES:], max(0, len(each.lines) - SHOWN_LINES)) for each in sections_of(trail)]
    context = {"title": f"Rastro de {row}", "opts": page.opts, "original": row, "sections": sections, "trail": trail}
    return TemplateResponse(request, "admin/evals/trail.html", page.admin_site.each_context(request) | context)
