"""What differs between two states of a dataset, on a page; and the page that freezes the next version after showing it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from evals.admin.access import may_read_held_out, opened_cases
from evals.admin.case_history import ShownChange, show_change
from evals.admin.words import say_signature
from evals.datasets.comparison import (
    NOW,
    CaseChange,
    Comparison,
    Kind,
    Side,
    compare_states,
    load_changes,
    say_counts,
    say_side,
)
from evals.datasets.differences import changed_fields
from evals.datasets.selection import latest_version
from evals.models import Dataset, DatasetVersion
from evals.services import NothingToFreeze, freeze_version
from evals.values import CaseSpec
from evals.words import say_expected

PER_PAGE = 25
KIND_WORDS = {"changed": "cambiado", "added": "agregado", "retired": "retirado"}


class ShownCase(NamedTuple):
    """One case that differs, as the page draws it. A closed one tells its key alone."""

    kind: str
    case_id: int
    key: str
    closed: bool
    changes: Sequence[ShownChange]
    says: Sequence[tuple[str, str]]


def comparing_urls(page: admin.ModelAdmin) -> list[URLPattern]:
    """`…/dataset/<pk>/compare/` and `…/dataset/<pk>/freeze/`, for `get_urls` of the dataset's admin."""

    def compare(request: HttpRequest, pk: int) -> HttpResponse:
        return show_comparison(page, request, pk)

    def freeze(request: HttpRequest, pk: int) -> HttpResponse:
        return show_freeze(page, request, pk)

    view = page.admin_site.admin_view
    return [
        path("<int:pk>/compare/", view(compare), name="evals_dataset_compare"),
        path("<int:pk>/freeze/", view(freeze), name="evals_dataset_freeze"),
    ]


def show_comparison(page: admin.ModelAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """`?a=4&b=ahora`; without them, the latest signed version (or the latest) and the cases as they are now."""
    dataset = get_object_or_404(Dataset, pk=pk)
    if not page.has_view_permission(request, dataset) or not request.user.has_perm("evals.view_case"):
        raise PermissionDenied
    title = f"Comparar versiones de {dataset}"
    versions = list(dataset.versions.select_related("signature__signed_by").order_by("-number"))
    if not versions:  # there is only what is there now, and nothing to compare it with
        return TemplateResponse(request, "admin/evals/dataset/compare.html", _context(page, request, dataset, title))
    signed = [each for each in versions if hasattr(each, "signature")]
    usual = next(iter([*signed, *versions]), None)
    before, after = _side(versions, request.GET.get("a"), usual), _side(versions, request.GET.get("b"), None)
    context = _context(page, request, dataset, title) | {
        "choices": [(NOW, "lo de ahora"), *((str(each.number), f"v{each.number}, {say_signature(each)}") for each in versions)],
        "a": _name(before),
        "b": _name(after),
    }
    return TemplateResponse(request, "admin/evals/dataset/compare.html", context | _shown(request, compare_states(dataset, before, after)))


def show_freeze(page: admin.ModelAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """Shows what the next version would bring, and freezes it when told to."""
    dataset = get_object_or_404(Dataset, pk=pk)
    if not request.user.has_perms(("evals.add_datasetversion", "evals.view_case")):
        raise PermissionDenied
    if request.method == "POST":
        return _freeze(page, request, dataset)
    latest = latest_version(dataset)
    context = _context(page, request, dataset, f"Congelar una versión de {dataset}")
    shown = _shown(request, compare_states(dataset, latest, None)) if latest else {}
    next_number = latest.number + 1 if latest else 1
    approved = dataset.cases.filter(status="approved").count()
    return TemplateResponse(
        request, "admin/evals/dataset/freeze.html", context | shown | {"latest": latest, "next": next_number, "approved": approved}
    )


def _freeze(page: admin.ModelAdmin, request: HttpRequest, dataset: Dataset) -> HttpResponse:
    try:
        version = freeze_version(dataset=dataset, by=request.user)  # type: ignore[arg-type]
    except NothingToFreeze as error:
        page.message_user(request, str(error), messages.ERROR)
        return HttpResponseRedirect(reverse("admin:evals_dataset_change", args=[dataset.pk]))
    page.message_user(request, f"{version}: {version.size:,} casos congelados.")
    return HttpResponseRedirect(reverse("admin:evals_datasetversion_change", args=[version.pk]))


def _context(page: admin.ModelAdmin, request: HttpRequest, dataset: Dataset, title: str) -> dict[str, Any]:
    return page.admin_site.each_context(request) | {"title": title, "opts": page.opts, "original": dataset}


def _side(versions: Sequence[DatasetVersion], asked: str | None, usual: Side) -> Side:
    if asked is None or asked == NOW:
        return None if asked else usual
    found = next((each for each in versions if str(each.number) == asked), None)
    if found is None:
        raise Http404("Esa versión no existe")
    return found


def _name(side: Side) -> str:
    return str(side.number) if side else NOW


def _shown(request: HttpRequest, found: Comparison) -> dict[str, Any]:
    """The counts, and a page of the cases that this person may know of; the others are only counted."""
    seen = [pair for pair in found.differing if pair[1] not in found.held_out or may_read_held_out(request)]
    pages = Paginator(seen, PER_PAGE)
    page = pages.get_page(request.GET.get("p"))
    return {
        "counts": say_counts(found),
        "before": say_side(found.before),
        "after": say_side(found.after),
        "page": page,
        "cases": _draw(request, found, list(page.object_list)),
        "hidden": len(found.differing) - len(seen),
    }


def _draw(request: HttpRequest, found: Comparison, pairs: Sequence[tuple[Kind, int]]) -> list[ShownCase]:
    closed = found.held_out - opened_cases(request)
    return [_draw_case(change, closed=change.case_id in closed) for change in load_changes(found, pairs)]


def _draw_case(change: CaseChange, *, closed: bool) -> ShownCase:
    changes: list[ShownChange] = []
    says: list[tuple[str, str]] = []
    if not closed and change.before and change.after:
        changes = [show_change(each) for each in changed_fields(change.before, change.after)]
    elif not closed:
        says = _say_case(change.after or change.before)
    return ShownCase(KIND_WORDS[change.kind], change.case_id, change.key, closed, changes, says)


def _say_case(spec: CaseSpec | None) -> list[tuple[str, str]]:
    if spec is None:
        return []
    return [("lo que escribe la persona", spec.text), ("lo correcto", say_expected(spec.expected))]
