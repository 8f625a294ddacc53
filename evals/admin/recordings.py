"""Stored model outputs. Frozen: a correction is a new one that replaces it."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.text import Truncator

from evals.admin.access import HELD_OUT, AboutCase, ask_to_open, may_read_held_out, opened_cases
from evals.admin.asking import ask
from evals.admin.case_results import WAITS, was_written
from evals.admin.words import say_recording
from evals.datasets.lines import one_break
from evals.models import Recording
from evals.services import AlreadySuperseded, NothingToCorrect, ReasonMissing, correct_recording
from evals.words import MARK_WORDS

MARKS = [("", "sin marcar: decide el oráculo"), ("yes", "sí: nunca debe llegar a ser un borrador"), ("no", "no: es una salida legítima")]
MARK_OF = {"": None, "yes": True, "no": False}
WORD_OF = {mark: word for word, mark in MARK_OF.items()}
OUTPUT = ("text", "mark", "note")  # besides how it reads


class CorrectionForm(forms.Form):
    text = forms.CharField(label="Salida del modelo", required=False, strip=False, widget=forms.Textarea({"rows": 8, "cols": 80}))
    invalid = forms.ChoiceField(label="Inválida", required=False, choices=MARKS)
    note = forms.CharField(
        label="Por qué se corrige", widget=forms.Textarea({"rows": 2, "cols": 80}), help_text="Queda escrito con tu nombre."
    )

    def clean_text(self) -> str:
        """Text that nobody touched stays as it was: browsers rewrite line breaks."""
        text, before = one_break(self.cleaned_data["text"]), self.initial["text"]
        return before if text == one_break(before) else text


class InForceFilter(admin.SimpleListFilter):
    title = "vigencia"
    parameter_name = "vigente"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("si", "vigentes"), ("no", "reemplazadas")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Recording]) -> QuerySet[Recording]:
        return queryset if self.value() is None else queryset.filter(superseded_by__isnull=self.value() == "si")


@admin.register(Recording)
class RecordingAdmin(AboutCase):
    list_display = ("case", "set_name", "mark", "where_from", "created_by", "in_force")
    list_filter = ("case__dataset", "set_name", "invalid", InForceFilter)
    list_select_related = ("case", "created_by", "superseded_by")
    list_per_page = 50
    search_fields = ("case__key", "text", "note")
    fields = ("case", "set_name", "says", "text", "mark", "where_from", "note", "supersedes", "created_by", "created_at", "in_force")
    readonly_fields = fields
    change_form_template = "admin/evals/recording/change_form.html"
    show_facets = admin.ShowFacets.NEVER

    def get_queryset(self, request: HttpRequest) -> QuerySet[Recording]:
        recordings = super().get_queryset(request)
        return recordings if may_read_held_out(request) else recordings.filter(case__held_out=False)

    def case_of(self, row: Recording) -> tuple[int, bool]:
        return row.case_id, row.case.held_out

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Recording], search_term: str) -> tuple[QuerySet[Recording], bool]:
        """Words of a held-out recording find it only for those who have its case open, and words of one that waits for nobody."""
        found, duplicates = super().get_search_results(request, queryset, search_term)
        if search_term:
            own_key = Q(case__key__icontains=search_term.strip())
            found = found.filter(own_key | Q(case__held_out=False) | Q(case__in=opened_cases(request)))
            found = found.filter(own_key | Q(case__answer_written_at__isnull=False) | Q(created_by=request.user, origin="hand"))
        return found, duplicates

    def waits(self, request: HttpRequest, recording: Recording) -> bool:
        """True for an output of a case whose right answer nobody has saved: it would lead whoever writes it. One's own words do not."""
        own = recording.origin == "hand" and recording.created_by_id == request.user.pk
        return not own and not was_written(recording.case)

    def get_fields(self, request: HttpRequest, obj: Recording | None = None) -> tuple[str, ...]:
        waits = obj is not None and self.waits(request, obj)
        return tuple("why_hidden" if name == "says" else name for name in self.fields if name not in OUTPUT) if waits else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Recording | None = None) -> tuple[str, ...]:
        return self.get_fields(request, obj)

    @admin.display(description="se lee como")
    def why_hidden(self, recording: Recording) -> str:
        return WAITS.capitalize()

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        """One column depends on who is looking."""

        @admin.display(description="se lee como")
        def says(recording: Recording) -> str:
            if self.is_closed(request, recording):
                return HELD_OUT
            return WAITS if self.waits(request, recording) else Truncator(say_recording(recording)).chars(90)

        return (*self.list_display[:2], says, *self.list_display[2:])

    def get_urls(self) -> list[URLPattern]:
        correct = path("<int:pk>/correct/", self.admin_site.admin_view(self.correct), name="evals_recording_correct")
        return [correct, *super().get_urls()]

    @admin.display(description="se lee como")
    def says(self, recording: Recording) -> str:
        return say_recording(recording)

    @admin.display(description="inválida", ordering="invalid")
    def mark(self, recording: Recording) -> str:
        return MARK_WORDS[recording.invalid]

    @admin.display(description="origen")
    def where_from(self, recording: Recording) -> str:
        origin = recording.origin
        return "escrita a mano" if isinstance(origin, str) else f"{origin['model']}, {origin['date']}, prompt {origin['prompt_hash'][:10]}"

    @admin.display(description="vigente", boolean=True)
    def in_force(self, recording: Recording) -> bool:
        return not hasattr(recording, "superseded_by")

    def correct(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Asks for the corrected text or mark and the reason; the service appends it."""
        recording = get_object_or_404(self.get_queryset(request).select_related("case"), pk=pk)
        if not request.user.has_perm("evals.add_recording"):
            raise PermissionDenied
        if self.is_closed(request, recording):
            return ask_to_open(request, recording.case_id)
        if self.waits(request, recording):
            said = f"Primero guarda lo correcto de «{recording.case}»: hasta entonces no se muestra lo que respondió el modelo."
            self.message_user(request, said, messages.WARNING)
            return HttpResponseRedirect(reverse("admin:evals_case_change", args=[recording.case_id]))
        form = CorrectionForm(request.POST or None, initial={"text": recording.text, "invalid": WORD_OF[recording.invalid]})
        if request.method == "POST" and form.is_valid():
            try:
                return self._store(request, recording, form.cleaned_data)
            except (AlreadySuperseded, NothingToCorrect, ReasonMissing) as error:
                form.add_error(None, str(error))
        return ask(self, request, form, about=recording, verb="Corregir la grabación")

    def _store(self, request: HttpRequest, recording: Recording, given: dict[str, Any]) -> HttpResponse:
        correct_recording(
            recording=recording,
            text=given["text"],
            invalid=MARK_OF[given["invalid"]],
            note=given["note"],
            by=request.user,  # type: ignore[arg-type]
        )
        self.message_user(request, "La corrección quedó guardada y es la vigente; la anterior sigue en la lista.")
        return HttpResponseRedirect(reverse("admin:evals_case_change", args=[recording.case_id]))
