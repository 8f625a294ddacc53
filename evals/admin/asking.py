"""Pages that ask a few things before doing one."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

MOST_KEYS = 50


def ask(page: admin.ModelAdmin, request: HttpRequest, form: forms.Form, *, about: Model, verb: str, **shown: Any) -> HttpResponse:
    """The form on an admin page of its own: `verb` is what will be done to `about`. `shown`: more for the template to show."""
    context = page.admin_site.each_context(request)
    context |= {"form": form, "title": f"{verb}: {about}", "original": about, "verb": verb, "opts": page.opts, **shown}
    return TemplateResponse(request, "admin/evals/ask.html", context)


def ask_many(page: admin.ModelAdmin, request: HttpRequest, form: forms.Form, *, about: QuerySet[Any], verb: str) -> HttpResponse:
    """The same for an action of a list, which comes back to the list with `apply` and the chosen rows."""
    count = about.count()
    context = page.admin_site.each_context(request) | {
        "title": f"{verb}: {count:,} caso{'' if count == 1 else 's'}",
        "opts": page.opts,
        "form": form,
        "verb": verb,
        "keys": [str(case) for case in about[:MOST_KEYS]],
        "more": max(0, count - MOST_KEYS),
        "action": request.POST["action"],
        "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
        "select_across": request.POST.get("select_across", "0"),
    }
    return TemplateResponse(request, "admin/evals/case/step_many.html", context)
