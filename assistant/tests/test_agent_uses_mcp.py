"""The staff's page with tools of an MCP server: switched on by a setting, asked before it writes, left out when it is not as reviewed."""

import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import mcp_types as types
import pytest
from django.contrib.auth.models import Permission, User
from django.core.checks import run_checks
from django.test import Client

from assistant import mcp_allowlist
from assistant.models import AgentRun
from assistant.tests.agent_models import asking_for, playing
from assistant.tests.loopback_provider import LoopbackProvider
from assistant.tests.neighbours import point_at
from assistant.tests.pinned_servers import HOSTILE, READ_FILE, Stranger, listening
from assistant.tools import Capability
from bookings.models import Member

PAGE = "/asistente/equipo/"
NEAR = frozenset({Capability.UNTRUSTED_CONTENT})
Serve = Callable[..., LoopbackProvider]


@pytest.fixture
def desk(db: None, client: Client) -> Client:
    """The browser of somebody who may use the agent."""
    user = User.objects.create_user("desk", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="use_agent"))
    client.force_login(user)
    return client


@pytest.fixture
def stranger(settings: Any) -> Iterator[Stranger]:
    """A server that the setting names."""
    settings.AGENT_MCP_SERVERS = ["forastero"]
    with listening() as stranger:
        yield stranger


@pytest.fixture
def serve(settings: Any, stranger: Stranger) -> Iterator[Serve]:
    """Makes a server with this script the site's model while the test lasts; both addresses are allowed."""
    opened: list[LoopbackProvider] = []

    def start(*turns: Any) -> LoopbackProvider:
        opened.append(LoopbackProvider(playing(*turns)).__enter__())
        point_at(settings, opened[-1])
        settings.OUTBOUND_ALLOWED_HOSTS = [*settings.OUTBOUND_ALLOWED_HOSTS, f"127.0.0.1:{stranger.port}"]
        return opened[-1]

    yield start
    for provider in opened:
        provider.__exit__()


@pytest.fixture
def pin(monkeypatch: pytest.MonkeyPatch, stranger: Stranger) -> Callable[..., None]:
    """Puts the server, as it is now, on the list."""

    def put(**entry: Any) -> None:
        monkeypatch.setattr(mcp_allowlist, "SERVERS", {"forastero": stranger.pinned(**{"capabilities": NEAR, **entry})})

    return put


def ask(client: Client, task: str = "¿Qué dice el README?") -> str:
    """The page that comes of a task, without its random keys: they hold any three figures now and then."""
    page = client.post(PAGE, {"task": task, "key": str(uuid.uuid4())}, follow=True).content.decode()
    return re.sub(r'(name="(?:csrfmiddlewaretoken|key)" value=")[\w-]+"', r'\1"', page)


def offered(provider: LoopbackProvider) -> list[str]:
    return [tool["function"]["name"] for tool in provider.calls[0].payload["tools"]]


def test_a_reviewed_server_that_only_reads_is_asked_at_once(desk: Client, stranger: Stranger, serve: Serve, pin: Any) -> None:
    pin()
    provider = serve(asking_for("forastero__read_file", path="README.md"), "Ya lo leí.")
    page = ask(desk)
    assert "forastero__read_file" in offered(provider)
    assert stranger.asked == [{"name": "read_file", "arguments": {"path": "README.md"}}]
    assert "forastero__read_file(README.md)" in page
    assert "Ya lo leí." in page


def test_a_server_that_is_named_twice_is_used_once(desk: Client, settings: Any, serve: Serve, pin: Any) -> None:
    pin()
    settings.AGENT_MCP_SERVERS *= 2
    provider = serve("Ya lo leí.")
    assert "Ya lo leí." in ask(desk)
    assert offered(provider).count("forastero__read_file") == 1


@pytest.mark.parametrize(("decision", "asked"), [("yes", [{"name": "read_file", "arguments": {"path": "a"}}]), ("no", [])])
def test_one_that_may_write_waits_for_a_yes(
    desk: Client, stranger: Stranger, serve: Serve, pin: Any, decision: str, asked: list[Any]
) -> None:
    pin(read_only=False)
    serve(asking_for("forastero__read_file", path="a"), "Listo.")
    assert "no es solo leer" in ask(desk)
    assert stranger.asked == []
    run = AgentRun.objects.get()
    page = desk.post(f"{PAGE}{run.pk}/", {"call": run.waiting_call, "decision": decision}, follow=True).content.decode()
    assert stranger.asked == asked
    assert "Listo." in page


def test_what_it_says_is_masked_and_shown_as_text(desk: Client, stranger: Stranger, serve: Serve, pin: Any) -> None:
    Member.objects.create(name="Rosa Quispe", phone="987654321")
    stranger.answer = types.CallToolResult(content=[types.TextContent(text="<b>Rosa Quispe</b>, celular 987 654 321")])
    pin()
    provider = serve(asking_for("forastero__read_file", path="a"), "Listo.")
    page = ask(desk)
    told = provider.calls[1].payload["messages"][-1]["content"]
    assert "<b>" in told
    assert "&lt;b&gt;" in page
    assert [word for word in ("Rosa", "Quispe", "987", "<b>") if word in page] == []
    assert [word for word in ("Rosa", "Quispe", "987") if word in told] == []


def test_changed_words_leave_it_out_and_the_page_says_so(desk: Client, stranger: Stranger, serve: Serve, pin: Any) -> None:
    pin()
    stranger.tools = [READ_FILE.model_copy(update={"description": HOSTILE})]
    provider = serve("No pude leerlo.")
    page = ask(desk)
    assert "cambió lo que dice de su herramienta read_file. Hay que revisarlo otra vez. El agente siguió sin él." in page
    assert offered(provider) == ["get_availability", "list_bookings", "get_rules", "get_occupancy"]
    assert ".env" not in str(provider.calls[0].payload)


def test_words_that_change_while_a_call_waits_take_the_yes_away(desk: Client, stranger: Stranger, serve: Serve, pin: Any) -> None:
    pin(read_only=False)
    serve(asking_for("forastero__read_file", path="a"), "No se pudo.")
    ask(desk)
    stranger.tools = [READ_FILE.model_copy(update={"description": HOSTILE})]
    run = AgentRun.objects.get()
    page = desk.post(f"{PAGE}{run.pk}/", {"call": run.waiting_call, "decision": "yes"}, follow=True).content.decode()
    assert stranger.asked == []
    assert "cambió lo que dice de su herramienta read_file" in page
    assert "No se pudo." in page


def test_one_with_a_way_out_closes_the_agent(desk: Client, stranger: Stranger, serve: Serve, pin: Any) -> None:
    pin(capabilities=NEAR | {Capability.OUTWARD_CHANNEL})
    provider = serve("Listo.")
    assert "no puede usar juntas las herramientas" in ask(desk)
    assert (provider.calls, AgentRun.objects.count(), stranger.asked) == ([], 0, [])


def test_without_the_setting_no_server_is_called(desk: Client, settings: Any, stranger: Stranger, serve: Serve, pin: Any) -> None:
    settings.AGENT_MCP_SERVERS = []
    pin()
    provider = serve("Listo.")
    ask(desk)
    assert offered(provider) == ["get_availability", "list_bookings", "get_rules", "get_occupancy"]
    assert stranger.headers == []


def test_the_check_names_a_server_that_is_not_on_the_list(settings: Any) -> None:
    settings.AGENT_MCP_SERVERS = ["kallpa", "otro"]
    found = [error for error in run_checks() if error.id == "assistant.E001"]
    assert [error.msg.partition(" (")[0] for error in found] == ["El servidor MCP «otro» no está en la lista de los permitidos"]
