"""The history of a dataset's own page: who, when, why, and what changed of its name, its people and its rules."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from evals.admin.access import KeptAdmin
from evals.admin.case_history import LINES_PER_PAGE, ShownLine, show_change
from evals.datasets.differences import FieldChange
from evals.models import Dataset

FIELDS = ("name", "description", "target", "owner", "second_person_approves", "delegates")


class DatasetHistory(KeptAdmin):
    """Shows what the reason asked for on the form is kept for."""

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        dataset = self.get_object(request, object_id)
        if dataset is None:
            raise Http404
        if not self.has_view_or_change_permission(request, dataset):
            raise PermissionDenied
        found = _lines_of(dataset)
        page = Paginator(found, LINES_PER_PAGE).get_page(request.GET.get("p"))
        start = page.start_index() - 1 if page.object_list else 0
        context = self.admin_site.each_context(request) | {
            "title": f"Historial de {dataset}",
            "opts": self.opts,
            "original": dataset,
            "lines": _shown_lines(list(found[start : start + LINES_PER_PAGE + 1]))[:LINES_PER_PAGE],
            "page": page,
        }
        return TemplateResponse(request, "admin/evals/case/history.html", context)


def _lines_of(dataset: Dataset) -> QuerySet[Any]:
    """Newest first, with the people that each line names."""
    lines = dataset.history.select_related("history_user", "owner").prefetch_related("historicaldataset_delegates_set__user")
    return lines.order_by("-history_id")


def _shown_lines(found: list[Any]) -> list[ShownLine]:
    return [_shown_line(line, before) for line, before in pairwise([*found, None])]


def _shown_line(line: Any, before: Any) -> ShownLine:
    after, old = _say_state(line), _say_state(before) if before else {}
    changes = [show_change(FieldChange(name, old[name], after[name])) for name in old if old[name] != after[name]]
    act = "lo creó" if line.history_type == "+" else "lo cambió"
    who, why = str(line.history_user or "un programa"), line.history_change_reason or ""
    return ShownLine(line.pk, who, line.history_date, act, why, changes, closed=False)


def _say_state(line: Any) -> Mapping[str, str]:
    """Each field by the name that people read, in words; empty where there is nothing."""
    return {str(Dataset._meta.get_field(name).verbose_name): _say_value(line, name) for name in FIELDS}  # type: ignore[union-attr]


def _say_value(line: Any, name: str) -> str:
    if name == "delegates":
        return ", ".join(sorted(str(row.user) for row in line.historicaldataset_delegates_set.all()))
    value = getattr(line, name)
    return ("sí" if value else "no") if isinstance(value, bool) else str(value or "")
