"""On a phone and on a wide screen, light and dark, nothing sticks out sideways: every main page, with the longest names there may be."""

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Page, expect

from assistant.tests.browser import conftest
from assistant.tests.browser.steps import SATURDAY, ask, enter
from assistant.tests.browser.watching import Watch
from bookings.models import Court, Member
from bookings.services import book, cancel
from bookings.values import BookingRequest

pytestmark = pytest.mark.browser

WIDTHS = (390, 1_440)
FORMS = {"/cuenta/crear/": "Crear cuenta", "/cuenta/entrar/": "Entrar", "/cuenta/clave/": "Mandar"}
LONG_TEAM, LONG_NAME, LONG_COURT = "W" * 40, "Wenceslao" * 13, "Fulbitoalairelibre" * 4
LONG_QUESTION = "¿" + "cuándo" * 32 + "?"
STICKS_OUT = """() => {
  const clipped = (one) => one && one !== document.body && (getComputedStyle(one).overflowX !== "visible" || clipped(one.parentElement));
  const out = [...document.body.querySelectorAll("*")].filter((one) => {
    const { left, right, width } = one.getBoundingClientRect();
    const text = one.clientWidth && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline";
    return width > 0 && !one.closest(".unseen") && !clipped(one) && (left < -1 || right > innerWidth + 1 || text);
  });
  return [...(document.documentElement.scrollWidth > innerWidth ? [`the page is ${document.documentElement.scrollWidth} px wide`] : []),
    ...out.map((one) => `${one.tagName}.${one.className} ${one.textContent.trim().slice(0, 30)}`)];
}"""


def check_layout(page: Page) -> None:
    """The page as it stands now, at both widths and in both schemes."""
    found: dict[str, Any] = {}
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
            if out := page.evaluate(STICKS_OUT):
                found[f"{width} px, {scheme}"] = out
    assert found == {}, page.url


@pytest.fixture
def neighbour(courts: list[Court], now: dt.datetime) -> Member:
    """Somebody with the longest of names, and bookings to come, played and cancelled on courts with the longest of names."""
    account = User.objects.create_user(f"{'w' * 130}@correo.pe", email="w@correo.pe", password="canchita-verde-7")
    member = Member.objects.create(user=account, name=LONG_NAME, phone="987654321", team_name=LONG_TEAM)
    for court in courts:
        court.name = f"{LONG_COURT} {court.pk}"
        court.save()
    for hour in (17, 19, 21):
        made = book(member=member, court=courts[0], request=BookingRequest("fulbito", dt.date(2026, 3, 10), hour, 1, LONG_TEAM), now=now)
    cancel(booking=made, by=member, now=now)
    return member


@pytest.fixture
def signed_in(page: Page, neighbour: Member) -> Page:
    enter(page, neighbour)
    return page


def test_pages_for_everybody(page: Page, neighbour: Member, watch: Watch) -> None:
    watch.forgiven = {404}
    for address in ("/?fecha=2026-03-10", *FORMS, "/cuenta/clave/enviada/", "/cuenta/clave/MQ/no-sirve/", "/no-hay/"):
        page.goto(address)
        check_layout(page)


def test_forms_of_accounts_with_errors(page: Page) -> None:
    for address, button in FORMS.items():
        page.goto(address)
        page.locator("main").get_by_role("button", name=button).click()
        expect(page.locator("main .error").first).to_be_visible()
        check_layout(page)


def test_a_new_password(page: Page, neighbour: Member) -> None:
    account = neighbour.user
    assert account is not None
    page.goto(f"/cuenta/clave/{urlsafe_base64_encode(force_bytes(account.pk))}/{default_token_generator.make_token(account)}/")
    expect(page.get_by_role("button", name="Guardar y entrar")).to_be_visible()
    check_layout(page)


def test_pages_of_ones_own(signed_in: Page) -> None:
    signed_in.goto("/?fecha=2026-03-10&cancha=1&hora=8")
    expect(signed_in.locator(".next")).to_be_visible()
    check_layout(signed_in)
    signed_in.goto("/cuenta/datos/")
    check_layout(signed_in)
    signed_in.goto("/mis-reservas/")
    signed_in.locator(".bookings summary").first.click()
    expect(signed_in.get_by_role("button", name="Sí, cancelar la reserva")).to_be_visible()
    check_layout(signed_in)


def test_a_refused_booking(signed_in: Page, watch: Watch) -> None:
    watch.forgiven = {400}
    signed_in.goto("/?fecha=2026-03-10")
    signed_in.get_by_role("button", name="Confirmar reserva").click()
    expect(signed_in.locator("#errores")).to_be_visible()
    check_layout(signed_in)


@pytest.fixture
def long_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(conftest.ANSWERS, "algún día", json.dumps({"action": "clarify", "question": LONG_QUESTION}))


KINDS = {"draft": SATURDAY, "clarify": "algún día", "refuse": "una pizza", "rejected": "algo confuso", "unavailable": "sin servicio"}


def test_the_assistants_answers(signed_in: Page, long_question: None, settings: Any, watch: Watch) -> None:
    settings.ASSISTANT_PER_MINUTE, watch.forgiven = len(KINDS), {429}
    for kind, text in KINDS.items():
        signed_in.goto("/")
        ask(signed_in, f"{text} {'w' * 200}")
        expect(signed_in.locator(f"#asistente-respuesta.{kind}")).to_be_visible()
        signed_in.evaluate("document.querySelectorAll('#asistente details').forEach((one) => { one.open = true })")
        check_layout(signed_in)
    signed_in.get_by_role("button", name="Llenar el formulario").click()
    expect(signed_in.locator("#asistente-respuesta")).to_contain_text("muchas veces")
    check_layout(signed_in)


BROKEN: dict[str, Callable[[Page], Any]] = {
    "too wide": lambda page: page.evaluate("document.querySelector('h1').style.width = '2000px'"),
    "text outside its box": lambda page: page.evaluate(
        "document.querySelector('.court h3').style.cssText = 'width: 2rem; white-space: nowrap'"
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_control_what_sticks_out_is_noticed(page: Page, name: str) -> None:
    page.goto("/")
    BROKEN[name](page)
    with pytest.raises(AssertionError, match="390 px, light"):
        check_layout(page)
