"""Pages that ask a few things before doing one."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction
from django.db.models import Max, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from evals.figures import say_count
from evals.models import Case

MOST_KEYS = 50
MOST_CHANGED = 10


def ask(page: admin.ModelAdmin, request: HttpRequest, form: forms.Form, *, about: Model, verb: str, **shown: Any) -> HttpResponse:
    """The form on an admin page of its own: `verb` is what will be done to `about`. `shown`: more for the template to show."""
    context = page.admin_site.each_context(request)
    context |= {"form": form, "title": f"{verb}: {about}", "original": about, "verb": verb, "opts": page.opts, **shown}
    return TemplateResponse(request, "admin/evals/ask.html", context)


# --- Many cases at once -----------------------------------------------------------------------------------------------------


class ChangedMeanwhile(NamedTuple):
    """What is not as the page showed it: the first such cases, by key, how many more, and the mark of how all stand now."""

    cases: list[Case]
    more: int
    mark: str


def confirm_many(
    page: admin.ModelAdmin, request: HttpRequest, form: forms.Form, *, about: QuerySet[Case], verb: str, do: Callable[[list[Case]], bool]
) -> HttpResponse | None:
    """An action of the list of cases: asks, and once confirmed does it to them as they were shown, or says which changed and asks again.

    `do` gets the cases, locked, and says whether it is done; if not, the form says why.
    """
    if not form.is_bound:
        return _ask_many(page, request, form, about=about, verb=verb, mark=mark_shown(about))
    mark = request.POST.get("shown", "")
    with transaction.atomic():
        locked = Case.objects.select_for_update(of=("self",)).select_related("dataset")
        cases = list(locked.filter(pk__in=about.order_by().values("pk")).order_by("pk"))
        changed = _find_changed(mark, about)
        if form.is_valid() and not changed and do(cases):
            return None
    return _ask_many(page, request, form, about=about, verb=verb, mark=changed.mark if changed else mark, changed=changed)


def mark_shown(cases: QuerySet[Case]) -> str:
    """What a page carries of the cases that it asks about: `id.newest line of history` of each."""
    return _write_mark(_states_of(cases))


def _states_of(cases: QuerySet[Case]) -> dict[int, int]:
    """The newest line of history of each case, by id; 0 without one. Two queries, however many cases."""
    wanted = cases.order_by().values_list("pk", flat=True)
    newest = Case.history.filter(id__in=wanted).order_by().values_list("id").annotate(newest=Max("history_id"))
    return dict.fromkeys(wanted, 0) | dict(newest)


def _write_mark(states: Mapping[int, int]) -> str:
    return " ".join(f"{case}.{line}" for case, line in sorted(states.items()))


def _read_mark(mark: str) -> dict[int, int]:
    """Empty where it is none: nobody knows then what was shown."""
    if not re.fullmatch(r"[0-9]{1,18}\.[0-9]{1,18}( [0-9]{1,18}\.[0-9]{1,18})*", mark):
        return {}
    return {int(case): int(line) for case, line in (each.split(".") for each in mark.split(" "))}


def _find_changed(mark: str, about: QuerySet[Case]) -> ChangedMeanwhile | None:
    """None where each case, and the choice of them, is as the mark says."""
    shown, now = _read_mark(mark), _states_of(about)
    differing = {case for case, _ in shown.items() ^ now.items()}
    if shown and not differing:
        return None
    named = Case.objects.filter(pk__in=sorted(differing)[:MOST_CHANGED]) if shown else Case.objects.none()
    return ChangedMeanwhile(list(named.order_by("key")), max(0, len(differing) - MOST_CHANGED), _write_mark(now))


def _ask_many(
    page: admin.ModelAdmin, request: HttpRequest, form: forms.Form, *, about: QuerySet[Case], verb: str, **shown: Any
) -> HttpResponse:
    """The page comes back to the list with `apply`, the chosen rows and the mark of what they were."""
    count = about.count()
    context = page.admin_site.each_context(request) | {
        "title": f"{verb}: {say_count(count, 'caso', 'casos')}",
        "opts": page.opts,
        "form": form,
        "verb": verb,
        "keys": [str(case) for case in about[:MOST_KEYS]],
        "more": max(0, count - MOST_KEYS),
        "action": request.POST["action"],
        "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
        "select_across": request.POST.get("select_across", "0"),
        **shown,
    }
    return TemplateResponse(request, "admin/evals/case/step_many.html", context)
