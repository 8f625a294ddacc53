"""The history of a dataset's own page: who, when, why, and what changed of its name, its people and its rules."""

from itertools import pairwise
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from evals.admin.access import KeptAdmin
from evals.admin.case_history import LINES_PER_PAGE, ShownLine, show_change
from evals.datasets.differences import FieldChange
from evals.selectors import dataset_lines, say_row


class DatasetHistory(KeptAdmin):
    """Shows what the reason asked for on the form is kept for."""

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        dataset = self.get_object(request, object_id)
        if dataset is None:
            raise Http404
        if not self.has_view_or_change_permission(request, dataset):
            raise PermissionDenied
        found = dataset_lines(dataset.history.order_by("-history_id"))
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


def _shown_lines(found: list[Any]) -> list[ShownLine]:
    return [_shown_line(line, before) for line, before in pairwise([*found, None])]


def _shown_line(line: Any, before: Any) -> ShownLine:
    after, old = say_row(line), say_row(before) if before else {}
    changes = [show_change(FieldChange(name, old[name], after[name])) for name in old if old[name] != after[name]]
    act = "lo creó" if line.history_type == "+" else "lo cambió"
    who, why = str(line.history_user or "un programa"), line.history_change_reason or ""
    return ShownLine(line.pk, who, line.history_date, act, why, changes, closed=False)
