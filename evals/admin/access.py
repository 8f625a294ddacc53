"""Who may see and touch what in the desk's admin."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone

from evals.services import Change, save_edited

HELD_OUT = "reservado"


def may_read_held_out(request: HttpRequest) -> bool:
    """Held-out cases are closed, text, right answer and outputs, to everybody without this permission."""
    return request.user.has_perm("evals.view_held_out_text")


def is_closed(request: HttpRequest, case: Any) -> bool:
    """True for a held-out case before somebody who may not read it."""
    return bool(case and case.held_out and not may_read_held_out(request))


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


class ReadOnlyInline(admin.TabularInline):
    """Rows that belong to a page and are not edited on it."""

    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
