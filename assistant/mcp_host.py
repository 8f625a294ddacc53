"""The host's side of MCP: connects to pinned servers only, and hands out their tools for the agent.

Each conversation is a connection of its own, on which version and descriptions are checked before anything is asked: a server that
changes its words between two calls is refused at the second. Its instructions never enter a prompt, and it can ask us nothing.
"""

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import anyio
import mcp_types as types
from django.conf import settings
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from assistant.mcp_allowlist import McpProblem, PinnedServer, ServerRefused, ServerUnreachable
from assistant.mcp_outbound import outbound_transport
from assistant.tools import Tool, ToolFailed
from kallpa.outbound import AddressRefused, Deadline, shared_client

PATIENCE_S = 10.0
MAX_PAGES = 10
US = types.Implementation(name="kallpa-agente", version="1")
AT_SETTINGS = "OUTBOUND_ALLOWED_HOSTS, OUTBOUND_ALLOW_LOOPBACK y OUTBOUND_ALLOW_PRIVATE dicen a quién se llama"
NOT_TEXT = "[El servidor mandó algo que no es texto.]"

logger = logging.getLogger(__name__)
Said = TypeVar("Said")


class Offer(NamedTuple):
    """What a server says of itself."""

    version: str
    tools: list[types.Tool]


def load_tools(server: PinnedServer) -> tuple[Tool, ...]:
    """The tools of a pinned server, named `server__tool`. Raises ServerRefused or ServerUnreachable."""

    async def list_them(client: Client) -> list[types.Tool]:
        return await _checked_tools(server, client)

    return tuple(_as_tool(server, tool) for tool in _converse(server, list_them))


def read_offer(server: PinnedServer) -> Offer:
    """What a server on the list offers now, unchecked, for a person to review. Raises ServerUnreachable."""

    async def read(client: Client) -> Offer:
        return Offer(_version(client), await _list_tools(client))

    return _converse(server, read)


def digest_tool(tool: types.Tool) -> str:
    """SHA-256 (hex) of all that the tool says about itself and that could reach a model or a check of ours."""
    said = tool.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"icons", "meta"})
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def check_offer(server: PinnedServer, offer: Offer) -> None:
    """Raises ServerRefused, with a sentence that names the tool, when the offer is not what was reviewed."""
    if offer.version != server.version:
        raise ServerRefused(f"El servidor MCP «{server.name}» no es la versión revisada ({server.version}). Hay que revisarlo otra vez.")
    for problem in _differences(server, offer.tools):
        raise ServerRefused(f"El servidor MCP «{server.name}» {problem}. Hay que revisarlo otra vez.")


def _differences(server: PinnedServer, offered: list[types.Tool]) -> Iterator[str]:
    left = dict(server.tools)
    for tool in offered:
        if tool.name not in server.tools:
            yield f"ofrece una herramienta que nadie revisó: {tool.name[:60]!a}"
        elif digest_tool(tool) != server.tools[tool.name].digest:
            yield f"cambió lo que dice de su herramienta {tool.name}"
        elif left.pop(tool.name, None) is None:
            yield f"ofrece dos veces su herramienta {tool.name}"
    for name in left:
        yield f"ya no ofrece su herramienta {name}"


# --- A tool of theirs as one of ours ------------------------------------------------------------------------------------


def _as_tool(server: PinnedServer, tool: types.Tool) -> Tool:
    return Tool(
        f"{server.name}__{tool.name}",
        tool.description or "",
        tool.input_schema,
        partial(_call_tool, server, tool.name),
        read_only=server.tools[tool.name].read_only,
        capabilities=server.capabilities,
        origin=server.name,
    )


def _call_tool(server: PinnedServer, name: str, arguments: dict[str, Any]) -> str:
    """What the tool says, errors of its own included: all of it is their text. Raises ToolFailed, without a word of theirs."""

    async def call(client: Client) -> str:
        await _checked_tools(server, client)
        result = await client.call_tool(name, arguments)
        said = "\n".join(part.text if isinstance(part, types.TextContent) else NOT_TEXT for part in result.content)
        return f"Error del servidor: {said}" if result.is_error else said

    try:
        return _converse(server, call)
    except McpProblem as problem:
        raise ToolFailed(str(problem)) from None


# --- A conversation -----------------------------------------------------------------------------------------------------


def _converse(server: PinnedServer, talk: Callable[[Client], Awaitable[Said]]) -> Said:
    """What `talk` comes to on a connection of its own. Raises McpProblem."""
    try:
        outcome = anyio.run(_connect_and_talk, server, talk)
    except (MCPError, OSError, TimeoutError, ValidationError, ExceptionGroup) as error:
        if isinstance(error, ExceptionGroup) and error.subgroup(AddressRefused):
            raise ServerRefused(f"La dirección del servidor MCP «{server.name}» no está permitida: {AT_SETTINGS}.") from None
        logger.warning("mcp server %s does not answer: %s", server.name, type(_first_cause(error)).__name__)
        raise ServerUnreachable(f"El servidor MCP «{server.name}» no responde, o responde con un error.") from None
    if isinstance(outcome, McpProblem):
        logger.error("mcp server refused: %s", outcome)
        raise outcome
    return outcome


async def _connect_and_talk(server: PinnedServer, talk: Callable[[Client], Awaitable[Said]]) -> Said | McpProblem:
    """A refusal is returned, not raised: on its way through the SDK's task groups it would become a group of exceptions."""
    with anyio.fail_after(PATIENCE_S):
        async with Client(_transport(server), client_info=US, cache=None) as client:
            try:
                return await talk(client)
            except McpProblem as problem:
                return problem


def _transport(server: PinnedServer) -> Any:
    """Over HTTP through our own client. A process gets PATH, HOME and the like from the SDK, and none of our settings."""
    if server.command:
        command, *arguments = server.command
        return stdio_client(StdioServerParameters(command=command, args=arguments, cwd=settings.BASE_DIR))
    token = settings.AGENT_MCP_TOKENS.get(server.name)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return outbound_transport(server.url, headers=headers, client=shared_client(), deadline=Deadline(PATIENCE_S))


async def _checked_tools(server: PinnedServer, client: Client) -> list[types.Tool]:
    offer = Offer(_version(client), await _list_tools(client))
    check_offer(server, offer)
    return offer.tools


async def _list_tools(client: Client) -> list[types.Tool]:
    tools: list[types.Tool] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return tools


def _version(client: Client) -> str:
    return client.server_info.version if client.server_info else ""


def _first_cause(error: Exception) -> Exception:
    """What a group of exceptions began with."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
