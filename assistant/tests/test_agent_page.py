"""The page of the staff's agent: who gets in, what it shows of a run, what it says of each stop, a person's yes or no."""

import datetime as dt
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assistant.agent_pages import show_arguments
from assistant.models import AgentRun
from assistant.staff_tools import staff_tools
from assistant.tests.agent_models import TUESDAY, asking_for, playing
from assistant.tests.loopback_provider import LoopbackProvider
from assistant.tests.neighbours import log_in, point_at, stop_clock
from assistant.tools import Capability, Tool
from bookings.models import Court, Member

PAGE = "/asistente/equipo/"
HOSTILE = '<script>alert(1)</script> http://127.0.0.1/trampa <img src=x onerror="alert(2)"> [aquí](javascript:alert(3))'


@pytest.fixture(autouse=True)
def still_clock(monkeypatch: pytest.MonkeyPatch, now: dt.datetime) -> None:
    stop_clock(monkeypatch, now)


@pytest.fixture
def staff(db: None) -> User:
    user = User.objects.create_user("desk", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="use_agent"))
    return user


@pytest.fixture
def desk(staff: User, client: Client) -> Client:
    client.force_login(staff)
    return client


@pytest.fixture
def serve(settings: Any) -> Iterator[Callable[..., LoopbackProvider]]:
    """Makes a server with this script the site's model while the test lasts."""
    opened: list[LoopbackProvider] = []

    def start(*turns: Any) -> LoopbackProvider:
        opened.append(LoopbackProvider(playing(*turns)).__enter__())
        point_at(settings, opened[-1])
        return opened[-1]

    yield start
    for provider in opened:
        provider.__exit__()


def ask(client: Client, task: str = "¿Qué hay el martes?", **fields: Any) -> str:
    """The page that comes of a task."""
    return client.post(PAGE, {"task": task, "key": str(uuid.uuid4()), **fields}, follow=True).content.decode()


def stored(staff: User, now: dt.datetime, **facts: Any) -> AgentRun:
    return AgentRun.objects.create(**{"user": staff, "key": uuid.uuid4(), "created_at": now, "stop": "max-steps", **facts})


# --- Who gets in ----------------------------------------------------------------------------------------------------------


def test_a_neighbour_gets_403_and_a_stranger_the_login(member: Member, client: Client, staff: User, now: dt.datetime) -> None:
    run = stored(staff, now)
    for address in (PAGE, f"{PAGE}{run.pk}/"):
        assert log_in(member).get(address).status_code == 403
        assert log_in(member).post(address, {"task": "x"}).status_code == 403
        stranger = client.get(address)
        assert (stranger.status_code, stranger.headers["Location"]) == (302, f"/cuenta/entrar/?next={address}")
    assert AgentRun.objects.count() == 1


def test_somebody_elses_run_does_not_exist(desk: Client, other: Member, now: dt.datetime) -> None:
    assert other.user is not None
    run = stored(other.user, now)
    assert desk.get(f"{PAGE}{run.pk}/").status_code == 404
    assert desk.post(f"{PAGE}{run.pk}/", {"decision": "yes"}).status_code == 404


def test_the_front_desk_and_engineers_may_and_nobody_else(db: None) -> None:
    for name in ("Administración del complejo", "Ingeniería", "Expertos de negocio", "Solo lectura"):
        Group.objects.get_or_create(name=name)
    migration = import_module("assistant.migrations.0004_who_may_use_the_agent")
    migration.let_the_staff_use_the_agent(apps, SimpleNamespace(connection=connection))
    may = {group.name for group in Group.objects.filter(permissions__codename="use_agent")}
    assert may == {"Administración del complejo", "Ingeniería"}
    assert Group.objects.get(permissions__codename="view_agentrun").name == "Ingeniería"


def test_the_way_there_is_shown_to_who_may_go(desk: Client, member: Member) -> None:
    assert f'href="{PAGE}"' in desk.get("/").content.decode()
    assert f'href="{PAGE}"' in desk.get("/admin/").content.decode()
    assert PAGE not in log_in(member).get("/").content.decode()


def test_a_form_from_elsewhere_is_refused(staff: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(staff)
    assert strict.post(PAGE, {"task": "x"}).status_code == 403
    assert not AgentRun.objects.exists()


# --- What it shows --------------------------------------------------------------------------------------------------------


def test_it_shows_answer_steps_tokens_and_money(desk: Client, court: Court, serve: Callable[..., LoopbackProvider]) -> None:
    serve(asking_for("list_bookings", date=TUESDAY), "El martes no hay reservas.")
    page = ask(desk)
    assert "El martes no hay reservas." in page
    assert "list_bookings(2026-03-10)" in page
    assert "Reservas del 2026-03-10: 0 confirmadas" in page
    assert "nada comprueba que sea cierta" in page
    assert "2 respuestas del modelo" in page
    assert "contados por el proveedor" in page
    assert "USD\u00a00.000" in page


def test_a_cut_result_says_how_much_is_missing(desk: Client, court: Court, settings: Any, serve: Callable[..., LoopbackProvider]) -> None:
    settings.AGENT_RESULT_CHARS = 100
    for number in range(20):
        Court.objects.create(name=f"Losa {number}", sport="fulbito", price_centimos_per_hour=100)
    serve(asking_for("get_availability", date=TUESDAY), "Hay muchas.")
    page = ask(desk)
    assert "Resultado cortado: aquí faltan" in page
    assert "cortado, de 1," in page


def test_an_answer_without_a_look_says_so(desk: Client, serve: Callable[..., LoopbackProvider]) -> None:
    serve("Todo está reservado.")
    assert "Respondió sin consultar nada" in ask(desk)


def test_what_model_and_person_wrote_is_text_without_links(desk: Client, serve: Callable[..., LoopbackProvider]) -> None:
    serve(asking_for(HOSTILE, **{HOSTILE: HOSTILE}), HOSTILE)
    page = ask(desk, HOSTILE)
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 3
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert 'href="http://127.0.0.1/trampa' not in page
    assert 'href="javascript' not in page


STOPS = [
    ({"stop": "max-steps"}, "máximo de consultas"),
    ({"stop": "context-window"}, "no cabe en una pregunta"),
    ({"stop": "budget", "cause": "budget"}, "tope de gasto de hoy"),
    ({"stop": "unavailable", "cause": "rate-limited"}, "El modelo no está disponible"),
    ({"stop": "unavailable", "cause": "busy"}, "Ya hay otra consulta en curso"),
    ({"stop": "unavailable", "cause": "timeout"}, "Se acabó el tiempo"),
    ({"stop": "unavailable", "cause": "not-configured"}, "no tiene un modelo configurado"),
    ({"stop": "unavailable", "cause": "crash"}, "Algo falló de nuestro lado"),
]


@pytest.mark.parametrize(("facts", "sentence"), STOPS)
def test_each_stop_is_said_in_plain_words(desk: Client, staff: User, now: dt.datetime, facts: dict[str, str], sentence: str) -> None:
    run = stored(staff, now, **facts)
    assert sentence in desk.get(f"{PAGE}{run.pk}/").content.decode()


def test_a_run_whose_process_is_gone_was_interrupted(desk: Client, staff: User, now: dt.datetime) -> None:
    for seconds, sentence in ((100, "Todavía está en curso"), (111, "Se interrumpió antes de terminar")):
        run = stored(staff, now, stop="", running_since=now - dt.timedelta(seconds=seconds))  # 60 + 20 + 30
        assert sentence in desk.get(f"{PAGE}{run.pk}/").content.decode()


def test_the_admin_says_so_too(client: Client, staff: User) -> None:
    client.force_login(User.objects.create_superuser("jefa"))
    now = timezone.now()
    for seconds, sentence in ((10, "En curso"), (111, "Se interrumpió")):
        run = stored(staff, now, stop="", running_since=now - dt.timedelta(seconds=seconds))
        assert f'field-how_it_ended">{sentence}<' in client.get("/admin/assistant/agentrun/").content.decode()
        assert f'<div class="readonly">{sentence}</div>' in client.get(f"/admin/assistant/agentrun/{run.pk}/change/").content.decode()


# --- Asking ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "sentence"), [("", "Escribe qué quieres saber."), ("  ", "Escribe"), ("x" * 501, "Aquí caben 500")])
def test_a_task_that_is_none_keeps_the_page_and_the_words(desk: Client, task: str, sentence: str) -> None:
    response = desk.post(PAGE, {"task": task})
    assert response.status_code == 400
    assert sentence in response.content.decode()
    assert not AgentRun.objects.exists()


def test_the_same_form_twice_is_one_task(desk: Client, serve: Callable[..., LoopbackProvider]) -> None:
    provider = serve("Listo.")
    key = str(uuid.uuid4())
    assert "Listo." in ask(desk, key=key)
    assert "Listo." in ask(desk, key=key)
    assert (AgentRun.objects.count(), len(provider.calls)) == (1, 1)


def test_a_form_whose_key_is_none_is_a_task_of_its_own(desk: Client, serve: Callable[..., LoopbackProvider]) -> None:
    serve("Listo.")
    for key in ("", "x", "x"):
        ask(desk, key=key)
    assert AgentRun.objects.count() == 3


def test_over_the_limit_it_says_when_to_come_back_and_keeps_the_words(
    desk: Client, settings: Any, serve: Callable[..., LoopbackProvider]
) -> None:
    settings.AGENT_PER_MINUTE = 1
    serve("Listo.")
    ask(desk)
    response = desk.post(PAGE, {"task": "¿Y el miércoles?"})
    assert (response.status_code, response.headers["Retry-After"]) == (429, "60")
    assert "Vuelve a probar en 1 minuto." in response.content.decode()
    assert "¿Y el miércoles?" in response.content.decode()


def test_tools_that_do_not_go_together_close_the_agent(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def lethal(now: dt.datetime, *, tell: Any) -> Any:
        rest = frozenset(set(Capability) - {Capability.PRIVATE_DATA})
        yield (*staff_tools(now), Tool("send", "Manda.", {"type": "object"}, str, read_only=True, capabilities=rest))

    monkeypatch.setattr("assistant.views.open_tools", lethal)
    response = desk.post(PAGE, {"task": "¿Qué hay el martes?"})
    assert response.status_code == 503
    assert "no puede usar juntas las herramientas" in response.content.decode()
    assert not AgentRun.objects.exists()


# --- Yes or no ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a tool that writes was made to write."""
    written: list[str] = []

    def add(arguments: dict[str, Any]) -> str:
        written.append(arguments["text"])
        return "Anotado."

    @contextmanager
    def with_agenda(now: dt.datetime, *, tell: Any) -> Any:
        tool = Tool("add_note", "Anota.", {"type": "object"}, add, read_only=False, capabilities=frozenset(), origin="agenda")
        yield (*staff_tools(now), tool)

    monkeypatch.setattr("assistant.views.open_tools", with_agenda)
    return written


@pytest.mark.parametrize(("decision", "written"), [("yes", ["<b>hola</b>"]), ("no", []), ("", [])])
def test_a_call_that_writes_is_shown_and_waits(
    desk: Client, notes: list[str], serve: Callable[..., LoopbackProvider], decision: str, written: list[str]
) -> None:
    serve(asking_for("add_note", text="<b>hola</b>"), "Listo.")
    page = ask(desk, "Anota hola.")
    assert "no es solo leer" in page
    assert "  &quot;text&quot;: &quot;&lt;b&gt;hola&lt;/b&gt;&quot;\n" in page
    assert notes == []
    run = AgentRun.objects.get()
    given = {"call": run.waiting_call, "decision": decision}
    page = desk.post(f"{PAGE}{run.pk}/", given, follow=True).content.decode()
    assert notes == written
    assert "Listo." in page
    late = desk.post(f"{PAGE}{run.pk}/", given | {"decision": "yes"}, follow=True).content.decode()
    assert "Eso ya se había decidido" in late
    assert notes == written


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("", "{}"),
        ('{"text": "t\\u00e9cnico", "n": 1}', '{\n  "text": "técnico",\n  "n": 1\n}'),
        ('{"a": "x\\u202egro.livE"}', '{\n  "a": "x\\u202egro.livE"\n}'),  # would read backwards
        ('{"a": "x\u200by\\u0000"}', '{\n  "a": "x\\u200by\\u0000"\n}'),
    ],
)
def test_a_person_sees_all_of_what_they_decide_about(written: str, shown: str) -> None:
    assert show_arguments(written) == shown


# --- Bounds ---------------------------------------------------------------------------------------------------------------


def queries_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as seen:
        assert client.get(address).status_code == 200
    return len(seen)


def test_its_queries_do_not_grow_with_its_rows(desk: Client, staff: User, now: dt.datetime) -> None:
    step = {"label": "x()", "arguments": "{}", "result": "r", "resultChars": 1, "ok": True, "wasCut": False}
    step |= {"contextTokens": 5, "costMicroUsd": 1}
    run = stored(staff, now, steps=[step])
    desk.get(PAGE)
    few = queries_of(desk, PAGE), queries_of(desk, f"{PAGE}{run.pk}/")
    for number in range(50):
        stored(staff, now, masked_task=f"pregunta {number}", steps=[step] * 8)
    many = queries_of(desk, PAGE), queries_of(desk, f"{PAGE}{run.pk}/")
    assert all(late <= early + 1 for early, late in zip(few, many, strict=True))  # one more: whether there is another page
    assert max(many) <= 10


def test_engineers_read_runs_in_the_admin_and_change_nothing(client: Client, staff: User, now: dt.datetime) -> None:
    for number in range(30):
        run = stored(staff, now, masked_task=f"pregunta {number}", cost_micro_usd=420)
    client.force_login(User.objects.create_superuser("jefa"))
    listed = client.get("/admin/assistant/agentrun/").content.decode()
    assert "pregunta 29" in listed
    assert "0.000420" in listed
    opened = client.get(f"/admin/assistant/agentrun/{run.pk}/change/")
    assert opened.status_code == 200
    assert "_save" not in opened.content.decode()
    assert queries_of(client, "/admin/assistant/agentrun/") <= 12
