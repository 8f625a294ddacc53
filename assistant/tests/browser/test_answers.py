"""The other ways an answer can end: it asks, it declines, it was not understood, it is not there, it was asked too often."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from assistant.models import FollowUp, Interaction, UserReport
from assistant.tests.browser.conftest import QUESTION
from assistant.tests.browser.steps import SATURDAY, ask, enter
from assistant.tests.browser.watching import Watch
from assistant.tests.loopback_provider import LoopbackProvider
from bookings.models import Booking, Member

pytestmark = pytest.mark.browser

PATHS = {
    "clarify": ("fulbito algún día", [QUESTION, "Me falta un dato."]),
    "refuse": ("quiero una pizza", ["Con eso no te puedo ayudar."]),
    "rejected": ("algo confuso", ["No te entendí bien y prefiero no adivinar."]),
    "unavailable": (
        "fulbito sin servicio",
        ["El asistente no está disponible en este momento.", "El formulario de reserva funciona igual."],
    ),
}
WAYS = [pytest.param(True, id="with-javascript"), pytest.param(False, id="without-javascript", marks=pytest.mark.faults)]


@pytest.mark.parametrize("javascript", WAYS)
@pytest.mark.parametrize("kind", PATHS)
def test_it_says_what_came_of_it_and_the_form_still_books(
    open_browser: Callable[..., BrowserContext], member: Member, kind: str, javascript: bool
) -> None:
    page, (text, sentences) = open_browser(java_script_enabled=javascript).new_page(), PATHS[kind]
    enter(page, member)
    page.goto("/?fecha=2026-03-11")
    ask(page, text)
    for sentence in sentences:
        expect(page.locator("#asistente-respuesta")).to_contain_text(sentence)
    expect(page.get_by_label("¿Qué quieres reservar?")).to_have_value(text)
    expect(page.locator("#que-dia")).to_have_text("miércoles 11 de marzo")
    assert Interaction.objects.get().kind == kind
    book_by_hand(page)


def book_by_hand(page: Page) -> None:
    """An hour of the grid, chosen and confirmed."""
    page.locator("#dia article").first.get_by_role("link", name="20:00").click()
    form = page.locator("#reservar form")
    expect(form.get_by_label("Empieza a las")).to_have_value("20")
    form.get_by_role("button", name="Confirmar reserva").click()
    expect(page.locator(".bookings .when")).to_have_text("miércoles 11 de marzo, de 20:00 a 21:00")
    assert Booking.objects.count() == 1


@pytest.mark.parametrize("javascript", WAYS)
def test_over_the_limit_it_says_when_to_come_back(
    open_browser: Callable[..., BrowserContext], member: Member, watch: Watch, provider: LoopbackProvider, settings: Any, javascript: bool
) -> None:
    settings.ASSISTANT_PER_MINUTE, watch.forgiven = 1, {429}
    page = open_browser(java_script_enabled=javascript).new_page()
    enter(page, member)
    page.goto("/?fecha=2026-03-11")
    ask(page, "quiero una pizza")
    page.get_by_label("¿Qué quieres reservar?").fill("fulbito el sábado")
    page.get_by_role("button", name="Llenar el formulario").click()
    expect(page.locator("#asistente-respuesta")).to_contain_text("Le escribiste muchas veces seguidas al asistente. Vuelve a probar en")
    expect(page.get_by_label("¿Qué quieres reservar?")).to_have_value("fulbito el sábado")
    assert len(provider.calls) == 1
    book_by_hand(page)


def test_a_page_that_went_stale_says_so_and_goes_on(page: Page, member: Member, watch: Watch, provider: LoopbackProvider) -> None:
    watch.forgiven = {403}
    enter(page, member)
    page.goto("/")
    page.context.clear_cookies(name="csrftoken")
    ask(page, "quiero una pizza")
    expect(page.locator("#asistente-respuesta")).to_contain_text("la página caducó")
    expect(page.get_by_label("¿Qué quieres reservar?")).to_have_value("quiero una pizza")
    assert provider.calls == []
    page.get_by_role("button", name="Llenar el formulario").click()
    expect(page.locator("#asistente-respuesta.refuse")).to_be_visible()


def test_a_draft_can_be_discarded(page: Page, member: Member) -> None:
    enter(page, member)
    page.goto("/")
    ask(page, f"fulbito {SATURDAY}")
    page.get_by_role("button", name="Descartar").click()
    expect(page.get_by_role("status").first).to_contain_text("Descartaste la propuesta. No se reservó nada.")
    assert Interaction.objects.get().follow_up == FollowUp.DISCARDED
    assert not Booking.objects.exists()


def test_a_wrong_answer_can_be_reported_with_a_word(page: Page, member: Member) -> None:
    enter(page, member)
    page.goto("/")
    ask(page, f"fulbito {SATURDAY}")
    page.get_by_text("Esto no es lo que pedí").click()
    page.get_by_label("¿Qué esperabas? (opcional)").fill("era vóley")
    page.get_by_role("button", name="Avisar").click()
    expect(page.get_by_role("status").first).to_contain_text("Gracias")
    assert UserReport.objects.get().word == "era vóley"


def test_a_refused_booking_keeps_what_was_typed(page: Page, member: Member, watch: Watch) -> None:
    watch.forgiven = {400}
    enter(page, member)
    page.goto("/?fecha=2026-03-11")
    form = page.locator("#reservar form")
    form.get_by_label("Deporte").select_option("fulbito")
    form.get_by_label("Empieza a las").select_option("21")
    form.get_by_label("2 horas").check()
    form.get_by_label("Nombre del equipo").fill("Los Tíos")
    form.get_by_role("button", name="Confirmar reserva").click()
    expect(page.locator("#errores")).to_be_visible()
    expect(form.get_by_label("Empieza a las")).to_have_value("21")
    expect(form.get_by_label("Nombre del equipo")).to_have_value("Los Tíos")
    expect(form.locator("[aria-invalid=true]").first).to_be_focused()
    assert not Booking.objects.exists()
