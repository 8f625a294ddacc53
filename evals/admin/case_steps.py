"""The life of a case in the admin: approved, retired, proposed again; one by one and many at once."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse

from evals.admin.access import HELD_OUT, KeptAdmin, change_by, is_closed
from evals.admin.asking import ask, confirm_many
from evals.admin.case_history import ReasonForm
from evals.models import Case
from evals.services import CaseNotMoved, Moved, ReasonMissing, approve_case, move_cases, reopen_case, retire_case

STEPS = {"retire": (Case.Status.RETIRED, retire_case), "reopen": (Case.Status.PROPOSED, reopen_case)}
VERBS = {Case.Status.APPROVED: "Aprobar", Case.Status.RETIRED: "Retirar del examen", Case.Status.PROPOSED: "Devolver a propuesto"}
DONE_WORDS = {Case.Status.APPROVED: "aprobado", Case.Status.RETIRED: "retirado", Case.Status.PROPOSED: "devuelto a propuesto"}
MOST_REFUSALS = 20


class OptionalReasonForm(ReasonForm):
    """Approving takes a reason only where the case was signed before."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = False
        self.fields["reason"].help_text = "Hace falta si el caso está en una versión firmada. Queda en el historial, con tu nombre."


FORMS = {Case.Status.APPROVED: OptionalReasonForm, Case.Status.RETIRED: ReasonForm, Case.Status.PROPOSED: ReasonForm}


class CaseSteps(KeptAdmin):
    """Links, buttons and list actions that take cases through their life."""

    actions: Sequence[str] = ("approve_many", "retire_many", "reopen_many")

    def get_urls(self) -> list[URLPattern]:
        steps = [
            path(f"<int:pk>/{name}/", self.admin_site.admin_view(self.take_step), {"name": name}, f"evals_case_{name}") for name in STEPS
        ]
        return [*steps, *super().get_urls()]

    def has_approve_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request) and request.user.has_perm("evals.approve_case")

    def take_step(self, request: HttpRequest, pk: int, name: str) -> HttpResponse:
        """Asks why, and retires one case or proposes it again; approving is a button beside «Guardar»."""
        case = get_object_or_404(Case.objects.select_related("dataset"), pk=pk)
        if not self.has_change_permission(request, case):
            raise PermissionDenied
        to, step = STEPS[name]
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                step(case=case, change=change_by(request, form.cleaned_data["reason"]))
                self.message_user(request, f"«{case}»: {DONE_WORDS[to]}.")
                return HttpResponseRedirect(reverse("admin:evals_case_change", args=[pk]))
            except (CaseNotMoved, ReasonMissing) as error:
                form.add_error(None, str(error))
        return ask(self, request, form, about=case, verb=VERBS[to])

    # --- The button beside «Guardar» --------------------------------------------------------------------------------------

    def response_add(self, request: HttpRequest, obj: Case, post_url_continue: str | None = None) -> HttpResponse:
        response = super().response_add(request, obj, post_url_continue)
        self._approve_if_asked(request, obj)
        return response

    def response_change(self, request: HttpRequest, obj: Case) -> HttpResponse:
        response = super().response_change(request, obj)
        self._approve_if_asked(request, obj)
        return response

    def _approve_if_asked(self, request: HttpRequest, case: Case) -> None:
        if "_approve" not in request.POST:
            return
        try:
            approve_case(case=case, change=change_by(request, request.POST.get("reason", "")))
            self.message_user(request, f"«{case}»: aprobado. Entra en la próxima versión.")
        except (CaseNotMoved, ReasonMissing) as error:
            self.message_user(request, f"Se guardó y no se aprobó. {error}", messages.WARNING)

    # --- Many at once -----------------------------------------------------------------------------------------------------

    @admin.action(description="Aprobar", permissions=["approve"])
    def approve_many(self, request: HttpRequest, queryset: QuerySet[Case]) -> HttpResponse | None:
        return self._step_many(request, queryset, Case.Status.APPROVED)

    @admin.action(description="Retirar del examen", permissions=["change"])
    def retire_many(self, request: HttpRequest, queryset: QuerySet[Case]) -> HttpResponse | None:
        return self._step_many(request, queryset, Case.Status.RETIRED)

    @admin.action(description="Devolver a propuesto", permissions=["change"])
    def reopen_many(self, request: HttpRequest, queryset: QuerySet[Case]) -> HttpResponse | None:
        return self._step_many(request, queryset, Case.Status.PROPOSED)

    def _step_many(self, request: HttpRequest, queryset: QuerySet[Case], to: Case.Status) -> HttpResponse | None:
        """First asks why; then moves what may be moved, and tells the rest one by one."""
        form = FORMS[to](request.POST if "apply" in request.POST else None)

        def move(cases: list[Case]) -> bool:
            self._move(request, cases, to, form.cleaned_data["reason"])
            return True

        return confirm_many(self, request, form, about=queryset, verb=VERBS[to], do=move)

    def _move(self, request: HttpRequest, cases: list[Case], to: Case.Status, reason: str) -> None:
        closed = [case for case in cases if is_closed(request, case)]
        may_move = [case for case in cases if not is_closed(request, case)]
        moved = move_cases(cases=may_move, to=to, change=change_by(request, reason))
        refused = [*moved.refused, *((case.key, f"«{case}» es un caso {HELD_OUT}: no puedes cambiarlo.") for case in closed)]
        self._tell(request, Moved(moved.moved, refused), to)

    def _tell(self, request: HttpRequest, moved: Moved, to: Case.Status) -> None:
        done, refused = len(moved.moved), moved.refused
        if done:
            self.message_user(request, _say_done(done, to))
        for _, why in refused[:MOST_REFUSALS]:
            self.message_user(request, why, messages.WARNING)
        if len(refused) > MOST_REFUSALS:
            self.message_user(request, f"Y {len(refused) - MOST_REFUSALS:,} casos más que se quedaron como estaban.", messages.WARNING)


def _say_done(count: int, to: Case.Status) -> str:
    """`3 casos devueltos a propuesto.`"""
    done, _, rest = DONE_WORDS[to].partition(" ")
    plural = "" if count == 1 else "s"
    return f"{count:,} caso{plural} {done}{plural}{f' {rest}' if rest else ''}."
