"""An expert fills the template, mends two refused rows, and imports, in Chromium at the width of a telephone."""

import io
from pathlib import Path

import openpyxl
import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import expect

from evals.datasets.spreadsheet.columns import COLUMNS
from evals.datasets.spreadsheet.template import EXAMPLE
from evals.management.demo import seed_people
from evals.models import Dataset
from evals.tests.test_admin_lists import SVG, XSS

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(chromium, live_server):
    """A page of the expert's; no script of a file runs in it, and nothing is complained of."""
    seed_people(with_passwords=False)
    client, complaints = Client(), []
    client.force_login(User.objects.get(username="experta"))
    context = chromium.new_context(viewport={"width": 390, "height": 844}, accept_downloads=True)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield page
    context.close()
    assert complaints == []


@pytest.fixture
def dataset():
    return Dataset.objects.create(slug="nuevo", name="Nuevo")


def fill(template: Path, folder: Path, *rows: dict[str, str]) -> str:
    book = openpyxl.load_workbook(io.BytesIO(template.read_bytes()))
    for row in rows:
        book["Casos"].append([row.get(column) for column in COLUMNS])
    book.save(folder / "lleno.xlsx")
    return str(folder / "lleno.xlsx")


def test_an_expert_brings_the_template_mends_two_rows_and_imports(page, live_server, dataset, tmp_path):
    address = f"{live_server.url}/admin/evals/dataset/{dataset.pk}"
    page.goto(f"{address}/change/")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Plantilla").click()
    template = Path(downloading.value.path())
    good = {**EXAMPLE, "clave": "uno", "lo que escribe la persona": f"fulbito mañana a las 7 {XSS}{SVG}"}
    bad = [{**good, "clave": "dos", "deporte": "tenis"}, {**good, "clave": "tres", "fecha": "31/02/2026"}]
    page.goto(f"{address}/import/")
    page.set_input_files("input[type=file]", fill(template, tmp_path, good, *bad))
    page.get_by_role("button", name="Ver qué haría").click()
    expect(page.get_by_role("heading", name="No se puede importar: 2 problemas")).to_be_visible()
    expect(page.locator(".import-table")).to_contain_text("fila 4 · G «deporte»")
    expect(page.locator(".import-table")).to_contain_text("fila 5 · H «fecha»")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name="súbelo otra vez").click()
    mended = [{**bad[0], "deporte": "Vóley"}, {**bad[1], "fecha": "10/03/2026"}]
    page.set_input_files("input[type=file]", fill(template, tmp_path, good, *mended))
    page.get_by_role("button", name="Ver qué haría").click()
    expect(page.get_by_role("heading", name="3 nuevos · 0 cambian · 0 iguales")).to_be_visible()
    expect(page.get_by_text("La fila 2 es el ejemplo de la plantilla")).to_be_visible()
    expect(page.get_by_text(SVG).first).to_be_visible()
    page.get_by_label("Motivo").fill("los primeros casos de la recepción")
    page.get_by_role("button", name="Importar").click()
    expect(page.locator(".messagelist")).to_contain_text("Importado a nuevo: 3 nuevos, 0 cambiados, 0 iguales.")
    assert dict(dataset.cases.values_list("key", "status")) == {"uno": "proposed", "dos": "proposed", "tres": "proposed"}
