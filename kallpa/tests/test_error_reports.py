"""The page about a crash on a machine with DEBUG on says where it happened, and shows no secret and nothing that anybody wrote."""

from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from django.views.debug import SafeExceptionReporterFilter

KEY, HOOK, PASSWORD, WORDS = "kanari-llm-key", "kanari-hook", "kanari-redis", "zarpazo luminoso"
CACHE = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": f"redis://:{PASSWORD}@127.0.0.1/0"}


@pytest.fixture
def laptop(settings: Any) -> Client:
    settings.DEBUG, settings.ROOT_URLCONF, settings.LLM_API_KEY = True, Urls, KEY
    settings.ALERT_WEBHOOK_URL = f"https://chat.example/{HOOK}"
    settings.CACHES = {"default": CACHE}
    return Client(raise_request_exception=False)


def crash_page(laptop: Client, address: str, accept: str) -> str:
    """As `runserver` gives it: the environment of the process is in the request."""
    environment: dict[str, Any] = {"REDIS_URL": CACHE["LOCATION"], "LLM_API_KEY": KEY, "ALERT_WEBHOOK_URL": f"https://chat.example/{HOOK}"}
    response = laptop.post(address, {"text": WORDS}, headers={"Accept": accept}, **environment)
    assert response.status_code == 500
    return response.content.decode()


def break_down(request: HttpRequest) -> HttpResponse:
    words, key = request.POST["text"], KEY
    raise RuntimeError(f"where it broke {len(words + key)}")


def break_down_with_stock_filter(request: HttpRequest) -> HttpResponse:
    request.exception_reporter_filter = SafeExceptionReporterFilter()
    return break_down(request)


class Urls:
    urlpatterns = [path("roto/", break_down), path("de-fabrica/", break_down_with_stock_filter)]


@pytest.mark.parametrize("accept", ["text/html", "text/plain"])
def test_it_shows_the_place_and_no_value(laptop: Client, accept: str) -> None:
    page = crash_page(laptop, "/roto/", accept)
    assert "where it broke" in page
    assert "test_error_reports.py" in page
    assert [secret for secret in (KEY, HOOK, PASSWORD, WORDS) if secret in page] == []


def test_control_django_s_own_filter_shows_them_all(laptop: Client) -> None:
    page = crash_page(laptop, "/de-fabrica/", "text/html")
    assert [secret for secret in (KEY, HOOK, PASSWORD, WORDS) if secret not in page] == []
