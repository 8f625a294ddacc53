"""Held-out cases in the list and on their own pages: letting one go, and saving one that closed while somebody was writing."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from evals.admin.access import KeptAdmin, change_by, forget_opened, is_closed, may_read_held_out
from evals.admin.asking import ask, confirm_many
from evals.admin.case_form import PreviewForm
from evals.admin.case_history import ReasonForm
from evals.figures import say_count
from evals.models import Case
from evals.services import ReasonMissing, let_go, open_held_out

LET_GO = "Dejar de reservar"
NOT_TYPED = ("csrfmiddlewaretoken", "opening_reason")


class LettingGoForm(ReasonForm):
    """Letting go cannot be taken back: what has been read stays read."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].help_text = (
            "Desde ahora lo lee toda la mesa, y eso no se deshace aunque lo vuelvas a reservar. Cuenta como una apertura y queda en el "
            "historial, con tu nombre."
        )


class OpeningAgainForm(forms.Form):
    opening_reason = forms.CharField(
        label="Motivo", widget=forms.Textarea({"rows": 2, "cols": 80}), help_text="Para qué lo abres otra vez. Queda escrito con tu nombre."
    )


class HeldOutSteps(KeptAdmin):
    """The pages of a case that only held-out ones need."""

    def get_urls(self) -> list[URLPattern]:
        page = path("<int:pk>/let-go/", self.admin_site.admin_view(self.let_go_one), name="evals_case_let_go")
        return [page, *super().get_urls()]

    def has_let_go_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request) and may_read_held_out(request)

    def let_go_one(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Asks why; who may is told nothing of the case by this page, and it need not be open."""
        if not self.has_let_go_permission(request):
            raise PermissionDenied
        case = get_object_or_404(Case, pk=pk)
        form = LettingGoForm(request.POST or None)
        if request.method == "POST" and form.is_valid() and self._let_go(request, [case], form):
            return HttpResponseRedirect(reverse("admin:evals_case_change", args=[pk]))
        return ask(self, request, form, about=case, verb=LET_GO)

    @admin.action(description=LET_GO, permissions=["let_go"])
    def let_go_many(self, request: HttpRequest, queryset: QuerySet[Case]) -> HttpResponse | None:
        """First asks why."""
        form = LettingGoForm(request.POST if "apply" in request.POST else None)
        return confirm_many(self, request, form, about=queryset, verb=LET_GO, do=lambda cases: self._let_go(request, cases, form))

    def _let_go(self, request: HttpRequest, cases: list[Case], form: forms.Form) -> bool:
        """True when it is done and told; the form says why not."""
        try:
            done = len(let_go(cases=cases, change=change_by(request, form.cleaned_data["reason"])))
        except ReasonMissing as error:
            form.add_error(None, str(error))
            return False
        if done:
            self.message_user(request, f"{say_count(done, 'caso ya no es reservado', 'casos ya no son reservados')}.")
        if others := len(cases) - done:
            self.message_user(request, f"{say_count(others, 'no lo era y quedó igual', 'no lo eran y quedaron igual')}.", messages.WARNING)
        return True

    # --- What was typed into a case that has closed -----------------------------------------------------------------------

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> HttpResponse:
        case = Case.objects.filter(pk=object_id).first() if request.method == "POST" and object_id and object_id.isdecimal() else None
        if case is None or not is_closed(request, case) or not self.has_change_permission(request):
            return super().changeform_view(request, object_id, *args, **kwargs)
        if not may_read_held_out(request):
            return self._give_back(request, case)
        form = OpeningAgainForm(request.POST if "opening_reason" in request.POST else None)
        if form.is_valid() and self._open_again(request, case, form):
            return super().changeform_view(request, object_id, *args, **kwargs)
        typed = [(name, value) for name, values in request.POST.lists() if name not in NOT_TYPED for value in values]
        context = self.admin_site.each_context(request)
        context |= {"title": f"Guardar: {case}", "original": case, "opts": self.opts, "form": form, "typed": typed}
        return TemplateResponse(request, "admin/evals/case/open_again.html", context)

    def _give_back(self, request: HttpRequest, case: Case) -> HttpResponse:
        """What was typed is shown to whoever typed it, and nothing that is stored."""
        context = self.admin_site.each_context(request)
        context |= {"title": f"No se guardó: {case}", "original": case, "opts": self.opts, "lines": _typed_lines(request.POST)}
        return TemplateResponse(request, "admin/evals/case/given_back.html", context, status=403)

    def _open_again(self, request: HttpRequest, case: Case, form: forms.Form) -> bool:
        try:
            open_held_out(cases=[case], change=change_by(request, form.cleaned_data["opening_reason"]))
        except ReasonMissing as error:
            form.add_error("opening_reason", str(error))
            return False
        forget_opened(request)
        return True


def _typed_lines(posted: QueryDict) -> list[tuple[str, str]]:
    """The label of each field of a case's form, and what was posted for it; without those left blank."""
    fields = [field for field in PreviewForm(posted) if not field.is_hidden]
    return [(str(field.label), said) for field in fields if (said := _say_typed(field))]


def _say_typed(field: forms.BoundField) -> str:
    """A choice by its words; a box that was ticked says so."""
    if isinstance(field.field.widget, forms.CheckboxInput):
        return "sí" if field.data else ""
    if isinstance(field.field, forms.ChoiceField) and field.data:
        return str({str(value): words for value, words in field.field.choices}.get(str(field.data), field.data))  # type: ignore[misc, union-attr]
    parts = field.data if isinstance(field.data, list) else [field.data]
    return " ".join(part for part in parts if part)
