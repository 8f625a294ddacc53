"""The browser's form goes through the API's door, and gets pages back instead of documents."""

import datetime as dt
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth import get_user_model
from django.contrib.messages import get_messages
from django.db import OperationalError
from django.test import Client

from bookings.models import Booking, Court, Member
from bookings.services import book
from bookings.values import BookingRequest

BOOKINGS = "/api/v1/bookings/"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


@pytest.fixture(autouse=True)
def _at_ten(monkeypatch: pytest.MonkeyPatch, now: dt.datetime) -> None:
    for module in ("api", "pages"):
        monkeypatch.setattr(f"bookings.{module}.now_in_lima", lambda: now)


@pytest.fixture
def rosa(client: Client, member: Member) -> Client:
    """Rosa's browser, logged in."""
    member.user = get_user_model().objects.create_user("rosa")
    member.save()
    client.force_login(member.user)
    return client


@pytest.fixture
def fields(court: Court) -> dict[str, Any]:
    return {
        "court": court.pk,
        "sport": "fulbito",
        "date": "2026-03-10",
        "startHour": "18",
        "hours": "2",
        "teamName": "Los <b>Halcones</b>",
        "idempotencyKey": "k1",
        "proposal": "",
        "csrfmiddlewaretoken": "t" * 32,
    }


def send(client: Client, fields: dict[str, Any], **headers: str) -> Any:
    """The answer to a form sent as browsers send it."""
    return client.post(BOOKINGS, urlencode(fields), content_type="application/x-www-form-urlencoded", headers={"Accept": BROWSER} | headers)


def test_a_booking_leads_to_ones_bookings_with_a_sentence(rosa: Client, fields: dict[str, Any], member: Member) -> None:
    response = send(rosa, fields)
    assert (response.status_code, response["Location"]) == (303, "/mis-reservas/")
    assert [str(message) for message in get_messages(response.wsgi_request)] == [
        "Listo: reservaste Fulbito 1 el martes 10 de marzo, de 18:00 a 20:00."
    ]
    assert Booking.objects.get().member == member


def test_sent_twice_it_books_once(rosa: Client, fields: dict[str, Any]) -> None:
    answers = [send(rosa, fields), send(rosa, fields | {"csrfmiddlewaretoken": "u" * 32})]
    assert [(answer.status_code, answer["Location"]) for answer in answers] == [(303, "/mis-reservas/")] * 2
    assert Booking.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "status", "sentence"),
    [
        ({"hours": "4"}, 422, "Una reserva dura como máximo 3 horas seguidas."),
        ({"startHour": ""}, 400, "Elige la hora en que empieza."),
        ({"court": ""}, 400, "Elige la cancha."),
        ({"date": "2026-03-10", "startHour": "9"}, 409, "Esa cancha ya está ocupada en alguna de esas horas."),
        ({"idempotencyKey": "k" * 256}, 400, "debe tener de 1 a 255 caracteres"),
    ],
)
def test_a_refusal_shows_the_form_again_with_what_was_written(
    rosa: Client, court: Court, other: Member, now: dt.datetime, fields: dict[str, Any], change: dict[str, str], status: int, sentence: str
) -> None:
    book(member=other, court=court, request=BookingRequest("fulbito", dt.date(2026, 3, 10), 9, 1), now=now)
    response = send(rosa, fields | change)
    html = response.content.decode()
    assert (response.status_code, response["Content-Type"]) == (status, "text/html; charset=utf-8")
    assert sentence in html
    assert 'value="Los &lt;b&gt;Halcones&lt;/b&gt;"' in html
    assert "<b>Halcones" not in html
    assert Booking.objects.count() == 1


def test_who_is_not_logged_in_is_led_to_the_door(client: Client, fields: dict[str, Any]) -> None:
    response = send(client, fields)
    assert (response.status_code, response["Location"]) == (303, "/cuenta/entrar/?next=/")


def test_a_page_that_went_stale_is_shown_again(member: Member, fields: dict[str, Any]) -> None:
    browser = Client(enforce_csrf_checks=True)
    member.user = get_user_model().objects.create_user("rosa")
    member.save()
    browser.force_login(member.user)
    response = send(browser, fields)
    assert response.status_code == 403
    assert "la página caducó" in response.content.decode()
    browser.cookies["csrftoken"] = fields["csrfmiddlewaretoken"]
    assert send(browser, fields).status_code == 303


def test_an_account_without_a_member_is_led_to_its_profile(client: Client, fields: dict[str, Any]) -> None:
    client.force_login(get_user_model().objects.create_user("mesa"))
    response = send(client, fields)
    assert (response.status_code, response["Location"]) == (303, "/cuenta/datos/")


def test_a_busy_database_is_a_page_that_says_when_to_come_back(
    rosa: Client, fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**asked: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr("bookings.api.book", fail)
    response = send(rosa, fields)
    assert (response.status_code, response["Retry-After"]) == (503, "2")
    assert "Vuelve a intentarlo en unos segundos." in response.content.decode()


def test_htmx_gets_pages_and_programs_get_documents(rosa: Client, fields: dict[str, Any]) -> None:
    assert send(rosa, fields | {"hours": "4"}, Accept="*/*", **{"HX-Request": "true"})["Content-Type"].startswith("text/html")
    assert send(rosa, fields | {"hours": "4"}, Accept="*/*")["Content-Type"] == "application/problem+json"
    assert send(rosa, fields | {"hours": "4"}, Accept="application/json")["Content-Type"] == "application/problem+json"
    assert rosa.get(BOOKINGS, headers={"Accept": BROWSER})["Content-Type"] == "application/json"
    assert send(rosa, fields, Accept="*/*").json()["teamName"] == "Los <b>Halcones</b>"


@pytest.mark.parametrize(
    ("text", "content_type", "status"),
    [
        ("a=1&a=2", "application/x-www-form-urlencoded", 400),
        ("date=9999-99-99", "application/x-www-form-urlencoded", 400),
        ("date=%00&court=%ff", "application/x-www-form-urlencoded", 400),
        ("{", "application/json", 400),
        ("x", "text/plain", 415),
        ("x", "multipart/form-data; boundary=x", 415),
        ("teamName=" + "x" * 100_000, "application/x-www-form-urlencoded", 413),
    ],
)
def test_a_browser_that_sends_nonsense_gets_a_page_and_never_a_500(rosa: Client, text: str, content_type: str, status: int) -> None:
    response = rosa.post(BOOKINGS, text, content_type=content_type, headers={"Accept": BROWSER})
    assert (response.status_code, response["Content-Type"]) == (status, "text/html; charset=utf-8")
