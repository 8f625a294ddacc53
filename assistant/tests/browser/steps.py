"""What neighbours do on the pages."""

from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from bookings.models import Member

SATURDAY = "el sábado a las 5 de la tarde"


def sign_up(page: Page, *, name: str = "Rosa Quispe", team: str = "Las Vicuñas") -> None:
    """Makes an account from the day page, which it comes back to."""
    page.goto("/")
    page.get_by_role("link", name="Crear cuenta").first.click()
    page.get_by_label("Nombre y apellido").fill(name)
    page.get_by_label("Celular").fill("987 654 321")
    page.get_by_label("Nombre de tu equipo").fill(team)
    page.get_by_label("Correo electrónico").fill("rosa@correo.pe")
    page.get_by_label("Contraseña", exact=True).fill("canchita-verde-7")
    page.get_by_role("button", name="Crear cuenta").click()
    expect(page.get_by_role("status").first).to_contain_text(f"Tu cuenta está lista, {name}")


def ask(page: Page, text: str) -> None:
    """Writes to the assistant and waits for what it says."""
    page.get_by_label("¿Qué quieres reservar?").fill(text)
    page.get_by_role("button", name="Llenar el formulario").click()
    expect(page.locator("#asistente-respuesta")).to_be_visible()


def enter(page: Page, member: Member) -> None:
    """Gives the browser the session of this member."""
    client = Client()
    assert member.user is not None
    client.force_login(member.user)
    name = settings.SESSION_COOKIE_NAME
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "domain": "localhost", "path": "/"}])
