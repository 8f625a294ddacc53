"""Openings of held-out cases: the list of them, and the page that asks why before it opens one."""

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme

from evals.admin.access import FrozenAdmin, change_by, is_offered, may_read_held_out
from evals.admin.asking import ask
from evals.models import Case, HeldOutOpening
from evals.selectors import OPEN_FOR
from evals.services import ReasonMissing, open_held_out

HOURS = int(OPEN_FOR.total_seconds() // 3600)


class OpeningForm(forms.Form):
    reason = forms.CharField(
        label="Motivo",
        widget=forms.Textarea({"rows": 2, "cols": 80}),
        help_text=(
            f"Para qué lo abres. Queda escrito con tu nombre, y cada apertura se cuenta junto a la nota. Lo tendrás abierto {HOURS} horas. "
            "No copies aquí lo que dice el caso."
        ),
    )


@admin.register(HeldOutOpening)
class HeldOutOpeningAdmin(FrozenAdmin):
    list_display = ("case", "dataset", "opened_by", "opened_at", "where", "reason")
    list_filter = ("case__dataset", "where")
    list_select_related = ("case__dataset", "opened_by")
    list_per_page = 50
    fields = ("case", "opened_by", "opened_at", "where", "reason")
    readonly_fields = fields
    show_facets = admin.ShowFacets.NEVER

    def get_urls(self) -> list[URLPattern]:
        page = path("open/<int:case>/", self.admin_site.admin_view(self.open), name="evals_heldoutopening_open")
        return [page, *super().get_urls()]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Only what the filters offer: others could ask what the case says."""
        return is_offered(lookup, self.list_filter)

    @admin.display(description="dataset")
    def dataset(self, opening: HeldOutOpening) -> str:
        return str(opening.case.dataset)

    def open(self, request: HttpRequest, case: int) -> HttpResponse:
        """Asks why, writes it, and goes where the person was going."""
        if not may_read_held_out(request):
            raise PermissionDenied
        found = get_object_or_404(Case, pk=case)
        form = OpeningForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                open_held_out(cases=[found], change=change_by(request, form.cleaned_data["reason"]))
                return HttpResponseRedirect(_next_page(request, found))
            except ReasonMissing as error:
                form.add_error(None, str(error))
        return ask(self, request, form, about=found, verb="Abrir el caso reservado", opts=Case._meta)


def _page_of(case: Case) -> str:
    return reverse("admin:evals_case_change", args=[case.pk])


def _next_page(request: HttpRequest, case: Case) -> str:
    """Where the person came from, if that is a page of this site."""
    asked = request.GET.get("next", "")
    return asked if url_has_allowed_host_and_scheme(asked, allowed_hosts=None) else _page_of(case)
