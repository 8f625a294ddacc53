"""The same way with the keyboard alone, and where the focus is can be seen at every step."""

import pytest
from playwright.sync_api import Locator, Page, expect

from assistant.models import FollowUp, Interaction
from assistant.tests.browser.steps import SATURDAY
from assistant.tests.loopback_provider import LoopbackProvider
from bookings.models import BookedHour, Booking

pytestmark = pytest.mark.browser

FOCUS = """() => {
  const one = document.activeElement, framed = [one, one.closest("label")].filter(Boolean).map((box) => getComputedStyle(box));
  const { top, bottom, left, right, width } = one.getBoundingClientRect();
  return {
    name: one.tagName + " " + (one.id || one.textContent.trim().slice(0, 40)),
    outlined: framed.some((style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2),
    inside: width > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth,
  };
}"""
MOST_STEPS = 120


def assert_focus_is_seen(page: Page) -> None:
    """The element in focus has an outline (for a radio button, its label) and stands inside the window."""
    focus = page.evaluate(FOCUS)
    assert focus["outlined"], f"no outline: {focus['name']}"
    if not focus["inside"]:  # a smooth scroll is on its way
        page.wait_for_function(f"() => ({FOCUS})().inside", timeout=3_000)


def tab_to(page: Page, wanted: Locator) -> None:
    """Presses Tab until this element is in focus."""
    for _ in range(MOST_STEPS):
        page.keyboard.press("Tab")
        assert_focus_is_seen(page)
        if wanted.evaluate("(one) => one === document.activeElement"):
            return
    raise AssertionError(f"{MOST_STEPS} times Tab, and not there: {wanted}")


def type_into(page: Page, label: str, text: str) -> None:
    tab_to(page, page.get_by_label(label, exact=True))
    page.keyboard.type(text)


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    tab_to(page, wanted)
    page.keyboard.press(key)


def sign_up_by_keyboard(page: Page) -> None:
    page.goto("/")
    press(page, page.get_by_role("link", name="Crear cuenta").first)
    expect(page.get_by_role("heading", level=1)).to_have_text("Crear cuenta")
    type_into(page, "Nombre y apellido", "Rosa Quispe")
    type_into(page, "Celular", "987654321")
    type_into(page, "Nombre de tu equipo", "Las Vicuñas")
    type_into(page, "Correo electrónico", "rosa@correo.pe")
    type_into(page, "Contraseña", "canchita-verde-7")
    press(page, page.get_by_role("button", name="Crear cuenta"))
    expect(page.get_by_role("status").first).to_contain_text("Tu cuenta está lista")


def ask_by_keyboard(page: Page) -> None:
    type_into(page, "¿Qué quieres reservar?", f"fulbito {SATURDAY}")
    press(page, page.get_by_role("button", name="Llenar el formulario"))
    expect(page.locator("#asistente-respuesta")).to_be_focused()
    assert_focus_is_seen(page)


def confirm_by_keyboard(page: Page) -> None:
    """Goes to the form, takes two hours in place of one, and confirms."""
    press(page, page.get_by_role("link", name="Revisar y confirmar"))
    tab_to(page, page.get_by_label("1 hora", exact=True))
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("2 horas")).to_be_checked()
    press(page, page.get_by_role("button", name="Confirmar reserva"), "Space")
    expect(page.get_by_role("heading", level=1)).to_have_text("Mis reservas")


def cancel_by_keyboard(page: Page) -> None:
    press(page, page.locator(".bookings summary"))
    press(page, page.get_by_role("button", name="Sí, cancelar la reserva"), "Space")
    expect(page.locator(".bookings .tag")).to_have_text("Cancelada")


def test_the_whole_way_with_the_keyboard_alone(page: Page, provider: LoopbackProvider) -> None:
    sign_up_by_keyboard(page)
    ask_by_keyboard(page)
    confirm_by_keyboard(page)
    followed = Interaction.objects.get()
    assert (followed.follow_up, followed.changed_fields, followed.booking) == (FollowUp.CHANGED, ["hours"], Booking.objects.get())
    assert BookedHour.objects.count() == 2
    cancel_by_keyboard(page)
    assert not BookedHour.objects.exists()
    assert len(provider.calls) == 1


def test_an_hour_of_the_grid_with_the_keyboard_alone(page: Page) -> None:
    sign_up_by_keyboard(page)
    press(page, page.locator("#dia-20260311"))
    expect(page.locator("#que-dia")).to_have_text("miércoles 11 de marzo")
    press(page, page.locator("#dia article").first.get_by_role("link", name="8:00", exact=False).first)
    expect(page.locator("#reservar-titulo")).to_be_focused()
    press(page, page.get_by_role("button", name="Confirmar reserva"))
    expect(page.locator(".bookings .when")).to_have_text("miércoles 11 de marzo, de 8:00 a 9:00")


def test_control_a_focus_without_an_outline_is_noticed(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    assert_focus_is_seen(page)
    page.evaluate("document.activeElement.style.outline = 'none'")
    with pytest.raises(AssertionError, match="no outline"):
        assert_focus_is_seen(page)
