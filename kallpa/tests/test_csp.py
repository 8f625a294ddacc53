"""Every response forbids inline scripts, and no page of ours needs one."""

import re
from pathlib import Path

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

INLINE = re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)|<style|\sstyle=|\son[a-z]+=|javascript:", re.IGNORECASE)


def forbids_inline_scripts(response: HttpResponseBase) -> bool:
    policy = response.headers.get("Content-Security-Policy", "")
    return "default-src 'self'; script-src 'self';" in policy and "unsafe-inline" not in policy


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "status"), [("/", 200), ("/healthz", 200), ("/readyz", 200), ("/admin/login/", 200), ("/admin/", 302), ("/nowhere", 404)]
)
def test_it_stands_on_every_kind_of_answer(client: Client, path: str, status: int) -> None:
    response = client.get(path)
    assert response.status_code == status
    assert forbids_inline_scripts(response)


def test_it_stands_on_a_refused_host_and_on_the_way_to_https(client: Client, settings: Settings) -> None:
    refused = client.get("/", headers={"host": "elsewhere.example"})
    settings.SECURE_SSL_REDIRECT = True
    redirected = Client().get("/")
    assert (refused.status_code, redirected.status_code) == (400, 301)
    assert forbids_inline_scripts(refused)
    assert forbids_inline_scripts(redirected)


def test_it_stands_on_static_files(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "drawing.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    settings.STATIC_ROOT = tmp_path
    response = Client().get("/static/drawing.svg")
    assert response.status_code == 200
    assert forbids_inline_scripts(response)


def test_control_without_the_middleware_no_policy_is_sent(settings: Settings) -> None:
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if not name.startswith("kallpa.csp")]
    assert not forbids_inline_scripts(Client().get("/healthz"))


@pytest.mark.django_db
def test_no_admin_list_or_form_needs_what_the_policy_forbids(client: Client) -> None:
    client.force_login(User.objects.create_superuser("jefa"))
    pages = ["/", reverse("admin:index")]
    for model, declared in admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        pages.append(reverse(f"{name}_changelist"))
        if declared.has_add_permission(client.get("/").wsgi_request):
            pages.append(reverse(f"{name}_add"))
    for page in pages:
        response = client.get(page)
        assert response.status_code in {200, 403}, page
        assert forbids_inline_scripts(response), page
        assert not INLINE.findall(response.content.decode()), page


@pytest.mark.parametrize(
    "html", ["<script>alert(1)</script>", "<p style='color:red'>", "<a onclick='x()'>", "<a href='javascript:x()'>", "<style>p{}</style>"]
)
def test_control_the_search_for_inline_code_finds_it(html: str) -> None:
    assert INLINE.search(html)
    assert not INLINE.search('<script src="/static/a.js"></script><script type="application/json">{}</script>')
