"""Every admin page says what is broken, to staff alone, as text; the list is there to read."""

import datetime as dt

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from kallpa.incidents import Sign, close_incident, open_incident
from kallpa.models import Incident

NOW = dt.datetime(2026, 3, 9, 15, 0, tzinfo=dt.UTC)
LIST = "/admin/kallpa/incident/"
HOSTILE = "<img src=x onerror=alert(1)>"

pytestmark = pytest.mark.django_db


def see(subject: str = "prueba en 127.0.0.1:8080") -> None:
    open_incident(Incident.Kind.MODEL, subject, Sign("timeout", "El modelo no respondió a tiempo"), now=NOW)


def staff(*codenames: str) -> Client:
    person = User.objects.create_user(f"persona {User.objects.count()}", is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(person)
    return client


@pytest.mark.parametrize("path", ["/admin/", "/admin/password_change/", "/admin/kallpa/incident/"])
def test_each_page_says_what_is_broken_until_it_is_over(path: str) -> None:
    browser = staff("view_incident")
    assert 'class="incidents"' not in browser.get(path).content.decode()
    see()
    page = browser.get(path).content.decode()
    assert "prueba en 127.0.0.1:8080, desde el 09/03/2026 a las 10:00. El modelo no respondió a tiempo (timeout)." in page
    assert f'href="{LIST}"' in page
    close_incident(Incident.Kind.MODEL, "prueba en 127.0.0.1:8080", now=NOW)
    assert 'class="incidents"' not in browser.get(path).content.decode()


def test_staff_without_the_permission_see_the_line_and_no_link() -> None:
    see()
    page = staff().get("/admin/").content.decode()
    assert "El modelo no respondió a tiempo" in page
    assert LIST not in page


def test_nobody_else_is_told() -> None:
    see()
    neighbour = Client()
    neighbour.force_login(User.objects.create_user("vecina"))
    for browser in (Client(), neighbour):
        assert "127.0.0.1:8080" not in browser.get("/admin/login/").content.decode()
        assert "127.0.0.1:8080" not in browser.get("/").content.decode()


def test_it_is_shown_as_text() -> None:
    see(HOSTILE)
    browser = staff("view_incident")
    for path in ("/admin/", LIST):
        page = browser.get(path).content.decode()
        assert HOSTILE not in page
        assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_a_page_shows_no_more_than_five() -> None:
    for number in range(7):
        see(f"modelo-{number}")
    page = staff().get("/admin/").content.decode()
    assert page.count("El modelo no respondió a tiempo") == 5
    assert "Hay más." in page


def test_the_list_is_to_read() -> None:
    see()
    browser, incident = staff("view_incident", "add_incident", "change_incident", "delete_incident"), Incident.objects.get()
    assert browser.get(f"{LIST}add/").status_code == 403
    assert browser.get(f"{LIST}{incident.pk}/delete/").status_code == 403
    assert browser.post(f"{LIST}{incident.pk}/change/", {"cause": "otra"}).status_code == 403
    assert browser.get(f"{LIST}{incident.pk}/change/").status_code == 200
    assert staff().get(LIST).status_code == 403


def test_the_list_says_what_why_and_until_when() -> None:
    see("uno")
    see("dos")
    close_incident(Incident.Kind.MODEL, "uno", now=NOW + dt.timedelta(minutes=4))
    browser = staff("view_incident")
    pages = {state: browser.get(f"{LIST}?estado={state}").content.decode() for state in ("abierto", "terminado")}
    assert "Modelo caído: dos</a>" in pages["abierto"]
    assert "sigue abierto" in pages["abierto"]
    assert "Modelo caído: uno</a>" in pages["terminado"]
    assert "09/03/2026 10:04" in pages["terminado"]
    assert "Modelo caído: dos</a>" not in pages["terminado"]


def test_one_says_what_was_counted() -> None:
    open_incident(Incident.Kind.MODEL, "uno", Sign("auth", counts={"streak": 5, "calls": 7}), now=NOW)
    page = staff("view_incident").get(f"{LIST}{Incident.objects.get().pk}/change/").content.decode()
    assert "fallas seguidas: 5, llamadas en la ventana: 7" in page


@pytest.mark.parametrize("rows", [20, 2_000])
def test_the_list_takes_as_many_queries_for_many_rows(rows: int, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    Incident.objects.bulk_create(
        Incident(kind="model", subject=f"modelo-{number}", cause="timeout", opened_at=NOW, last_sign_at=NOW, closed_at=NOW)
        for number in range(rows)
    )
    browser = staff("view_incident")
    with django_assert_max_num_queries(14):
        assert browser.get(LIST).status_code == 200
