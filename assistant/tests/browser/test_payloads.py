"""Texts that would run in a page that does not escape: as team's name, member's name and model's question, wherever they are shown."""

import datetime as dt
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.urls import reverse
from playwright.sync_api import Browser, Page, Route, expect

from assistant import drafts
from assistant.llm.absent import production_model
from assistant.models import Interaction
from assistant.services import ask_assistant
from assistant.tests.browser.payloads import PAYLOADS
from assistant.tests.browser.steps import ask, enter
from assistant.tests.browser.watching import Watch
from assistant.tests.loopback_provider import LoopbackProvider
from bookings.models import Booking, Court, Member
from bookings.services import book
from bookings.values import BookingRequest
from kallpa.csp import POLICY

pytestmark = pytest.mark.browser
SOME = pytest.param(PAYLOADS[1::14], id="some")
EVERY = pytest.param(PAYLOADS, id="every", marks=pytest.mark.faults)
RUNS = [pytest.param(PAYLOADS[:8], 4, 2, id="some"), pytest.param(PAYLOADS, 15, 8, id="every", marks=pytest.mark.faults)]
TOMORROW = dt.date(2026, 3, 10)


def texts_of(page: Page) -> str:
    """All that a person reads on the page, with what stands in its inputs and titles."""
    script = """() => [document.body.innerText,
        ...[...document.querySelectorAll('input, textarea')].map((one) => one.value),
        ...[...document.querySelectorAll('[title]')].map((one) => one.title)].join('\\n')"""
    return str(page.evaluate(script))


def assert_literal(page: Page, payloads: list[str]) -> None:
    """Each payload is read as it was typed, neither run nor escaped twice."""
    shown = texts_of(page)
    assert [payload for payload in payloads if payload not in shown] == []


@pytest.fixture
def bookings(courts: list[Court], now: dt.datetime) -> list[Booking]:
    """One booking a payload, which is the name of its member and of its team."""
    made = []
    for number, payload in enumerate(PAYLOADS):
        court = courts[number % 3]
        account = User.objects.create_user(f"vecino{number}")
        member = Member.objects.create(user=account, name=payload, phone="987654321", team_name=payload)
        request = BookingRequest(court.sport, TOMORROW, 7 + number // 3, 1, payload)
        made.append(book(member=member, court=court, request=request, now=now))
    return made


@pytest.fixture
def staff(db: None) -> Member:
    return Member.objects.create(user=User.objects.create_superuser("jefa"), name="Jefa")


def test_the_payloads_are_forty_and_fit(watch: Watch) -> None:
    assert (len(PAYLOADS), len(set(PAYLOADS))) == (40, 40)
    assert max(map(len, PAYLOADS)) <= 40


def test_the_day_shows_them_to_everybody(page: Page, bookings: list[Booking]) -> None:
    page.goto("/?fecha=2026-03-10")
    assert_literal(page, PAYLOADS)
    assert page.locator("#dia li.taken").count() == 40


def test_htmx_brings_them_as_text(page: Page, bookings: list[Booking]) -> None:
    page.goto("/")
    page.locator("#dia-20260310").click()
    expect(page.locator("#que-dia")).to_have_text("martes 10 de marzo")
    assert_literal(page, PAYLOADS)


def test_ones_own_bookings_show_them(page: Page, bookings: list[Booking]) -> None:
    owner = bookings[0].member
    Booking.objects.update(member=owner)
    enter(page, owner)
    page.goto("/mis-reservas/")
    assert_literal(page, PAYLOADS)


@pytest.mark.parametrize("payloads", [SOME, EVERY])
def test_ones_own_pages_show_them(page: Page, bookings: list[Booking], payloads: list[str]) -> None:
    for booking in (one for one in bookings if one.team_name in payloads):
        enter(page, booking.member)
        page.goto("/cuenta/datos/")
        assert_literal(page, [booking.team_name])
        page.goto("/?fecha=2026-03-10")
        expect(page.locator("#reservar form").get_by_label("Nombre del equipo")).to_have_value(booking.team_name)
        page.context.clear_cookies()


@pytest.mark.parametrize("payloads", [SOME, EVERY])
def test_a_new_account_is_greeted_by_its_name(page: Page, payloads: list[str], settings: Any) -> None:
    for number, payload in enumerate(payloads):
        settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": f"{page.url}{number}"}}
        page.goto("/cuenta/crear/")
        page.get_by_label("Nombre y apellido").fill(payload)
        page.get_by_label("Celular").fill("no sé")
        page.get_by_label("Nombre de tu equipo").fill(payload)
        page.get_by_label("Correo electrónico").fill(f"vecino{number}@correo.pe")
        page.get_by_label("Contraseña", exact=True).fill("canchita-verde-7")
        page.get_by_role("button", name="Crear cuenta").click()
        expect(page.get_by_label("Nombre y apellido")).to_have_value(payload)
        page.get_by_label("Celular").fill("987 654 321")
        page.get_by_label("Contraseña", exact=True).fill("canchita-verde-7")
        page.get_by_role("button", name="Crear cuenta").click()
        expect(page.get_by_role("status").first).to_contain_text(f"Tu cuenta está lista, {payload}.")
        page.context.clear_cookies()


@pytest.fixture
def any_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check that keeps such questions away is taken off: here the page stands alone."""
    monkeypatch.setattr(drafts, "find_unsafe", lambda question: "")


@pytest.fixture
def parrot(provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes the model ask this."""

    def ask_back(question: str) -> None:
        monkeypatch.setattr(provider, "_answer", lambda call: json.dumps({"action": "clarify", "question": question}))

    return ask_back


@pytest.mark.parametrize("payloads", [SOME, EVERY])
def test_a_question_of_the_model_is_text(
    page: Page, member: Member, any_question: None, parrot: Callable[[str], None], settings: Any, payloads: list[str]
) -> None:
    settings.ASSISTANT_PER_MINUTE = 1_000
    enter(page, member)
    for payload in payloads:
        parrot(f"¿{payload}?")
        page.goto("/")
        ask(page, payload)
        expect(page.locator("#asistente-respuesta .question")).to_have_text(f"¿{payload}?")
        expect(page.get_by_label("¿Qué quieres reservar?")).to_have_value(payload)


def test_the_check_keeps_most_of_them_from_people(
    parrot: Callable[[str], None], member: Member, home: str, settings: Any, now: Any
) -> None:
    settings.ASSISTANT_PER_MINUTE = 1_000
    for payload in PAYLOADS:
        parrot(f"¿{payload}?")
        ask_assistant(member=member, text="fulbito", model=production_model(), now=now)
    shown = set(Interaction.objects.filter(kind="clarify").values_list("question", flat=True))
    assert {question for question in shown if "<" in question or "javascript:" in question} == set()


@pytest.fixture
def interactions(member: Member, now: dt.datetime) -> list[Interaction]:
    """What the desk reads of one use a payload: request, question and the model's own words."""
    words = {"kind": "clarify", "prompt_hash": "0" * 64, "prompt_variant": "base", "model": "gpt-4o-mini"}
    return [
        Interaction.objects.create(member=member, created_at=now, masked_text=one, question=one, masked_output=one, **words)
        for one in PAYLOADS
    ]


def test_the_desks_lists_show_them(page: Page, staff: Member, bookings: list[Booking], interactions: list[Interaction]) -> None:
    enter(page, staff)
    for model in (Booking, Member, Interaction):
        page.goto(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"))
        assert_literal(page, PAYLOADS)


@pytest.mark.parametrize("payloads", [SOME, EVERY])
def test_the_desks_forms_show_them(
    page: Page, staff: Member, bookings: list[Booking], interactions: list[Interaction], payloads: list[str]
) -> None:
    enter(page, staff)
    rows: list[tuple[str, Model]] = [(one.team_name, one) for one in bookings]
    rows += [(one.team_name, one.member) for one in bookings] + [(one.question, one) for one in interactions]
    for payload, row in (pair for pair in rows if pair[0] in payloads):
        page.goto(reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk]))
        assert_literal(page, [payload])


def open_unescaped(chromium: Browser, home: str, payloads: list[str], **headers: str) -> Watch:
    """What a browser says of a page at the site's own address that does not escape."""
    ear, context = Watch(urlsplit(home).netloc), chromium.new_context(base_url=home)
    ear.listen(context)
    context.route("**/trampa", lambda route: route.fulfill(body="", content_type="text/html"))
    page = context.new_page()

    def serve(route: Route) -> None:
        payload = payloads[int(urlsplit(route.request.url).query)]
        body = f'<!doctype html><title>control</title><p>{payload}</p><input value="{payload}">'
        route.fulfill(body=body, content_type="text/html", headers=headers)

    context.route("**/control/?*", serve)
    for number in range(len(payloads)):
        page.goto(f"/control/?{number}", wait_until="load")
    page.wait_for_timeout(300)
    context.close()
    return ear


@pytest.mark.parametrize(("payloads", "dialogs", "requests"), RUNS)
def test_control_a_page_that_does_not_escape_runs_them(
    chromium: Browser, home: str, payloads: list[str], dialogs: int, requests: int
) -> None:
    ear = open_unescaped(chromium, home, payloads)
    assert len(set(ear.dialogs)) >= dialogs
    assert len(ear.trapped) >= requests


@pytest.mark.parametrize(("payloads", "dialogs", "requests"), RUNS)
def test_control_the_policy_alone_stops_the_scripts(chromium: Browser, home: str, payloads: list[str], dialogs: int, requests: int) -> None:
    ear = open_unescaped(chromium, home, payloads, **{"Content-Security-Policy": POLICY})
    assert ear.dialogs == []
    assert sum("policy: script-src" in line for line in ear.complaints) >= dialogs
