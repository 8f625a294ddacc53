"""A page that asks a few things before doing one."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse


def ask(page: admin.ModelAdmin, request: HttpRequest, form: forms.Form, *, about: Model, verb: str, **shown: Any) -> HttpResponse:
    """The form on an admin page of its own: `verb` is what will be done to `about`. `shown`: more for the template to show."""
    context = page.admin_site.each_context(request)
    context |= {"form": form, "title": f"{verb}: {about}", "original": about, "verb": verb, "opts": page.opts, **shown}
    return TemplateResponse(request, "admin/evals/ask.html", context)
