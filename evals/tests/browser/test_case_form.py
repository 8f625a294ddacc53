"""The form of a case in Chromium: the fields of the chosen answer, days near the situation's, and the check as one types."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import expect

from evals.management.demo import seed_people
from evals.models import Case
from evals.tests.desk import draft_row, make_dataset

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def case(live_server):
    seed_people(with_passwords=False)
    make_dataset([draft_row("uno")])
    return Case.objects.get()


@pytest.fixture
def open_case(chromium, live_server, case):
    """Opens the page of the case as the expert; what the browser complains of is kept."""
    contexts, complaints = [], []

    def open_page(**options):
        context = chromium.new_context(**options)
        contexts.append(context)
        client = Client()
        client.force_login(User.objects.get(username="experta"))
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{live_server.url}/admin/evals/case/{case.pk}/change/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def test_it_shows_what_belongs_to_the_answer_and_tells_how_it_will_be_checked(open_case, case):
    page = open_case()
    told = page.locator("[data-how-checked]")
    expect(told).to_contain_text("Fulbito, martes 10/03, de 19 a 20 h")
    expect(page.get_by_label("Horas:", exact=True)).to_be_visible()
    expect(page.get_by_label("Ruta:", exact=True)).to_be_hidden()
    page.get_by_label("Lo correcto:").select_option("clarify")
    expect(page.get_by_label("Horas:", exact=True)).to_be_hidden()
    expect(told).to_contain_text("Es correcto si pregunta")
    page.get_by_label("Lo que nunca debe decir:").fill("<img src=x onerror=alert(1)>")
    expect(told).to_contain_text("la frase «<img src=x onerror=alert(1)>»")
    assert told.locator("img").count() == 0
    assert Case.objects.get().expected_kind == "draft"


def test_the_days_count_from_the_situation_and_not_from_today(open_case):
    page = open_case()
    page.get_by_label("fecha", exact=True).fill("2027-12-31")
    page.get_by_role("button", name="pasado mañana").click()
    expect(page.get_by_label("Fecha:", exact=True)).to_have_value("2028-01-02")
    page.get_by_role("button", name="hoy").click()
    expect(page.get_by_label("Fecha:", exact=True)).to_have_value("2027-12-31")
    page.get_by_label("fecha", exact=True).fill("")
    expect(page.get_by_role("button", name="hoy")).to_be_disabled()


def test_without_javascript_every_field_is_there_and_the_check_opens_beside_the_form(open_case, case):
    page = open_case(java_script_enabled=False)
    for label in ("Horas:", "Texto de referencia:", "Ruta:", "Herramientas:"):
        expect(page.get_by_label(label, exact=True)).to_be_visible()
    page.get_by_label("Notas:").fill("lo que iba escribiendo")
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Ver cómo se revisará").click()
    expect(opened.value.locator(".how-checked")).to_contain_text("Fulbito, martes 10/03, de 19 a 20 h")
    expect(page.get_by_label("Notas:")).to_have_value("lo que iba escribiendo")
    assert Case.objects.get().notes == ""
