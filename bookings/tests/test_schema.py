"""The API describes itself, and the description has no warning in it."""

from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from bookings import urls_api


class Silent(APIView):
    """A view that says nothing of what it answers."""

    def get(self, request: Request) -> Response:
        return Response()


def describe(folder: Path) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(folder / "schema.yaml"))


def test_it_is_valid_and_without_warnings(tmp_path: Path) -> None:
    describe(tmp_path)
    paths = yaml.safe_load((tmp_path / "schema.yaml").read_text(encoding="utf-8"))["paths"]
    expected = {
        "/api/v1/courts/": {"get"},
        "/api/v1/availability/": {"get"},
        "/api/v1/bookings/": {"get", "post"},
        "/api/v1/bookings/{id}/": {"get"},
        "/api/v1/bookings/{id}/cancel/": {"post"},
    }
    assert {path: set(paths[path]) for path in expected} == expected
    assert {"201", "400", "403", "409", "422", "503"} <= set(paths["/api/v1/bookings/"]["post"]["responses"])


def test_control_a_view_that_says_nothing_of_its_answers_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urls_api.urlpatterns[0].callback, "cls", Silent)
    with pytest.raises(CommandError):
        describe(tmp_path)
    GENERATOR_STATS.reset()


@pytest.mark.django_db
def test_the_site_serves_it(client: Client) -> None:
    response = client.get("/api/v1/schema/")
    assert response.status_code == 200
    assert yaml.safe_load(response.content)["info"]["title"] == "Kallpa"
