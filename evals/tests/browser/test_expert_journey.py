"""An expert's day in Chromium, with the experts' group and no more: from the template to a signed version, and what stays shut."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from openpyxl import load_workbook
from playwright.sync_api import Page, expect

from evals.datasets.spreadsheet import columns
from evals.management.demo import EXPERTS, seed_people
from evals.models import Case, Dataset, GatePolicy, Run
from evals.services import freeze_version, sign_version
from evals.tests.desk import NOW, draft_row, finished_run, make_dataset, open_cases

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SECRET = "quiero la cancha del canario azul"
SITUATION = {columns.DAY: "2026-03-09", columns.CLOCK: "10:00"}
SATURDAY = {columns.SPORT: "Fulbito", columns.DATE: "14/03/2026", columns.HOURS: "1"}
NEW_CASES: list[dict[str, str]] = [
    {columns.KEY: "sabado-tarde", columns.TEXT: "una canchita pal sabado a las 4", columns.RIGHT: "llena un borrador", columns.START: "16"},
    {columns.KEY: "sabado-noche", columns.TEXT: "pal sabado a las 8 xfa", columns.RIGHT: "llena un borrador", columns.START: "ocho"},
    {columns.KEY: "algun-dia", columns.TEXT: "una canchita cualquier dia de estos"},
]


@pytest.fixture
def dataset(live_server) -> Dataset:
    """The expert's own, with a signed version of two cases; one of them is held out."""
    seed_people(with_passwords=False)
    expert = User.objects.get(username="experta")
    assert [group.name for group in expert.groups.all()] == [EXPERTS]
    assert not expert.is_superuser
    assert not expert.user_permissions.exists()
    made = make_dataset([draft_row("uno"), draft_row("guardado", input={"text": SECRET}, held_out=True)])
    Dataset.objects.update(owner=expert)
    made.refresh_from_db()
    sign_version(version=freeze_version(dataset=made, by=expert), by=expert, reason="la leímos entre dos", now=NOW)
    return made


@pytest.fixture
def page(chromium, live_server, dataset):
    """A browser in which the expert has logged in; what it complains of fails the test."""
    context = chromium.new_context(locale="es-PE", base_url=live_server.url, accept_downloads=True)
    client = Client()
    client.force_login(User.objects.get(username="experta"))
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}])
    opened, complaints = context.new_page(), list[str]()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text) if "Content Security Policy" in message.text else None)
    yield opened
    context.close()
    assert complaints == []


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def follow(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).first.click()


def open_dataset(page: Page) -> None:
    page.goto("/admin/")
    page.locator("#content").get_by_role("link", name="Datasets", exact=True).click()
    page.locator("#result_list").get_by_role("link", name="examen", exact=True).click()


def fill_sheet(path: Path, cases: list[dict[str, str]]) -> None:
    """Writes cases below the template's example, a column at a time, by its title."""
    book = load_workbook(path)
    sheet = book["Casos"]
    letters = {cell.value: cell.column for cell in sheet[1]}
    for number, case in enumerate(cases, 3):
        for column, text in {**SITUATION, **(SATURDAY if columns.START in case else {}), **case}.items():
            sheet.cell(number, letters[column], text)
    book.save(path)


def upload(page: Page, path: Path) -> None:
    page.get_by_label("Archivo").set_input_files(path)
    press(page, "Ver qué haría")


def test_from_the_template_to_a_signed_version(page: Page, dataset: Dataset, tmp_path: Path) -> None:
    open_dataset(page)
    sheet = download_template(page, tmp_path)
    follow(page, "Importar casos")
    import_after_mending_two_rows(page, sheet)
    approve_what_is_proposed(page)
    correct_an_hour_with_a_reason(page)
    freeze_and_compare(page)
    sign(page)
    first, second = dataset.versions.order_by("number")
    assert (first.size, second.size, second.signature.reason) == (2, 5, "Leí los cinco casos con la administradora.")
    assert second.signature.signed_by.username == "experta"
    assert [hour_in(version) for version in (first, second)] == [19, 20]
    assert set(Case.objects.values_list("status", flat=True)) == {"approved"}


def download_template(page: Page, folder: Path) -> Path:
    with page.expect_download() as download:
        follow(page, "Plantilla")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    fill_sheet(path, NEW_CASES)
    return path


def import_after_mending_two_rows(page: Page, sheet: Path) -> None:
    upload(page, sheet)
    expect(page.locator("#content")).to_contain_text("No se puede importar: 2 problemas")
    expect(page.get_by_role("row", name="fila 4")).to_contain_text("no es una hora. Escríbela de 0 a 23")
    expect(page.get_by_role("row", name="fila 5")).to_contain_text("Falta lo correcto")
    assert Case.objects.count() == 2
    fill_sheet(sheet, [NEW_CASES[0], NEW_CASES[1] | {columns.START: "20"}, NEW_CASES[2] | {columns.RIGHT: "pregunta"}])
    follow(page, "súbelo otra vez")
    upload(page, sheet)
    expect(page.get_by_role("row", name="sabado-noche")).to_contain_text("Fulbito, sábado 14/03, de 20 a 21 h")
    page.get_by_label("Motivo").fill("Lo que preguntan los sábados en el mostrador.")
    press(page, "Importar")
    expect(page.locator(".messagelist")).to_contain_text("3 nuevos")


def approve_what_is_proposed(page: Page) -> None:
    page.locator("#changelist-filter").get_by_role("link", name="propuesto", exact=True).click()
    page.locator("#action-toggle").check()
    page.get_by_label("Acción:").select_option(label="Aprobar")
    press(page, "Ir")
    expect(page.locator(".keys")).to_contain_text("sabado-noche")
    press(page, "Aprobar")
    expect(page.locator(".messagelist")).to_contain_text("3 casos aprobados.")


def correct_an_hour_with_a_reason(page: Page) -> None:
    page.locator("#changelist-filter").get_by_role("link", name="aprobado", exact=True).click()
    page.locator("#result_list").get_by_role("link", name="uno", exact=True).click()
    page.get_by_label("Hora de inicio:").select_option("20")
    press(page, "Guardar")
    expect(page.locator(".why-changed .errorlist")).to_contain_text("está en una versión firmada, y el cambio necesita un motivo")
    expect(page.get_by_label("Hora de inicio:")).to_have_value("20")
    assert Case.objects.get(key="uno").expected_start_hour == 19
    page.get_by_label("Motivo del cambio:").fill("La dueña dice que «las 7 y pico» es a las 8.")
    press(page, "Guardar y continuar editando")
    expect(page.locator("[data-how-checked]")).to_contain_text("de 20 a 21 h")
    follow(page, "Historial")
    expect(page.locator(".history > li").first).to_contain_text("La dueña dice que «las 7 y pico» es a las 8.")


def freeze_and_compare(page: Page) -> None:
    open_dataset(page)
    expect(page.locator("#content")).to_contain_text("4 cambios sin firmar desde v1")
    follow(page, "Congelar una versión")
    press(page, "Congelar v2")
    expect(page.locator(".messagelist")).to_contain_text("Examen v2: 5 casos congelados.")
    open_dataset(page)
    follow(page, "Comparar versiones")
    page.get_by_label("De", exact=True).select_option("1")
    page.get_by_label("a", exact=True).select_option("2")
    press(page, "Comparar")
    expect(page.locator(".compared-cambiado")).to_have_count(1)
    expect(page.locator(".compared-cambiado")).to_contain_text("uno")
    expect(page.locator(".compared-cambiado del")).to_contain_text("19")
    expect(page.locator(".compared-cambiado ins")).to_contain_text("20")
    expect(page.locator(".compared-agregado")).to_have_count(3)
    assert SECRET not in page.content()


def sign(page: Page) -> None:
    open_dataset(page)
    page.get_by_role("row", name="2 5").get_by_role("link").first.click()
    follow(page, "Firmar")
    page.get_by_label("Motivo").fill("Leí los cinco casos con la administradora.")
    press(page, "Firmar")
    expect(page.locator(".messagelist")).to_contain_text("Firmaste examen v2.")
    open_dataset(page)
    expect(page.locator("#content")).to_contain_text("Todo lo aprobado está firmado en v2.")


def hour_in(version: Any) -> int:
    return int(version.revisions.get(case__key="uno").content["expected"]["startHour"])


# --- What the same person cannot do -----------------------------------------------------------------------------------------


def post_as(page: Page, path: str, **fields: str) -> int:
    """The status of a form that no page offers, sent from this browser with its token."""
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "csrftoken")
    origin = page.url.partition("/admin/")[0]
    sent = page.request.post(
        f"{origin}{path}", form={**fields, "csrfmiddlewaretoken": token}, headers={"Referer": page.url}, max_redirects=0
    )
    return sent.status


def test_a_run_is_only_read(page: Page, dataset: Dataset) -> None:
    run = finished_run(dataset.versions.get())
    before = Run.objects.filter(pk=run.pk).values().get()
    page.goto(f"/admin/evals/run/{run.pk}/change/")
    expect(page.locator(".verdict").first).to_be_visible()
    expect(page.locator("#content input[type=submit]")).to_have_count(0)
    page.goto("/admin/evals/run/")
    expect(page.get_by_label("Acción:")).to_have_count(0)
    assert post_as(page, f"/admin/evals/run/{run.pk}/change/", commit="otro") == 403
    assert post_as(page, f"/admin/evals/run/{run.pk}/delete/", post="yes") == 403
    assert Run.objects.filter(pk=run.pk).values().get() == before


def test_a_policy_is_not_there(page: Page, dataset: Dataset) -> None:
    policy = GatePolicy.objects.get()
    page.goto("/admin/")
    expect(page.locator("#content").get_by_role("link", name="Casos", exact=True)).to_be_visible()
    expect(page.locator("a[href*=gatepolicy], a[href*=productthreshold]")).to_have_count(0)
    answer = page.goto(f"/admin/evals/gatepolicy/{policy.pk}/change/")
    assert answer is not None
    assert answer.status == 403
    page.goto("/admin/")
    assert post_as(page, f"/admin/evals/gatepolicy/{policy.pk}/change/", max_known_limitations="99") == 403
    assert GatePolicy.objects.get().max_known_limitations == policy.max_known_limitations


def test_control_one_permission_more_opens_the_policy(page: Page, dataset: Dataset) -> None:
    expert = User.objects.get(username="experta")
    expert.user_permissions.set(Permission.objects.filter(codename__in=["view_gatepolicy", "change_gatepolicy"]))
    page.goto(f"/admin/evals/gatepolicy/{GatePolicy.objects.get().pk}/change/")
    expect(page.get_by_role("button", name="Guardar", exact=True)).to_be_visible()
    expect(page.locator("#id_max_known_limitations")).to_be_editable()


def test_held_out_text_is_shut_and_open_to_who_opened_it_with_a_reason(page: Page, dataset: Dataset, tmp_path: Path) -> None:
    finished_run(dataset.versions.get(), purpose="release")
    case = Case.objects.get(key="guardado")
    pages = [f"/admin/evals/case/{case.pk}/{rest}" for rest in ("change/", "history/")]
    pages += [f"/admin/evals/dataset/{dataset.pk}/{rest}" for rest in ("change/", "health/", "compare/")]
    pages += ["/admin/evals/case/", "/admin/evals/result/", "/admin/evals/recording/", "/admin/evals/caserevision/"]
    for path in pages:
        answer = page.goto(path)
        assert (answer and answer.status, "canario" in page.content()) == (200, False), path
    page.goto("/admin/evals/case/?q=canario")
    expect(page.locator("#changelist .paginator")).to_contain_text("0 casos")
    assert "canario" not in download_export(page, dataset, tmp_path)
    open_cases("experta", case)
    page.goto(pages[0])
    expect(page.get_by_label("Lo que escribe la persona:")).to_have_value(SECRET)


def download_export(page: Page, dataset: Dataset, folder: Path) -> str:
    page.goto(f"/admin/evals/dataset/{dataset.pk}/export/")
    page.get_by_label("Formato").select_option("jsonl")
    with page.expect_download() as download:
        press(page, "Descargar")
    path = folder / "examen.jsonl"
    download.value.save_as(path)
    text = path.read_text("utf-8")
    assert "fulbito mañana" in text
    return text
