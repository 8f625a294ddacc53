"""The recordings of a case on its page: read in words, and their mark corrected in place by who may.

The raw output is JSON as a rule, which is no reading for experts: its text is corrected on the recording's own page.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string

from evals.admin.access import ReadOnlyInline
from evals.admin.recordings import MARK_OF, MARKS, WORD_OF
from evals.admin.words import say_recording
from evals.models import Case, Recording
from evals.services import Change, ReasonMissing, correct_recording, demand_reason
from evals.words import MARK_WORDS


def may_correct(request: HttpRequest) -> bool:
    """A correction is a new recording."""
    return request.user.has_perm("evals.add_recording")


class CurrentRecordings(ReadOnlyInline):
    """The recordings in force, in words; the raw output is on each one's page."""

    model = Recording
    verbose_name_plural = "Grabaciones vigentes"
    fields = readonly_fields = ("set_name", "says", "mark", "note")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Recording]:
        return super().get_queryset(request).filter(superseded_by__isnull=True).select_related("case")

    @admin.display(description="lo que respondió el modelo")
    def says(self, recording: Recording) -> str:
        return say_recording(recording)

    @admin.display(description="inválida")
    def mark(self, recording: Recording) -> str:
        return MARK_WORDS[recording.invalid]


class InPlaceForm(forms.ModelForm):
    """The mark of a recording, to correct it. Nothing is written to its row: a correction is a new one."""

    mark = forms.ChoiceField(label="Inválida", required=False, choices=MARKS)
    why = forms.CharField(
        label="Por qué se corrige",
        required=False,
        help_text="Solo si cambias la marca. Queda escrito con tu nombre.",
        max_length=500,
        widget=forms.TextInput({"class": "vTextField"}),
    )

    class Meta:
        model = Recording
        fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["mark"] = WORD_OF[self.instance.invalid]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        corrects, why = MARK_OF[cleaned["mark"]] != self.instance.invalid, cleaned["why"].strip()
        if corrects:
            self._demand_reason(why)
        if corrects and hasattr(self.instance, "superseded_by"):
            self.add_error(None, "Otra persona ya corrigió esta grabación. Abre la página otra vez para ver la vigente.")
        if why and not corrects:
            self.add_error("why", "No cambiaste la marca: no hay nada que corregir.")
        return cleaned

    def _demand_reason(self, why: str) -> None:
        try:
            demand_reason(why, "Corregir la marca necesita un motivo")
        except ReasonMissing as error:
            self.add_error("why", str(error))


class InPlaceFormSet(forms.BaseInlineFormSet):
    """Saves by appending corrections."""

    def save_corrections(self, change: Change) -> None:
        """One new recording for each one that was corrected; what Django's log wants to know of it."""
        self.new_objects: list[Recording] = []
        self.deleted_objects: list[Recording] = []
        self.changed_objects: list[tuple[Recording, list[str]]] = []
        for form in self.initial_forms:
            given = form.cleaned_data
            if MARK_OF[given["mark"]] == form.instance.invalid:
                continue
            correction = correct_recording(recording=form.instance, invalid=MARK_OF[given["mark"]], note=given["why"], by=change.by)
            self.changed_objects.append((correction, ["invalid"]))


class RecordingsInPlace(admin.StackedInline):
    """The recordings in force, corrected on the page of their case."""

    model = Recording
    form = InPlaceForm
    formset = InPlaceFormSet
    verbose_name = "Grabación"
    verbose_name_plural = "Grabaciones vigentes"
    fields = ("says", "note", ("mark", "why"), "where")
    readonly_fields = ("says", "note", "where")
    extra = max_num = 0
    can_delete = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Recording]:
        """Those in force; on a save also those that somebody replaced meanwhile, to tell so."""
        recordings = super().get_queryset(request).select_related("case", "superseded_by")
        return recordings if request.method == "POST" else recordings.filter(superseded_by__isnull=True)

    def has_add_permission(self, request: HttpRequest, obj: Case | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Case | None = None) -> bool:
        return may_correct(request)

    @admin.display(description="Se lee como")
    def says(self, recording: Recording) -> str:
        return say_recording(recording)

    @admin.display(description="Su texto")
    def where(self, recording: Recording) -> str:
        return render_to_string("admin/evals/recording/correct_link.html", {"recording": recording})
