"""The front door."""

from django.contrib.staticfiles import finders
from django.test import Client


def test_it_says_in_spanish_what_this_is_and_leads_to_the_desk(client: Client) -> None:
    response = client.get("/")
    html = response.content.decode()
    assert response.status_code == 200
    assert '<html lang="es-PE">' in html
    assert "Canchas de fulbito, vóley y básquet" in html
    assert 'href="/admin/"' in html


def test_its_stylesheet_exists(client: Client) -> None:
    assert "/static/kallpa/home.css" in client.get("/").content.decode()
    assert finders.find("kallpa/home.css")
