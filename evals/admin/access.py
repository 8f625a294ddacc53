"""Who may see and touch what in the desk's admin."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from evals.models import CaseRevision
from evals.selectors import opened_by
from evals.services import Change, save_edited

HELD_OUT = "reservado"


def may_read_held_out(request: HttpRequest) -> bool:
    """Held-out cases are closed, text, right answer and outputs, to everybody without this permission; to others until they open them."""
    return request.user.has_perm("evals.view_held_out_text")


def opened_cases(request: HttpRequest) -> set[int]:
    """Ids of the held-out cases that this person has open: asked once for each request."""
    if not hasattr(request, "opened_cases"):
        opened = opened_by(request.user, now=timezone.now()) if may_read_held_out(request) else set()  # type: ignore[arg-type]
        request.opened_cases = opened  # type: ignore[attr-defined]
    return request.opened_cases  # type: ignore[attr-defined]


def forget_opened(request: HttpRequest) -> None:
    """After an opening in the middle of a request: what is open is asked again."""
    vars(request).pop("opened_cases", None)


def reads(request: HttpRequest, case_id: int, *, held_out: bool) -> bool:
    """True when this person may see what a state of a case says; `held_out` is whether the case is, or was in that state."""
    return not held_out or case_id in opened_cases(request)


def is_closed(request: HttpRequest, case: Any) -> bool:
    """True for a held-out case before somebody who has not opened it."""
    return bool(case and case.pk and not reads(request, case.pk, held_out=case.held_out))


def change_by(request: HttpRequest, reason: str) -> Change:
    """What the person at the page is about to write, now."""
    return Change(request.user, timezone.now(), reason)  # type: ignore[arg-type]


class WithReason(forms.ModelForm):
    """A form that asks why, for the row's history."""

    reason = forms.CharField(
        label="Motivo del cambio",
        required=False,
        widget=forms.Textarea({"rows": 2, "cols": 80}),
        help_text="Queda en el historial, con tu nombre.",
    )


class KeptAdmin(admin.ModelAdmin):
    """Rows that may be edited and are never deleted. A conflict that only the database sees becomes a message, not an error page."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        save_edited(row=obj, change=change_by(request, form.cleaned_data.get("reason", "")))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except IntegrityError:
            self.message_user(
                request, "No se guardó: otra persona acaba de guardar algo que lo impide. Mira y vuelve a intentar.", messages.ERROR
            )
            return HttpResponseRedirect(request.get_full_path())


class FrozenAdmin(KeptAdmin):
    """Facts: they are read here and written by services."""

    actions: Sequence[str] | None = None

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> HttpResponse:
        return super().render_change_form(request, context | {"never_changes": True}, *args, **kwargs)


def is_offered(lookup: str, filters: Sequence[Any]) -> bool:
    """True for what a list's filters put into its address."""
    offered = {each if isinstance(each, str) else each.parameter_name for each in filters}
    return lookup.removesuffix("__exact").removesuffix("__isnull").removesuffix("__id") in offered


class AboutCase(FrozenAdmin):
    """Rows that tell something of a case. Where the case is held out they are closed until somebody opens it."""

    def case_of(self, row: Any) -> tuple[int, bool]:
        """The id of the case that a row tells of, and whether it is held out."""
        raise NotImplementedError

    def is_closed(self, request: HttpRequest, row: Any) -> bool:
        case_id, held_out = self.case_of(row)
        return not reads(request, case_id, held_out=held_out)

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> HttpResponse:
        row = self.get_object(request, object_id) if object_id else None
        if row is not None and self.has_view_permission(request, row) and self.is_closed(request, row):
            return ask_to_open(request, self.case_of(row)[0])
        return super().changeform_view(request, object_id, *args, **kwargs)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Only what the filters offer: `?text__startswith=` would read closed rows letter by letter."""
        return is_offered(lookup, self.list_filter)


def ask_to_open(request: HttpRequest, case_id: int) -> HttpResponse:
    """To the page that asks why, and comes back here."""
    query = urlencode({"next": request.get_full_path()})
    return HttpResponseRedirect(f"{reverse('admin:evals_heldoutopening_open', args=[case_id])}?{query}")


def is_held_out(revision: CaseRevision) -> bool:
    """By what the revision froze, or by what its case is now; the case must be loaded with it."""
    return bool(revision.traits.get("held_out")) or revision.case.held_out


class ReadOnlyInline(admin.TabularInline):
    """Rows that belong to a page and are not edited on it."""

    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
