"""The expert's guide as a page of the admin: docs/guia-del-experto.md in the admin's clothes."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.templatetags.static import static
from django.urls import URLPattern, path
from markdown_it import MarkdownIt
from markdown_it.token import Token

GUIDE = Path(settings.BASE_DIR) / "docs" / "guia-del-experto.md"
TITLE = "Guía del experto"


def guide_url(page: admin.ModelAdmin) -> URLPattern:
    """`…/dataset/guia/`, for `get_urls` of the dataset's admin."""

    def view(request: HttpRequest) -> HttpResponse:
        return show_guide(page, request)

    return path("guia/", page.admin_site.admin_view(view), name="evals_dataset_guide")


def show_guide(page: admin.ModelAdmin, request: HttpRequest) -> HttpResponse:
    """The guide, for whoever sees datasets; 404 where the documents were not deployed."""
    if not page.has_view_permission(request):
        raise PermissionDenied
    if not GUIDE.is_file():
        raise Http404
    context = page.admin_site.each_context(request) | {"title": TITLE, "opts": page.opts, "guide": draw_guide(GUIDE)}
    return TemplateResponse(request, "admin/evals/guide.html", context)


@cache
def draw_guide(file: Path) -> str:
    """The file as HTML, without its title: its own markup escaped, headings to link to as GitHub names them, images from `guia/`."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = _without_title(reader.parse(file.read_text("utf-8")))
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor_of(inside.content))
    for image in [child for token in tokens for child in token.children or () if child.type == "image"]:
        image.attrSet("src", static(f"guia/{Path(str(image.attrs['src'])).name}"))
    return str(reader.renderer.render(tokens, reader.options, {}))


def _without_title(tokens: list[Token]) -> list[Token]:
    titled = bool(tokens) and tokens[0].tag == "h1"
    return tokens[3:] if titled else tokens


def anchor_of(heading: str) -> str:
    """`Quién puede qué` → `quién-puede-qué`."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
