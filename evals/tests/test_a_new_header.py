"""The story of an outage: one morning the provider wants a header that it never asked for.

The neighbours' assistant, the staff's agent and a run of the desk degrade kindly; who should know is told within a minute, once;
and mending the one function that writes headers mends all three.
"""

import datetime as dt
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Permission, User
from django.core import mail
from django.test import Client

from assistant.llm import provider as provider_file
from assistant.models import AgentRun, Interaction
from assistant.tests.loopback_provider import Call, LoopbackProvider, json_reply
from assistant.tests.neighbours import PROPOSALS
from bookings.models import Member
from evals.models import Run
from evals.tests.commands import Done, point_at, run_command
from evals.tests.desk import draft_row, make_version
from kallpa.models import Incident

pytestmark = pytest.mark.django_db(transaction=True)

MORNING = dt.datetime(2026, 3, 9, 8, 0, tzinfo=ZoneInfo("America/Lima"))
DOWN_FOR_NEIGHBOURS = "El asistente no está disponible en este momento. El formulario de reserva funciona igual."
DOWN_FOR_STAFF = "El modelo no está disponible en este momento. Vuelve a probar más tarde."
NOT_OUR_HELP = "Con eso no te puedo ayudar."  # what a model that declines makes us say: an answer, not an outage
CLOCKS = ("assistant.api", "assistant.pages", "assistant.views", "assistant.agent_pages", "bookings.pages", "bookings.views")


class Morning:
    """The provider, who may demand a header, and the three products in front of it, on one clock."""

    def __init__(self, neighbour: Client, desk: Client, dataset: str) -> None:
        self.now, self.demands = MORNING, ""
        self._neighbour, self._desk, self._dataset = neighbour, desk, dataset

    def answer(self, call: Call) -> Any:
        if self.demands and self.demands not in call.headers:
            return json_reply({"error": {"message": "missing required header"}}, 400)
        return '{"action":"refuse"}'

    def step(self, seconds: float) -> None:
        self.now += dt.timedelta(seconds=seconds)

    def ask_assistant(self) -> str:
        body = urlencode({"text": "fulbito mañana a las 7 de la noche", "date": "2026-03-10"})
        page = self._neighbour.post(PROPOSALS, body, content_type="application/x-www-form-urlencoded", headers={"Accept": "text/html"})
        assert page.status_code == 200
        return page.content.decode()

    def ask_agent(self) -> str:
        page = self._desk.post("/asistente/equipo/", {"task": "¿Qué hay el martes?", "key": str(uuid.uuid4())}, follow=True)
        assert page.status_code == 200
        return page.content.decode()

    def run_exam(self) -> Done:
        return run_command("eval_run", self._dataset, "--model", "prueba")


def browser(user: User, *codenames: str) -> Client:
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def morning(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Morning]:
    settings.ALERT_EMAILS, settings.CELERY_BROKER_URL = ["guardia@kallpa.test"], ""
    rosa = User.objects.create_user("rosa")
    Member.objects.create(user=rosa, name="Rosa Quispe", phone="987 654 321")
    desk = browser(User.objects.create_user("recepcion", is_staff=True), "use_agent")
    here = Morning(browser(rosa), desk, make_version([draft_row("a"), draft_row("b")]).dataset.slug)
    for module in CLOCKS:
        monkeypatch.setattr(f"{module}.now_in_lima", lambda: here.now)
    with LoopbackProvider(here.answer) as server:
        point_at(settings, server)
        yield here
    wait_for_alerts()


def wait_for_alerts() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("alert-"):
            thread.join(30)


def mend(monkeypatch: pytest.MonkeyPatch, header: str) -> None:
    """What a developer would change: the one function of the provider's file that writes headers."""
    write: Callable[[str], Any] = provider_file._headers

    def write_more(api_key: str) -> Any:
        headers = write(api_key)
        headers[header] = "kallpa"
        return headers

    monkeypatch.setattr(provider_file, "_headers", write_more)


def subjects() -> list[str]:
    wait_for_alerts()
    return [letter.subject.split(":")[0] for letter in mail.outbox]


def test_a_new_header_is_told_and_mended_in_one_place(morning: Morning, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    assert NOT_OUR_HELP in morning.ask_assistant()

    morning.demands = "x-tenant"
    began = morning.now
    for ask, sentence in (
        (morning.ask_assistant, DOWN_FOR_NEIGHBOURS),
        (morning.ask_agent, DOWN_FOR_STAFF),
        (morning.ask_assistant, DOWN_FOR_NEIGHBOURS),
        (morning.ask_agent, DOWN_FOR_STAFF),
        (morning.ask_assistant, DOWN_FOR_NEIGHBOURS),
    ):
        assert subjects() == []
        morning.step(5)
        page = ask()
        assert sentence in page
        assert NOT_OUR_HELP not in page

    incident = Incident.objects.get()
    assert (incident.cause, incident.closed_at) == ("bad-request", None)
    assert (incident.opened_at - began).total_seconds() <= settings.BREAKER_WINDOW_S
    assert subjects() == ["[Kallpa] Modelo caído"]

    assert DOWN_FOR_NEIGHBOURS in morning.ask_assistant()
    assert DOWN_FOR_STAFF in morning.ask_agent()
    assert morning.run_exam().code == 3
    assert set(Run.objects.get().results.values_list("status", "error_cause")) == {("error", "bad-request")}
    assert subjects() == ["[Kallpa] Modelo caído"]

    mend(monkeypatch, "X-Tenant")
    morning.step(31)
    assert NOT_OUR_HELP in morning.ask_assistant()
    assert "Respondió sin consultar nada" in morning.ask_agent()
    assert morning.run_exam().code == 0  # measured, by a policy that any figure meets
    assert set(Run.objects.latest("pk").results.values_list("status", flat=True)) == {"done"}
    assert Incident.objects.get().closed_at is not None
    assert subjects() == ["[Kallpa] Modelo caído", "[Kallpa] Terminó"]

    kinds = list(Interaction.objects.order_by("pk").values_list("kind", "cause"))
    assert kinds == [("refuse", ""), *[("unavailable", "bad-request")] * 3, ("unavailable", "circuit-open"), ("refuse", "")]
    stops = list(AgentRun.objects.order_by("pk").values_list("stop", "cause"))
    assert stops == [*[("unavailable", "bad-request")] * 2, ("unavailable", "circuit-open"), ("model", "")]


def test_control_without_mending_it_stays_down(morning: Morning) -> None:
    morning.demands = "x-tenant"
    for _ in range(5):
        morning.ask_assistant()
    morning.step(31)
    assert DOWN_FOR_NEIGHBOURS in morning.ask_assistant()
    assert DOWN_FOR_STAFF in morning.ask_agent()
    assert Incident.objects.get().closed_at is None
