"""A neighbour signs up, asks the assistant, changes one field, confirms, sees the booking and cancels it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from assistant.models import FollowUp, Interaction
from assistant.tests.browser.steps import SATURDAY, ask, sign_up
from assistant.tests.loopback_provider import LoopbackProvider
from bookings.models import BookedHour, Booking

pytestmark = pytest.mark.browser


def confirm_two_hours(page: Page) -> None:
    """Takes the draft of one hour for two, and presses the button."""
    form = page.locator("#reservar form")
    expect(form.get_by_label("Deporte")).to_have_value("fulbito")
    expect(form.get_by_label("Fecha")).to_have_value("2026-03-14")
    expect(form.get_by_label("Empieza a las")).to_have_value("17")
    expect(form.get_by_label("Nombre del equipo")).to_have_value("Las Vicuñas")
    assert not Booking.objects.exists()
    form.get_by_label("2 horas").check()
    form.get_by_role("button", name="Confirmar reserva").click()


def book_and_cancel(page: Page) -> None:
    """The whole way. Reads the rows after each step."""
    sign_up(page)
    ask(page, f"fulbito {SATURDAY}")
    expect(page.locator("#asistente-respuesta .words")).to_have_text("Fulbito, sábado 14 de marzo, de 17:00 a 18:00")
    confirm_two_hours(page)

    expect(page.get_by_role("heading", level=1)).to_have_text("Mis reservas")
    expect(page.locator(".bookings .when")).to_have_text("sábado 14 de marzo, de 17:00 a 19:00")
    expect(page.locator(".bookings .what")).to_contain_text("Fulbito 1 (Fulbito) · Las Vicuñas")
    followed = Interaction.objects.get()
    assert (followed.follow_up, followed.changed_fields, followed.booking) == (FollowUp.CHANGED, ["hours"], Booking.objects.get())
    assert BookedHour.objects.count() == 2

    page.locator(".bookings summary").click()
    page.get_by_role("button", name="Sí, cancelar la reserva").click()
    expect(page.get_by_role("status").first).to_contain_text("Cancelaste Fulbito 1 del sábado 14 de marzo, 17:00.")
    expect(page.locator(".bookings .tag")).to_have_text("Cancelada")
    assert not BookedHour.objects.exists()


def test_a_neighbour_books_with_the_assistant_and_cancels(page: Page, provider: LoopbackProvider) -> None:
    book_and_cancel(page)
    assert len(provider.calls) == 1


def test_the_same_without_javascript(open_browser: Callable[..., BrowserContext], provider: LoopbackProvider) -> None:
    book_and_cancel(open_browser(java_script_enabled=False).new_page())
    assert len(provider.calls) == 1


def test_the_answer_comes_without_leaving_the_page(page: Page) -> None:
    sign_up(page)
    address = page.url
    page.evaluate("document.body.dataset.same = 'page'")
    ask(page, f"fulbito {SATURDAY}")
    assert (page.url, page.locator("body").get_attribute("data-same")) == (address, "page")
    expect(page.locator("#asistente-respuesta")).to_be_focused()
