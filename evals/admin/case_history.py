"""The history of a case: who, when, why, what changed in words, and the way back to any state."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from evals.admin.access import KeptAdmin, change_by, may_read_held_out, reads
from evals.admin.asking import ask
from evals.datasets.differences import FieldChange, Piece, changed_fields, diff_words
from evals.datasets.revisions import spec_of
from evals.models import Case
from evals.services import NothingToRevert, ReasonMissing, revert_case, spec_to_revert
from evals.values import CaseSpec

LINES_PER_PAGE = 25
STATUS_ACTS = {
    Case.Status.APPROVED: "lo aprobó",
    Case.Status.RETIRED: "lo retiró",
    Case.Status.PROPOSED: "lo devolvió a propuesto",
}


class ReasonForm(forms.Form):
    """Why something is done to a case."""

    reason = forms.CharField(
        label="Motivo", widget=forms.Textarea({"rows": 2, "cols": 80}), help_text="Queda en el historial, con tu nombre."
    )


class ShownChange(NamedTuple):
    """One changed field as the page draws it; `replaced` when nothing of the old value is left."""

    field: str
    pieces: list[Piece]
    replaced: bool


class ShownLine(NamedTuple):
    """One line of a history. A closed one tells who and when, and nothing that was written."""

    pk: int
    who: str
    when: datetime
    act: str
    reason: str
    changes: list[ShownChange]
    closed: bool


def shown_changes(before: CaseSpec, after: CaseSpec) -> list[ShownChange]:
    """What differs between two states of a case, live or historical."""
    return [show_change(change) for change in changed_fields(before, after)]


def show_change(change: FieldChange) -> ShownChange:
    """A changed field, ready to be drawn."""
    pieces = diff_words(change.before, change.after)
    return ShownChange(change.field, pieces, replaced=[piece.kind for piece in pieces] == ["gone", "new"])


def _shown_line(line: Any, before: Any | None, *, is_open: Callable[[Any], bool]) -> ShownLine:
    closed = not is_open(line) or not is_open(before)
    changes = [] if closed or before is None else shown_changes(spec_of(before), spec_of(line))
    act = "lo guardó" if closed else say_act(line, before, changed=bool(changes))
    reason = "" if closed else line.history_change_reason or ""
    return ShownLine(line.pk, str(line.history_user or "un programa"), line.history_date, act, reason, changes, closed)


def say_act(line: Any, before: Any | None, *, changed: bool) -> str:
    """What a line did: `lo cambió`, `lo retiró`."""
    if before is None:
        return f"lo creó como {line.get_status_display()}" if line.history_type == "+" else "lo cambió"
    if line.status == before.status:
        return "lo cambió"
    return f"lo cambió y quedó {line.get_status_display()}" if changed else STATUS_ACTS[line.status]


def _shown_lines(found: Sequence[Any], *, is_open: Callable[[Any], bool]) -> list[ShownLine]:
    """Newest first, each compared with the one that follows."""
    return [_shown_line(line, before, is_open=is_open) for line, before in zip(found, [*found[1:], None], strict=True)]


class CaseHistory(KeptAdmin):
    """The pages of a case's history."""

    def get_urls(self) -> list[URLPattern]:
        revert = path("<int:pk>/history/<int:line>/revert/", self.admin_site.admin_view(self.revert), name="evals_case_revert")
        return [revert, *super().get_urls()]

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        case = self._readable_case(request, object_id)
        pages = Paginator(case.history.order_by("-history_id"), LINES_PER_PAGE)
        page = pages.get_page(request.GET.get("p"))
        start = (page.number - 1) * LINES_PER_PAGE
        found = list(case.history.select_related("history_user").order_by("-history_id")[start : start + LINES_PER_PAGE + 1])
        shown = _shown_lines(found, is_open=self._opener(request, case))
        context = self.admin_site.each_context(request) | {
            "title": f"Historial de {case}",
            "opts": self.opts,
            "original": case,
            "lines": shown[:LINES_PER_PAGE],
            "page": page,
            "newest": case.history.order_by("-history_id").values_list("pk", flat=True).first(),
            "may_revert": self.has_change_permission(request, case),
            "may_open": may_read_held_out(request),
        }
        return TemplateResponse(request, "admin/evals/case/history.html", context)

    def revert(self, request: HttpRequest, pk: int, line: int) -> HttpResponse:
        """Shows what would change, and asks why."""
        case = self._readable_case(request, str(pk))
        then = case.history.filter(pk=line).first()
        if then is None:
            raise Http404
        if not self.has_change_permission(request, case) or not self._opener(request, case)(then):
            raise PermissionDenied
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                revert_case(case=case, line=then, change=change_by(request, form.cleaned_data["reason"]))
                self.message_user(request, f"«{case}» dice otra vez lo que decía entonces.")
                return HttpResponseRedirect(reverse("admin:evals_case_history", args=[pk]))
            except (NothingToRevert, ReasonMissing) as error:
                form.add_error(None, str(error))
        return ask(
            self, request, form, about=case, verb="Volver a este estado", changes=shown_changes(spec_of(case), spec_to_revert(case, then))
        )

    def _readable_case(self, request: HttpRequest, object_id: str) -> Case:
        case = self.get_object(request, object_id)
        if case is None:
            raise Http404
        if not self.has_view_or_change_permission(request, case):
            raise PermissionDenied
        return case

    def _opener(self, request: HttpRequest, case: Case) -> Callable[[Any], bool]:
        """Tells which states this person may read: those held out then, and all of a case held out now, only while they have it open."""
        return lambda line: reads(request, case.pk, held_out=case.held_out or (line is not None and line.held_out))
