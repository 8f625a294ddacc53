"""Experts curate cases here."""

from typing import Any

from django.contrib import admin, messages
from django.db import IntegrityError
from django.db.models import Q, QuerySet
from django.forms import Script
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.text import Truncator

from evals.admin.access import HELD_OUT, change_by, is_closed, is_offered, may_read_held_out, opened_cases
from evals.admin.case_fields import DRAFT_FIELDS
from evals.admin.case_form import FAMILY_CHOICES, CaseForm
from evals.admin.case_held_out import HeldOutSteps
from evals.admin.case_history import CaseHistory
from evals.admin.case_preview import CasePreview
from evals.admin.case_recordings import CurrentRecordings, RecordingsInPlace, may_correct
from evals.admin.case_results import past_answers, was_written
from evals.admin.case_steps import CaseSteps
from evals.admin.how_checked import say_unanswerable
from evals.admin.words import case_lines
from evals.datasets import lines
from evals.datasets.revisions import spec_of
from evals.datasets.selection import stands_in_signed_version
from evals.models import Case
from evals.services import AlreadySuperseded, save_case
from evals.words import say_expected

FOLDED = ("collapse",)
FIELDSETS = [
    (None, {"fields": ("dataset", "key", "state", "text")}),
    ("La situación", {"fields": ("now", "member", "taken")}),
    ("Lo correcto", {"fields": ("expected_kind",)}),
    ("Si llena un borrador", {"fields": (DRAFT_FIELDS,), "classes": ("of-kind", "of-kind-draft")}),
    ("Si es texto libre", {"fields": ("expected_text",), "classes": ("of-kind", "of-kind-text")}),
    ("Si son etiquetas", {"fields": ("right_labels",), "classes": ("of-kind", "of-kind-labels")}),
    ("Si es una ruta", {"fields": ("expected_route",), "classes": ("of-kind", "of-kind-route")}),
    ("Si son herramientas", {"fields": ("right_tools",), "classes": ("of-kind", "of-kind-tools")}),
    ("Qué tan grave es", {"fields": ("blocking", "forbidden", "known_limitation")}),
    ("Ataques", {"fields": ("attack_family", "attack_channel", "signs", "benign"), "classes": FOLDED}),
    ("Para ordenar y encontrar", {"fields": ("stratum", "category", "labels", "held_out", "notes")}),
    ("Conversación y documentos", {"fields": ("conversation", "papers"), "classes": FOLDED}),
]  # fmt: skip
CLOSED = ("dataset", "key", "status", "why_closed")
VIEWED = ("dataset", "key", "status", "in_words")


class OpenCasesOnly(admin.SimpleListFilter):
    """A filter on what is right: of held-out cases it finds only those that the person has open."""

    field: str
    choices_shown: list[tuple[str, str]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return self.choices_shown

    def queryset(self, request: HttpRequest, queryset: QuerySet[Case]) -> QuerySet[Case]:
        if self.value() is None:
            return queryset
        found = queryset.filter(**{self.field: self.value()})
        return found.filter(Q(held_out=False) | Q(pk__in=opened_cases(request)))


class KindFilter(OpenCasesOnly):
    title, parameter_name, field = "lo correcto", "correcto", "expected_kind"
    choices_shown = Case.Kind.choices


class FamilyFilter(OpenCasesOnly):
    title, parameter_name, field = "familia de ataque", "ataque", "attack_family"
    choices_shown = FAMILY_CHOICES[1:]


@admin.register(Case)
class CaseAdmin(CaseSteps, HeldOutSteps, CaseHistory, CasePreview):
    form = CaseForm
    actions = (*CaseSteps.actions, "let_go_many")
    change_form_template = "admin/evals/case/change_form.html"
    list_display = ("key", "status", "sort", "flags", "exam")
    list_filter = ("dataset", "status", "stratum", "category", KindFilter, "blocking", "held_out", "benign", FamilyFilter)
    list_select_related = ("dataset",)
    list_per_page = 50
    show_facets = admin.ShowFacets.NEVER
    search_fields = ("key", "text", "notes")
    search_help_text = "Busca en la clave, el texto y las notas."

    class Media:
        js = (Script("kallpa/case_form.js", defer=True),)

    def has_change_permission(self, request: HttpRequest, obj: Case | None = None) -> bool:
        return super().has_change_permission(request, obj) and not is_closed(request, obj)

    def get_fieldsets(self, request: HttpRequest, obj: Case | None = None) -> list[Any]:
        if is_closed(request, obj):
            return [(None, {"fields": CLOSED})]
        return FIELDSETS if self.may_write(request, obj) else [(None, {"fields": VIEWED})]

    def get_readonly_fields(self, request: HttpRequest, obj: Case | None = None) -> tuple[str, ...]:
        if is_closed(request, obj):
            return CLOSED
        if not self.may_write(request, obj):
            return VIEWED
        return ("dataset", "key", "state") if obj else ("state",)

    def may_write(self, request: HttpRequest, case: Case | None) -> bool:
        return self.has_change_permission(request, case) if case else self.has_add_permission(request)

    def save_model(self, request: HttpRequest, obj: Case, form: Any, change: bool) -> None:
        save_case(case=obj, change=change_by(request, form.cleaned_data["reason"]))
        if doubt := say_unanswerable(obj.expected_kind, target=obj.dataset.target):
            self.message_user(request, doubt, messages.WARNING)

    def get_inlines(self, request: HttpRequest, obj: Case | None) -> list[Any]:
        """Recordings are outputs too: they wait until somebody has written what is right."""
        if obj is None or is_closed(request, obj) or not was_written(obj):
            return []
        return [RecordingsInPlace if self.has_change_permission(request, obj) and may_correct(request) else CurrentRecordings]

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        try:
            formset.save_corrections(change_by(request, form.cleaned_data["reason"]))
        except AlreadySuperseded as error:
            raise IntegrityError from error  # between the form's check and its write: the page is shown again

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> HttpResponse:
        return super().render_change_form(request, context | self._beside_the_form(request, kwargs.get("obj")), *args, **kwargs)

    def _beside_the_form(self, request: HttpRequest, case: Case | None) -> dict[str, Any]:
        """What the page shows besides the fields: past answers, what the buttons may do, whether a reason is needed."""
        if is_closed(request, case):
            return {"may_open": may_read_held_out(request), "may_let_go": self.has_let_go_permission(request)}
        may_write = self.may_write(request, case)
        return {
            "may_let_go": case is not None and case.held_out and self.has_let_go_permission(request),
            "may_write": may_write,
            "may_approve": may_write and self.has_approve_permission(request) and (case is None or case.status == Case.Status.PROPOSED),
            "needs_reason": may_write and case is not None and stands_in_signed_version(case),
            "answers_wait": case is not None and not was_written(case),
            "answers": past_answers(case, open_cases=opened_cases(request)) if case and self._may_see_results(request) else [],
        }

    def _may_see_results(self, request: HttpRequest) -> bool:
        return request.user.has_perm("evals.view_result")

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Case | None:
        """On a save the row is locked, so that nobody changes it between the form's check and its write."""
        case = super().get_object(request, object_id, from_field)
        if case is None or request.method != "POST":
            return case
        return Case.objects.select_for_update(of=("self",)).select_related("dataset").get(pk=case.pk)

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Case], search_term: str) -> tuple[QuerySet[Case], bool]:
        """Words of a held-out case find it only for those who have it open."""
        found, duplicates = super().get_search_results(request, queryset, search_term)
        if search_term:
            found = found.filter(Q(held_out=False) | Q(key__icontains=search_term.strip()) | Q(pk__in=opened_cases(request)))
        return found, duplicates

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Only what the filters offer: `?text__startswith=` would read closed cases letter by letter."""
        return is_offered(lookup, self.list_filter)

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        """Two columns depend on who is looking."""

        @admin.display(description="lo que escribe la persona")
        def what_they_write(case: Case) -> str:
            said = case.text or lines.write_messages(case.messages)
            return HELD_OUT if is_closed(request, case) else Truncator(said).chars(90)

        @admin.display(description="lo correcto")
        def what_is_right(case: Case) -> str:
            return HELD_OUT if is_closed(request, case) else Truncator(say_expected(spec_of(case).expected)).chars(60)

        return ("key", what_they_write, what_is_right, *self.list_display[1:])

    @admin.display(description="estado")
    def state(self, case: Case) -> str:
        return case.get_status_display() if case.pk else Case.Status.PROPOSED.label

    @admin.display(description="dataset")
    def exam(self, case: Case) -> str:
        return case.dataset.slug

    @admin.display(description="tipo", ordering="category")
    def sort(self, case: Case) -> str:
        return f"{case.category}, {case.get_stratum_display()}"

    @admin.display(description="marcas")
    def flags(self, case: Case) -> str:
        return ", ".join(
            word
            for given, word in (
                (case.blocking, "bloqueante"),
                (case.held_out, HELD_OUT),
                (case.attack_family and not case.held_out, "ataque"),
                (case.benign and not case.held_out, "legítimo"),
                (case.known_limitation and not case.held_out, "limitación"),
            )
            if given
        )

    @admin.display(description="el caso")
    def in_words(self, case: Case) -> str:
        return render_to_string("admin/evals/lines.html", {"lines": case_lines(spec_of(case))})

    @admin.display(description="por qué no se ve")
    def why_closed(self, case: Case) -> str:
        return render_to_string("admin/evals/case/closed.html", {"case": case})
