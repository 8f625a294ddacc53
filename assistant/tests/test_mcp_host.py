"""Our agent uses servers that a person reviewed, as they were reviewed, and no other."""

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import mcp_types as types
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from assistant import mcp_allowlist, mcp_host, mcp_texts
from assistant.agent import Agent, Stop, decide_call, run_agent
from assistant.llm.scripted import ReplayModel, Turn
from assistant.mcp_allowlist import SERVERS, PinnedServer, PinnedTool, ServerRefused, ServerUnreachable, connect_tools, find_server
from assistant.mcp_host import digest_tool, load_tools
from assistant.mcp_server import http_app
from assistant.tests.mcp_peers import serving
from assistant.tests.pinned_servers import HOSTILE, READ_FILE, Stranger, as_events, listening, only_previous_revision
from assistant.tests.telling_mcp_server import TOOL as TELL
from assistant.tools import Capability, LethalTrifecta, Tool, ToolFailed, check_tools
from bookings.clock import now_in_lima
from bookings.models import Court
from kallpa.tokens import create_token

CHANGED = READ_FILE.model_copy(update={"description": HOSTILE})


@pytest.fixture(autouse=True)
def loopback_may_be_called(settings: Any) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK, settings.OUTBOUND_ALLOWED_HOSTS, settings.AGENT_MCP_TOKENS = True, [], {}


@pytest.fixture
def stranger(settings: Any) -> Iterator[Stranger]:
    """A server whose address is allowed."""
    with listening() as stranger:
        allow(settings, stranger)
        yield stranger


def allow(settings: Any, stranger: Stranger) -> None:
    settings.OUTBOUND_ALLOWED_HOSTS = [f"127.0.0.1:{stranger.port}"]


def reader() -> ReplayModel:
    """A model that asks for the stranger's tool and repeats what it was told."""
    return ReplayModel(
        [
            Turn(calls=(("forastero__read_file", {"path": "README.md"}),)),
            lambda request: Turn(f"Me dijo: {request.messages[-1]['content']}"),
        ]
    )


# --- What was reviewed is what is used ----------------------------------------------------------------------------------


def test_a_pinned_server_gives_its_tools(stranger: Stranger) -> None:
    (tool,) = load_tools(stranger.pinned())
    assert (tool.name, tool.description, tool.parameters) == (
        "forastero__read_file",
        "Lee un archivo del proyecto.",
        READ_FILE.input_schema,
    )
    assert (tool.origin, tool.read_only) == ("forastero", True)
    assert tool.run({"path": "a"}) == "leído: {'path': 'a'}"
    assert stranger.asked == [{"name": "read_file", "arguments": {"path": "a"}}]


def test_without_a_word_in_the_entry_a_tool_writes_reads_strangers_and_sends_out(stranger: Stranger) -> None:
    server = PinnedServer("forastero", stranger.version, {"read_file": PinnedTool(digest_tool(READ_FILE))}, url=stranger.url)
    (tool,) = load_tools(server)
    assert not tool.read_only
    assert tool.capabilities == {Capability.UNTRUSTED_CONTENT, Capability.OUTWARD_CHANNEL}


def test_such_a_tool_does_not_go_together_with_private_data(stranger: Stranger) -> None:
    bookings = Tool("list_bookings", "", {}, str, read_only=True, capabilities=frozenset({Capability.PRIVATE_DATA}))
    with pytest.raises(LethalTrifecta):
        check_tools([bookings, *load_tools(stranger.pinned())])
    check_tools([bookings, *load_tools(stranger.pinned(capabilities=frozenset({Capability.UNTRUSTED_CONTENT})))])


def test_a_server_that_is_not_on_the_list_is_refused_and_never_called(stranger: Stranger) -> None:
    with pytest.raises(ServerRefused, match=r"El servidor MCP «forastero» no está en la lista de los permitidos"):
        connect_tools(["forastero"])
    assert stranger.headers == []


def test_no_names_no_tools() -> None:
    assert connect_tools([]) == ()


def test_another_version_is_refused(stranger: Stranger) -> None:
    with pytest.raises(ServerRefused, match=r"no es la versión revisada \(3\.1\.3\)"):
        load_tools(stranger.pinned(version="3.1.3"))


@pytest.mark.parametrize(
    ("tools", "sentence"),
    [
        ([CHANGED], "cambió lo que dice de su herramienta read_file"),
        ([READ_FILE.model_copy(update={"title": "otro"})], "cambió lo que dice de su herramienta read_file"),
        ([READ_FILE.model_copy(update={"input_schema": {"type": "object"}})], "cambió lo que dice de su herramienta read_file"),
        ([READ_FILE.model_copy(update={"output_schema": {"type": "object"}})], "cambió lo que dice de su herramienta read_file"),
        ([READ_FILE, READ_FILE.model_copy(update={"name": "run\n"})], r"ofrece una herramienta que nadie revisó: 'run\n'"),
        ([READ_FILE, READ_FILE], "ofrece dos veces su herramienta read_file"),
        ([CHANGED, READ_FILE], "cambió lo que dice de su herramienta read_file"),
        ([], "ya no ofrece su herramienta read_file"),
    ],
)
def test_other_words_than_those_reviewed_are_refused_by_name(stranger: Stranger, tools: list[types.Tool], sentence: str) -> None:
    reviewed = stranger.pinned()
    stranger.tools = tools
    with pytest.raises(ServerRefused) as refused:
        load_tools(reviewed)
    assert sentence in str(refused.value)
    assert ".env" not in str(refused.value)


def test_words_that_change_between_two_calls_are_refused_at_the_second(stranger: Stranger) -> None:
    (tool,) = load_tools(stranger.pinned())
    tool.run({"path": "a"})
    stranger.tools = [CHANGED]
    with pytest.raises(ToolFailed, match="cambió lo que dice"):
        tool.run({"path": "b"})
    assert [call["arguments"] for call in stranger.asked] == [{"path": "a"}]


def test_what_a_later_page_adds_is_seen_too(stranger: Stranger) -> None:
    reviewed = stranger.pinned()
    stranger.tools, stranger.pages = [READ_FILE, READ_FILE.model_copy(update={"name": "run"})], 2
    with pytest.raises(ServerRefused, match="que nadie revisó: 'run'"):
        load_tools(reviewed)


# --- What a description does, and what the agent does about it ----------------------------------------------------------


def test_control_the_description_of_a_connected_server_goes_into_the_prompt_as_it_is(
    stranger: Stranger, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviewed = stranger.pinned()
    stranger.tools = [CHANGED]
    monkeypatch.setattr(mcp_host, "check_offer", lambda server, offer: None)
    model = reader()
    run_agent("¿Qué dice el README?", agent=Agent(model, load_tools(reviewed)))
    offered = [tool["function"]["description"] for request in model.calls for tool in request.tools]
    assert offered == [HOSTILE, HOSTILE]


def test_a_tool_that_may_write_waits_for_a_persons_yes(stranger: Stranger) -> None:
    answers = []
    for approved in (False, True):
        agent = Agent(reader(), load_tools(stranger.pinned(read_only=False)))
        waiting = run_agent("Lee el README", agent=agent)
        assert (waiting.stop, stranger.asked) == (Stop.APPROVAL, [])
        answers.append(decide_call(waiting, approved=approved, agent=agent).answer)
    assert answers == ["Me dijo: La persona no autorizó esta acción. No se hizo nada.", "Me dijo: leído: {'path': 'README.md'}"]


def test_its_annotations_are_not_believed(stranger: Stranger) -> None:
    harmless = types.ToolAnnotations(read_only_hint=True, destructive_hint=False)
    stranger.tools = [READ_FILE.model_copy(update={"annotations": harmless})]
    assert [tool.read_only for tool in load_tools(stranger.pinned(read_only=False))] == [False]


def test_its_errors_and_what_is_no_text_are_results_like_any_other(stranger: Stranger) -> None:
    (tool,) = load_tools(stranger.pinned())
    image = types.ImageContent(data="AAAA", mime_type="image/png")
    stranger.answer = types.CallToolResult(content=[types.TextContent(text="no hay archivo"), image], is_error=True)
    assert tool.run({"path": "a"}) == "Error del servidor: no hay archivo\n[El servidor mandó algo que no es texto.]"


# --- How it is reached --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hosts", "loopback"), [([], True), (["127.0.0.1:{port}"], False), (["127.0.0.1:1"], True)])
def test_an_address_that_the_outbound_policy_refuses_is_never_called(settings: Any, hosts: list[str], loopback: bool) -> None:
    with listening() as stranger:
        settings.OUTBOUND_ALLOWED_HOSTS = [host.format(port=stranger.port) for host in hosts]
        settings.OUTBOUND_ALLOW_LOOPBACK = loopback
        with pytest.raises(ServerRefused, match=r"no está permitida: OUTBOUND_ALLOWED_HOSTS"):
            load_tools(stranger.pinned())
        assert stranger.headers == []


def test_the_token_of_the_settings_goes_to_its_server_alone(stranger: Stranger, settings: Any) -> None:
    settings.AGENT_MCP_TOKENS = {"otro": "secreto-de-otro"}
    load_tools(stranger.pinned())
    settings.AGENT_MCP_TOKENS |= {"forastero": "secreto-suyo"}
    load_tools(stranger.pinned())
    assert [headers.get("authorization") for headers in stranger.headers] == [None, "Bearer secreto-suyo"]


@pytest.mark.parametrize(("wrap", "stateless"), [(as_events, True), (only_previous_revision, False)])
def test_streams_of_events_and_the_previous_revision_with_its_sessions_are_spoken_too(settings: Any, wrap: Any, stateless: bool) -> None:
    with listening(wrap=wrap, stateless=stateless) as stranger:
        allow(settings, stranger)
        (tool,) = load_tools(stranger.pinned())
        assert tool.run({"path": "a"}) == "leído: {'path': 'a'}"


@pytest.mark.parametrize("status", [200, 302, 401, 404, 500])
def test_a_server_that_does_not_speak_mcp_is_unreachable(settings: Any, status: int) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": status, "headers": [(b"location", b"http://127.0.0.1:1/")]})
            await send({"type": "http.response.body", "body": b"<html>"})

    with serving(app) as port:
        stranger = Stranger(port=port)
        allow(settings, stranger)
        with pytest.raises(ServerUnreachable, match="no responde"):
            load_tools(stranger.pinned())


def test_a_server_that_never_answers_costs_a_bounded_time(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        while scope["type"] == "http" and (await receive())["type"] != "http.disconnect":
            pass

    monkeypatch.setattr(mcp_host, "PATIENCE_S", 0.5)
    with serving(app) as port:
        stranger = Stranger(port=port)
        allow(settings, stranger)
        began = time.monotonic()
        with pytest.raises(ServerUnreachable):
            load_tools(stranger.pinned())
        assert time.monotonic() - began < 20  # far below what the test's own server would wait


def test_an_answer_without_end_is_cut_off(settings: Any, stranger: Stranger) -> None:
    (tool,) = load_tools(stranger.pinned())
    stranger.answer = types.CallToolResult(content=[types.TextContent(text="x" * 2_000_000)])
    with pytest.raises(ToolFailed, match="no responde"):
        tool.run({"path": "a"})


def test_a_process_gets_none_of_our_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LLM_API_KEY", "SECRET_KEY", "DATABASE_URL"):
        monkeypatch.setenv(name, "secreto")
    command = (sys.executable, "-m", "assistant.tests.telling_mcp_server")
    server = PinnedServer("local", "1", {"tell_environment": PinnedTool(digest_tool(TELL), read_only=True)}, command=command)
    (tool,) = load_tools(server)
    told = set(tool.run({}).split())
    assert "PATH" in told
    assert told & {"LLM_API_KEY", "SECRET_KEY", "DATABASE_URL"} == set()


def test_a_command_that_does_not_exist_is_unreachable() -> None:
    with pytest.raises(ServerUnreachable):
        load_tools(PinnedServer("local", "1", {}, command=("no-such-server",)))


# --- The one that is on the list ----------------------------------------------------------------------------------------


def test_the_entry_for_our_own_server_is_as_its_texts_are() -> None:
    entry = SERVERS["kallpa"]
    digests = {tool["name"]: digest_tool(types.Tool.model_validate(tool)) for tool in mcp_texts.TOOLS}
    assert (entry.version, {name: tool.digest for name, tool in entry.tools.items()}) == (mcp_texts.SERVER_VERSION, digests)


def test_every_entry_names_itself_and_one_way_to_reach_it() -> None:
    assert [name for name, server in SERVERS.items() if server.name != name or bool(server.command) == bool(server.url)] == []


def test_every_tool_on_the_list_has_a_name_that_models_take() -> None:
    names = [f"{server.name}__{tool}" for server in SERVERS.values() for tool in server.tools]
    assert [name for name in names if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)] == []


@pytest.mark.django_db(transaction=True)
def test_our_own_server_is_used_over_http_with_its_token(settings: Any, court: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = create_token(name="agente", scopes=["mcp"], owner=User.objects.create_user("rosa"), days=1, now=timezone.now()).secret
    with serving(http_app(host="127.0.0.1")) as port:
        here = replace(find_server("kallpa"), url=f"http://127.0.0.1:{port}/mcp")
        monkeypatch.setattr(mcp_allowlist, "SERVERS", {"kallpa": here})
        settings.OUTBOUND_ALLOWED_HOSTS = [f"127.0.0.1:{port}"]
        with pytest.raises(ServerUnreachable):
            connect_tools(["kallpa"])
        settings.AGENT_MCP_TOKENS = {"kallpa": secret}
        tools = {tool.name: tool for tool in connect_tools(["kallpa"])}
        assert list(tools) == ["kallpa__get_availability", "kallpa__find_free_hours"]
        today = now_in_lima().date().isoformat()
        assert "Fulbito 1 (Fulbito)" in tools["kallpa__get_availability"].run({"courtId": court.pk, "date": today})
        missing = tools["kallpa__get_availability"].run({"courtId": court.pk})
    assert missing == "Error del servidor: Falta la fecha: date, como AAAA-MM-DD."
