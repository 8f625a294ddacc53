"""The page of the staff's agent in a browser: from the question to the answer with its steps, a person's yes, and hostile words."""

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from playwright.sync_api import BrowserContext, Page, expect

from assistant.models import AgentRun
from assistant.staff_tools import staff_tools
from assistant.tests.agent_models import TUESDAY, asking_for, playing
from assistant.tests.browser.payloads import PAYLOADS
from assistant.tests.browser.steps import enter
from assistant.tests.browser.test_layout import check_layout
from assistant.tests.browser.watching import Watch
from assistant.tests.loopback_provider import LoopbackProvider, Reply
from assistant.tools import NOTHING, Tool
from bookings.models import Court, Member
from bookings.services import book
from bookings.values import BookingRequest

pytestmark = pytest.mark.browser
PAGE = "/asistente/equipo/"
WAYS = [pytest.param(True, id="with-javascript"), pytest.param(False, id="without-javascript", marks=pytest.mark.faults)]
TASK = "¿Qué reservas hay el martes?"


@pytest.fixture
def desk(transactional_db: None) -> Member:
    """Somebody of the front desk, who is a neighbour too."""
    user = User.objects.create_user("desk", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="use_agent"))
    return Member.objects.create(user=user, name="Jefa del turno")


@pytest.fixture
def script(provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the model play these turns."""

    def play(*turns: str | Reply) -> None:
        monkeypatch.setattr(provider, "_answer", playing(*turns))

    return play


def ask(page: Page, task: str) -> None:
    page.get_by_label("¿Qué quieres saber?").fill(task)
    page.locator("#agente button.main").click()
    expect(page.locator("#agente-pedido")).to_have_text(task)


@pytest.mark.parametrize("javascript", [True, False], ids=["with-javascript", "without-javascript"])
def test_from_the_question_to_the_answer_with_its_steps(
    open_browser: Callable[..., BrowserContext],
    desk: Member,
    courts: list[Court],
    script: Callable[..., None],
    now: dt.datetime,
    javascript: bool,
) -> None:
    book(member=desk, court=courts[0], request=BookingRequest("fulbito", dt.date(2026, 3, 10), 19, 2, "Las Vicuñas"), now=now)
    script(asking_for("list_bookings", date=TUESDAY), asking_for("delete_database"), "Hay una, de 19 a 21 en Fulbito 1.")
    page = open_browser(java_script_enabled=javascript).new_page()
    enter(page, desk)
    page.goto("/")
    page.get_by_role("link", name="Agente del personal").click()
    ask(page, TASK)
    expect(page.locator("#agente-respuesta .said")).to_have_text("Hay una, de 19 a 21 en Fulbito 1.")
    steps = page.locator("#agente-respuesta .steps li")
    expect(steps).to_have_count(2)
    expect(steps.nth(0)).to_contain_text("19-21 Fulbito 1: vecino 1, confirmada")
    expect(steps.nth(1)).to_contain_text("Error: no existe la herramienta delete_database.")
    expect(page.locator("#agente-respuesta")).not_to_contain_text("Vicuñas")
    run = AgentRun.objects.get()
    assert page.url.endswith(f"{PAGE}{run.pk}/")
    if javascript:
        expect(page.locator("#agente-respuesta")).to_be_focused()
    page.reload()
    expect(page.locator("#agente-pedido")).to_have_text(TASK)
    assert AgentRun.objects.count() == 1


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a tool that writes was made to write."""
    written: list[str] = []

    def add(arguments: dict[str, Any]) -> str:
        written.append(arguments["text"])
        return "Anotado."

    @contextmanager
    def with_agenda(now: dt.datetime, *, tell: Any) -> Iterator[tuple[Tool, ...]]:
        yield (*staff_tools(now), Tool("add_note", "Anota.", {"type": "object"}, add, read_only=False, capabilities=NOTHING))

    monkeypatch.setattr("assistant.views.open_tools", with_agenda)
    return written


@pytest.mark.parametrize("javascript", WAYS)
@pytest.mark.parametrize(("button", "written"), [("Sí, que lo haga", ["hola"]), ("No", [])])
def test_a_person_says_yes_or_no(
    open_browser: Callable[..., BrowserContext],
    desk: Member,
    notes: list[str],
    script: Callable[..., None],
    button: str,
    written: list[str],
    javascript: bool,
) -> None:
    script(asking_for("add_note", text="hola"), "Listo.")
    page = open_browser(java_script_enabled=javascript).new_page()
    enter(page, desk)
    page.goto(PAGE)
    ask(page, "Anota hola")
    expect(page.locator(".decide pre")).to_have_text('{ "text": "hola" }')
    if javascript:
        check_layout(page)
    assert notes == []
    page.locator(".decide").get_by_role("button", name=button, exact=True).click()
    expect(page.locator("#agente-respuesta .said")).to_have_text("Listo.")
    assert notes == written


def test_hostile_words_are_text(page: Page, desk: Member, script: Callable[..., None], settings: Any, watch: Watch) -> None:
    settings.AGENT_PER_MINUTE = 1_000
    enter(page, desk)
    for payload in PAYLOADS[1::7]:
        script(asking_for(payload, text=payload), payload)
        page.goto(PAGE)
        ask(page, payload)
        expect(page.locator("#agente-respuesta .said")).to_have_text(payload)
        expect(page.locator("#agente-respuesta .steps code")).to_contain_text(payload)
    assert page.locator("#agente-respuesta a").count() == 0


def test_over_the_limit_it_says_so_and_keeps_the_words(
    page: Page, desk: Member, script: Callable[..., None], settings: Any, watch: Watch
) -> None:
    settings.AGENT_PER_MINUTE, watch.forgiven = 1, {429}
    script("Listo.")
    enter(page, desk)
    page.goto(PAGE)
    ask(page, TASK)
    page.get_by_label("¿Qué quieres saber?").fill("¿Y el miércoles?")
    page.locator("#agente button.main").click()
    expect(page.locator("#agente .notice.error")).to_contain_text("muchas veces seguidas")
    expect(page.get_by_label("¿Qué quieres saber?")).to_have_value("¿Y el miércoles?")
    check_layout(page)


def test_whose_session_ended_goes_to_the_login_and_comes_back(page: Page, desk: Member) -> None:
    enter(page, desk)
    page.goto(PAGE)
    page.context.clear_cookies(name="sessionid")
    page.get_by_label("¿Qué quieres saber?").fill(TASK)
    page.locator("#agente button.main").click()
    page.wait_for_url(f"**/cuenta/entrar/?next={PAGE}")
    assert not AgentRun.objects.exists()


def test_nothing_sticks_out(page: Page, desk: Member, script: Callable[..., None], settings: Any) -> None:
    settings.AGENT_RESULT_CHARS = 120
    enter(page, desk)
    page.goto(PAGE)
    check_layout(page)
    script(asking_for("w" * 200, text="w" * 500), asking_for("get_availability", date=TUESDAY), "w" * 1_000)
    ask(page, "w" * 500)
    check_layout(page)
