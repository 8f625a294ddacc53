"""Cases as files, on a dataset's page: upload, preview, confirm; download; the template."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.text import Truncator

from evals.admin.access import change_by, may_read_held_out, opened_cases
from evals.admin.asking import ask
from evals.admin.case_results import WAITS
from evals.datasets import lines
from evals.datasets.export import export_dataset
from evals.datasets.rows import MAX_BYTES, Problem, write_rows
from evals.datasets.spreadsheet import CellTooLong, say_place, write_csv, write_template, write_xlsx
from evals.datasets.spreadsheet.columns import RECORDING
from evals.models import Dataset, PendingImport
from evals.selectors.imports import CaseChange, ImportPreview, preview_import
from evals.services import (
    ImportExpired,
    ImportSummary,
    PreviewChanged,
    ReasonMissing,
    confirm_import,
    find_kept,
    keep_file,
    may_import,
    open_for_export,
)
from evals.values import CaseSpec
from evals.words import say_expected

SHOWN = 100  # of each kind, on the preview
LONGEST = 300  # characters of a cell there
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FORMATS = {
    "xlsx": ("Excel (.xlsx)", XLSX_TYPE, write_xlsx),
    "csv": ("CSV", "text/csv; charset=utf-8", write_csv),
    "jsonl": ("JSON Lines", "application/jsonl", write_rows),
}
View = Callable[[admin.ModelAdmin, HttpRequest, Dataset], HttpResponse]


class UploadForm(forms.Form):
    file = forms.FileField(
        label="Archivo",
        help_text=(
            "Una hoja .xlsx, un CSV, JSON Lines o pruebas de promptfoo, de hasta 20 MB. Primero verás qué entra, qué cambia y qué se "
            "rechaza; nada se guarda hasta que lo confirmes. Los casos que el archivo no trae se quedan como están."
        ),
    )

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > MAX_BYTES:
            raise forms.ValidationError(f"El archivo pasa de {MAX_BYTES // 1_000_000} MB. Divídelo.")
        return file


class ConfirmForm(forms.Form):
    reason = forms.CharField(
        label="Motivo",
        widget=forms.Textarea({"rows": 2, "cols": 80}),
        help_text="De dónde viene el archivo y por qué cambia lo que cambia. Queda en el historial de cada caso, con tu nombre.",
    )
    approved = forms.BooleanField(
        label="Aprobar lo que entra y lo que cambia",
        required=False,
        help_text="Sin marcar queda propuesto, también lo aprobado que cambia, hasta que alguien lo apruebe.",
    )
    seen = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, may_approve: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_approve:
            del self.fields["approved"]


class ExportForm(forms.Form):
    format = forms.ChoiceField(
        label="Formato",
        choices=[(name, label) for name, (label, _, _) in FORMATS.items()],
        help_text=(
            "Salen los casos aprobados con sus grabaciones; las de un caso cuya respuesta correcta nadie guardó todavía se quedan. Edita "
            "el archivo y vuelve a importarlo: solo cambia lo que cambies."
        ),
    )
    proposed = forms.BooleanField(label="También los propuestos", required=False)
    held_out = forms.BooleanField(label="También los reservados", required=False, help_text="Cuenta como abrir cada uno, y pide un motivo.")
    reason = forms.CharField(label="Motivo", required=False, widget=forms.Textarea({"rows": 2, "cols": 80}))

    def __init__(self, *args: Any, may_read: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_read:
            del self.fields["held_out"], self.fields["reason"]


class Told(NamedTuple):
    """A problem as the page shows it."""

    place: str
    message: str


def file_urls(page: admin.ModelAdmin) -> list[URLPattern]:
    """`…/dataset/<pk>/import/`, `…/import/<file>/`, `…/export/` and `…/dataset/template/`, for `get_urls` of the dataset's admin."""

    def of_dataset(view: View) -> Callable[..., HttpResponse]:
        def found(request: HttpRequest, pk: int) -> HttpResponse:
            return view(page, request, get_object_or_404(Dataset, pk=pk))

        return page.admin_site.admin_view(found)

    def preview(request: HttpRequest, pk: int, kept: int) -> HttpResponse:
        return show_preview(page, request, get_object_or_404(Dataset, pk=pk), kept)

    def template(request: HttpRequest) -> HttpResponse:
        return download_template(page, request)

    return [
        path("template/", page.admin_site.admin_view(template), name="evals_dataset_template"),
        path("<int:pk>/import/", of_dataset(bring_file), name="evals_dataset_import"),
        path("<int:pk>/import/<int:kept>/", page.admin_site.admin_view(preview), name="evals_dataset_preview"),
        path("<int:pk>/export/", of_dataset(export_file), name="evals_dataset_export"),
    ]


# --- Import ---------------------------------------------------------------------------------------------------------------


def bring_file(page: admin.ModelAdmin, request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """Asks for a file and keeps it for its preview."""
    if not may_import(request.user):  # type: ignore[arg-type]
        raise PermissionDenied
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        kept = keep_file(dataset=dataset, content=file.read(), name=file.name or "", by=request.user, now=timezone.now())  # type: ignore[arg-type]
        return HttpResponseRedirect(reverse("admin:evals_dataset_preview", args=[dataset.pk, kept.pk]))
    return ask(page, request, form, about=dataset, verb="Importar casos", button="Ver qué haría")


def show_preview(page: admin.ModelAdmin, request: HttpRequest, dataset: Dataset, pk: int) -> HttpResponse:
    """What the file would do; on POST it does it, if it is still the same."""
    if not may_import(request.user):  # type: ignore[arg-type]
        raise PermissionDenied
    try:
        kept = find_kept(pk=pk, dataset=dataset, by=request.user, now=timezone.now())  # type: ignore[arg-type]
        form = ConfirmForm(request.POST or None, may_approve=_may_approve(request, dataset))
        if request.method == "POST" and form.is_valid() and (summary := _try_import(request, kept, form)):
            _say_imported(page, request, dataset, summary)
            return HttpResponseRedirect(_cases_of(dataset))
    except ImportExpired as error:
        page.message_user(request, str(error), messages.ERROR)
        return HttpResponseRedirect(reverse("admin:evals_dataset_import", args=[dataset.pk]))
    return _draw_preview(page, request, kept, form)


def _try_import(request: HttpRequest, kept: PendingImport, form: ConfirmForm) -> ImportSummary | None:
    """What was imported; None when nothing was, and the form says why."""
    said = form.cleaned_data
    change = change_by(request, said["reason"])
    try:
        return confirm_import(kept=kept, seen=said["seen"], change=change, approved=said.get("approved", False))
    except ReasonMissing as error:
        form.add_error("reason", str(error))
    except PreviewChanged as error:
        form.add_error(None, str(error))
    return None


def _may_approve(request: HttpRequest, dataset: Dataset) -> bool:
    return request.user.has_perm("evals.approve_case") and not dataset.second_person_approves


def _say_imported(page: admin.ModelAdmin, request: HttpRequest, dataset: Dataset, summary: ImportSummary) -> None:
    counts = f"{summary.added} nuevos, {summary.changed} cambiados, {summary.unchanged} iguales"
    page.message_user(request, f"Importado a {dataset}: {counts}.")


def _cases_of(dataset: Dataset) -> str:
    return f"{reverse('admin:evals_case_changelist')}?dataset__id__exact={dataset.pk}"


def _draw_preview(page: admin.ModelAdmin, request: HttpRequest, kept: PendingImport, form: ConfirmForm) -> HttpResponse:
    may_read = may_read_held_out(request)
    preview = preview_import(kept.dataset, bytes(kept.content), name=kept.file_name, by=kept.brought_by, now=timezone.now())
    opened = set(kept.dataset.cases.filter(pk__in=opened_cases(request)).values_list("key", flat=True))
    waiting = set(kept.dataset.cases.filter(answer_written_at__isnull=True).values_list("key", flat=True))
    specs = {row.spec.key: row.spec for row in preview.read.rows}
    context = page.admin_site.each_context(request) | {
        "title": f"Importar casos: {kept.dataset}",
        "opts": page.opts,
        "original": kept.dataset,
        "kept": kept,
        "form": form,
        "preview": preview,
        "problems": _tell(preview, preview.read.problems[:SHOWN]),
        "added": [_shown_added(change, specs[change.key], may_read=may_read) for change in preview.added[:SHOWN]],
        "changed": [_shown_change(change, opened, waiting) for change in preview.changed[:SHOWN]],
        "unit": preview.read.unit.capitalize(),
        "shown": SHOWN,
    }
    return TemplateResponse(request, "admin/evals/dataset/preview.html", context)


def _tell(preview: ImportPreview, problems: Sequence[Problem]) -> list[Told]:
    return [Told(say_place(problem, preview.read.unit), problem.message) for problem in problems]


def _shown_added(change: CaseChange, spec: CaseSpec, *, may_read: bool) -> dict[str, Any]:
    said = _shorten(spec.text or lines.write_messages(spec.messages))
    right = _shorten(say_expected(spec.expected))
    return {"line": change.line, "key": change.key, "closed": change.held_out and not may_read, "text": said, "right": right}


def _shown_change(change: CaseChange, opened: set[str], waiting: set[str]) -> dict[str, Any]:
    """What a held-out case says, before or after, is for whoever has it open; outputs recorded before, once what is right is written."""
    closed = change.held_out and change.key not in opened
    waits = change.key in waiting
    cells = [
        (cell.column, WAITS if waits and RECORDING.match(cell.column) else _shorten(cell.before), _shorten(cell.after))
        for cell in change.cells
    ]
    return {"line": change.line, "key": change.key, "closed": closed, "cells": [] if closed else cells}


def _shorten(text: str) -> str:
    return Truncator(text).chars(LONGEST)


# --- Export ---------------------------------------------------------------------------------------------------------------


def export_file(page: admin.ModelAdmin, request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """Asks for the format, then the file. Held-out cases leave only with whoever may read them."""
    if not request.user.has_perm("evals.view_case"):
        raise PermissionDenied
    form = ExportForm(request.POST or None, may_read=may_read_held_out(request))
    if request.method == "POST" and form.is_valid():
        try:
            return _write_file(request, dataset, form.cleaned_data)
        except CellTooLong as error:
            form.add_error("format", str(error))
        except ReasonMissing as error:
            form.add_error("reason", str(error))
    return ask(page, request, form, about=dataset, verb="Exportar casos", button="Descargar")


@transaction.atomic
def _write_file(request: HttpRequest, dataset: Dataset, asked: dict[str, Any]) -> HttpResponse:
    """A file that cannot be written opens no case."""
    held_out, proposed = asked.get("held_out", False), asked["proposed"]
    if held_out:
        open_for_export(dataset=dataset, change=change_by(request, asked["reason"]), include_proposed=proposed)
    export = export_dataset(dataset, include_held_out=held_out, include_proposed=proposed, only_written=True)
    _, content_type, write = FORMATS[asked["format"]]
    return _attachment(write(export.rows, held_out=export.held_out), f"{dataset.slug}.{asked['format']}", content_type)


def download_template(page: admin.ModelAdmin, request: HttpRequest) -> HttpResponse:
    """The workbook to start from."""
    if not page.has_view_permission(request):
        raise PermissionDenied
    return _attachment(write_template(), "plantilla-de-casos.xlsx", XLSX_TYPE)


def _attachment(content: bytes, name: str, content_type: str) -> HttpResponse:
    return HttpResponse(content, content_type=content_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})
