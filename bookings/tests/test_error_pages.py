"""When something is wrong the site says so in Spanish and shows a way on."""

import pytest
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.test import Client, override_settings
from django.urls import path

from kallpa.urls import urlpatterns

pytestmark = pytest.mark.django_db


def break_down(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("secret detail")


class Broken:
    urlpatterns = [*urlpatterns, path("roto/", break_down)]


def test_a_page_that_does_not_exist(client: Client) -> None:
    response = client.get("/nada/")
    assert response.status_code == 404
    assert "Esta página no existe" in response.content.decode()
    assert 'href="/"' in response.content.decode()


@override_settings(ROOT_URLCONF=Broken)
def test_a_fault_tells_nothing_of_itself() -> None:
    response = Client(raise_request_exception=False).get("/roto/")
    html = response.content.decode()
    assert response.status_code == 500
    assert "Algo falló de nuestro lado" in html
    assert "secret" not in html


@pytest.mark.parametrize("page", ["403.html", "403_csrf.html", "500.html"])
def test_each_is_a_whole_page_without_a_request(page: str) -> None:
    html = render_to_string(page)
    assert '<html lang="es-PE">' in html
    assert "kallpa/site" in html
