"""The day page: the grid of a day, and the form as it is, as it was filled, as it was refused."""

import datetime as dt

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client, RequestFactory

from bookings.forms import BookingForm
from bookings.models import Court
from bookings.pages import render_day_page

pytestmark = pytest.mark.django_db
TUESDAY = dt.date(2026, 3, 10)


def test_the_front_page_is_todays_grid_in_spanish(client: Client, court: Court) -> None:
    html = client.get("/").content.decode()
    assert '<html lang="es-PE">' in html
    assert "Fulbito 1" in html


def test_a_refused_form_keeps_what_was_written_and_says_why(rf: RequestFactory, court: Court) -> None:
    request = rf.post("/api/v1/bookings/")
    request.user = AnonymousUser()
    form = BookingForm({"teamName": "Los Pumas", "startHour": "9"}, errors={"startHour": ["Esa hora ya pasó."], "general": ["Otra cosa."]})
    response = render_day_page(request, date=TUESDAY, form=form, status=422)
    html = response.content.decode()
    assert response.status_code == 422
    assert 'value="Los Pumas"' in html
    assert "Esa hora ya pasó." in html
    assert "Otra cosa." in html
