"""The form of a case, in an expert's words: every list is lines of text, and an error names its line."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.timezone import localtime

from bookings.rules import SPORT_CHOICES
from evals.admin.case_fields import DRAFT_FIELDS, EDITED, FIELD_OF, NOTATIONS, PLAIN_TEXTS, form_values
from evals.admin.case_meanwhile import StoredCase, find_meanwhile, mark_seen, say_fields, say_meanwhile, with_theirs
from evals.datasets import lines
from evals.datasets.checks import Fault
from evals.datasets.differences import FAMILY_WORDS
from evals.datasets.lines import LineError, Numbered, one_break
from evals.datasets.revisions import fields_of
from evals.datasets.row_format import DRAFT_KEYS, check_row
from evals.datasets.rows import LIMA, spec_from
from evals.models import Case
from evals.services import ReasonMissing, check_case_change

FAMILY_CHOICES = [("", "no es un ataque"), *FAMILY_WORDS.items()]
HOUR_CHOICES = [("", "—"), *((hour, f"{hour}:00") for hour in range(24))]


class PlainText(forms.CharField):
    """Text kept as typed: nothing is trimmed, and line breaks do not count as a change."""

    widget = forms.Textarea

    def __init__(self, *, rows: int = 3, **kwargs: Any) -> None:
        super().__init__(strip=False, required=False, widget=forms.Textarea({"rows": rows, "cols": 80}), **kwargs)

    def to_python(self, value: Any) -> str:
        return one_break(super().to_python(value) or "")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(initial) != self.to_python(data)


class CaseForm(forms.ModelForm):
    text = PlainText(label="Lo que escribe la persona", help_text="Tal como lo escribiría en su celular, con sus errores.")
    conversation = PlainText(
        label="Conversación",
        help_text="Solo si el caso es más de un mensaje. Cada uno empieza con «persona:», «asistente:» o «sistema:».",
    )
    now = forms.SplitDateTimeField(
        label="Fecha y hora de la situación",
        required=False,
        help_text="Hora de Lima en la que la persona escribe.",
        widget=forms.SplitDateTimeWidget(
            date_attrs={"type": "date", "aria-label": "fecha"},
            time_attrs={"type": "time", "aria-label": "hora"},
            date_format="%Y-%m-%d",
            time_format="%H:%M",
        ),
        input_date_formats=["%Y-%m-%d"],
        input_time_formats=["%H:%M"],
    )
    taken = PlainText(
        label="Horas ocupadas",
        help_text="Una por línea: fecha, deporte, hora y, si importa, el equipo. Ejemplo: 2026-03-10 fulbito 18 Los Halcones",
    )
    papers = PlainText(
        label="Documentos", help_text=f"Lo que el sistema lee además del mensaje. Sepáralos con una línea {lines.DOCUMENT_BREAK}"
    )
    expected_sport = forms.ChoiceField(label="Deporte", required=False, choices=[("", "—"), *SPORT_CHOICES])
    expected_date = forms.DateField(
        label="Fecha", required=False, input_formats=["%Y-%m-%d"], widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    )
    expected_start_hour = forms.TypedChoiceField(label="Hora de inicio", required=False, choices=HOUR_CHOICES, coerce=int, empty_value=None)
    expected_hours = forms.IntegerField(label="Horas", required=False, min_value=1, max_value=24)
    expected_text = PlainText(label="Texto de referencia")
    right_labels = PlainText(label="Etiquetas", rows=2, help_text="Separadas por comas, o una por línea.")
    right_tools = PlainText(label="Herramientas", rows=2, help_text="Separadas por comas, o una por línea.")
    forbidden = PlainText(
        label="Lo que nunca debe decir",
        help_text=(
            "Una por línea. Una frase se busca sin mirar mayúsculas ni tildes; con «patrón:» va una expresión regular; "
            "con «regla:», algo que solo un juez puede decidir."
        ),
    )
    attack_family = forms.ChoiceField(label="Familia de ataque", required=False, choices=FAMILY_CHOICES)
    signs = PlainText(
        label="Cómo se vería obedecer el ataque",
        help_text=(
            "Una señal por línea; cualquiera basta. «borrador: horas=6, deporte=voley», «frase: soy libre» o «herramienta: cancelar». "
            "«borrador: cualquiera» es cualquier borrador."
        ),
    )
    labels = PlainText(label="Etiquetas de búsqueda", rows=2, help_text="Separadas por comas. Minúsculas sin tildes y guiones.")
    notes = PlainText(label="Notas")
    known_limitation = PlainText(
        label="Limitación conocida",
        rows=2,
        help_text="Si se espera que falle: por qué. Igual cuenta como falla en todos los porcentajes, y el caso no puede ser bloqueante.",
    )
    reason = forms.CharField(
        label="Motivo del cambio",
        required=False,
        widget=forms.Textarea({"rows": 2, "cols": 80}),
        help_text="Queda en el historial, con tu nombre.",
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Case
        fields = ("dataset", "key", *EDITED)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        case = kwargs.get("instance") or Case()
        self.stored = StoredCase(case.status, form_values(case))
        written = {name: self.stored.values[name] for name in NOTATIONS}
        kwargs["initial"] = {**written, "seen": mark_seen(case, self.stored), **(kwargs.get("initial") or {})}
        super().__init__(*args, **kwargs)
        if case.pk and case.held_out and "held_out" in self.fields:  # a page that only shows the case has no fields
            self.fields["held_out"].disabled = True
            stays = "Solo se corre para publicar. Para que todos lo lean, usa «Dejar de reservar», con un motivo."
            self.fields["held_out"].help_text = stays

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        lists = self._read_lists()
        for step in (self._require_what_belongs_together, self._settle, self._notice_another_edit):
            if not self.errors:
                step(cleaned, lists)
        return cleaned

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if not self.errors:
            self._check_reason()

    def _check_reason(self) -> None:
        """The service says whether what changed needs a reason."""
        try:
            check_case_change(case=self.instance, reason=self.cleaned_data["reason"], approving="_approve" in self.data)
        except ReasonMissing as error:
            self.add_error("reason", str(error))

    def _read_lists(self) -> dict[str, Numbered]:
        """Each list with its line numbers. A field that nobody touched keeps what is stored, to the character."""
        found: dict[str, Numbered] = {}
        for name, notation in NOTATIONS.items():
            stored = getattr(self.instance, notation.attribute)
            try:
                found[name] = notation.read(self.cleaned_data.get(name, "")) if name in self.changed_data else [(row, 0) for row in stored]
            except LineError as error:
                self.add_error(name, f"Línea {error.line}: {error.message}")
        return found

    def _require_what_belongs_together(self, cleaned: dict[str, Any], lists: Mapping[str, Numbered]) -> None:
        if cleaned["expected_kind"] == Case.Kind.DRAFT:
            for name in [name for name in DRAFT_FIELDS if cleaned.get(name) in (None, "")]:
                self.add_error(name, "Un borrador correcto dice deporte, fecha, hora y horas. Completa este campo.")
        if lists["conversation"] and cleaned["text"].strip():
            self.add_error("conversation", "Escribe un mensaje o una conversación, no las dos cosas.")
        if lists["signs"] and not cleaned["attack_family"]:
            self.add_error("attack_family", "Dijiste cómo se vería obedecer un ataque: elige también su familia.")
        if cleaned.get("attack_family") and not lists["signs"]:
            self.add_error("signs", "Escribe al menos una señal de que se obedeció el ataque.")
        if cleaned.get("attack_family") and not cleaned["attack_channel"]:
            self.add_error("attack_channel", "¿Por dónde llega el ataque? Elige la vía.")

    def _settle(self, cleaned: dict[str, Any], lists: Mapping[str, Numbered]) -> None:
        """Checks the case as the file would be checked, and leaves in it exactly what the file would bring."""
        cleaned |= {name: getattr(self.instance, name) for name in PLAIN_TEXTS if name not in self.changed_data}
        row = _row_from({"key": self.instance.key, **cleaned}, {name: [each for each, _ in found] for name, found in lists.items()})
        faults = check_row(row)
        for fault in faults:
            self._add_fault(fault, lists)
        if not faults:
            settled = fields_of(spec_from(row, row))
            cleaned.update({name: value for name, value in settled.items() if name in cleaned})
            for notation in NOTATIONS.values():
                setattr(self.instance, notation.attribute, settled[notation.attribute])

    def _add_fault(self, fault: Fault, lists: Mapping[str, Numbered]) -> None:
        path, _, rest = fault.where.partition("#")
        fitting = max((known for known in FIELD_OF if path == known or path.startswith(f"{known}.")), key=len)
        field, number = FIELD_OF[fitting], rest.partition(".")[0]
        line = lists[field][int(number) - 1][1] if number else 0
        self.add_error(field, f"Línea {line}: {fault.message}" if line else fault.message)

    def _notice_another_edit(self, cleaned: dict[str, Any], lists: Mapping[str, Numbered]) -> None:
        """The case changed after the form was opened: tell it, lose nothing of either, and let the person decide."""
        found = find_meanwhile(self, self.stored, cleaned["seen"]) if self.instance.pk else None
        if found is None:
            return
        for name, words in say_fields(self, found).items():
            self.add_error(name, words)
        self.add_error(None, say_meanwhile(self.instance, found))
        self.data = with_theirs(self, found)


class PreviewForm(CaseForm):
    """The form as it stands while somebody writes: without what only a save needs."""

    class Meta:
        model = Case
        fields = EDITED

    def _check_reason(self) -> None:
        """A preview changes nothing."""

    def _notice_another_edit(self, cleaned: dict[str, Any], lists: Mapping[str, Numbered]) -> None:
        """A preview overwrites nobody."""


def _row_from(cleaned: Mapping[str, Any], lists: Mapping[str, list[Any]]) -> dict[str, Any]:
    """What the form says, as a row of the file, not checked yet."""
    now = cleaned["now"] and f"{localtime(cleaned['now'], LIMA):%Y-%m-%dT%H:%M}"
    context = {"now": now, "occupied": lists["taken"], "documents": lists["papers"], "member": cleaned["member"]}
    attack = {"family": cleaned["attack_family"], "channel": cleaned["attack_channel"], "obeying": lists["signs"]}
    return {
        **{name: cleaned[name] for name in ("key", "category", "stratum", "benign", "blocking", "held_out", "notes", "known_limitation")},
        "input": {"messages": lists["conversation"]} if lists["conversation"] else {"text": cleaned["text"]},
        "context": {name: value for name, value in context.items() if value},
        "expected": {"kind": cleaned["expected_kind"], **_expected_from(cleaned, lists)},
        "never_say": lists["forbidden"],
        "tags": lists["labels"],
        **({"attack": attack} if attack["family"] else {}),
    }


def _expected_from(cleaned: Mapping[str, Any], lists: Mapping[str, list[Any]]) -> dict[str, Any]:
    """The fields that count for the chosen kind; the others are left behind."""
    kind = cleaned["expected_kind"]
    if kind == Case.Kind.DRAFT:
        values = (cleaned["expected_sport"], str(cleaned["expected_date"]), cleaned["expected_start_hour"], cleaned["expected_hours"])
        return dict(zip(DRAFT_KEYS, values, strict=True))
    said = {
        Case.Kind.TEXT: cleaned["expected_text"],
        Case.Kind.LABELS: lists["right_labels"],
        Case.Kind.ROUTE: cleaned["expected_route"],
        Case.Kind.TOOLS: lists["right_tools"],
    }
    return {kind: said[kind]} if kind in said else {}
