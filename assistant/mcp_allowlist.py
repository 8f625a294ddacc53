"""The MCP servers that the agent may use: reviewed by a person, pinned to what was reviewed. Any other is refused.

To connect a server is to add a dependency that also speaks to the model. Before an entry is written: who maintains it, what does it
receive, where can it send it, and what do its descriptions say? `manage.py mcp_review NAME` shows the descriptions and their digests.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from assistant.tools import Capability, Tool


class McpProblem(Exception):  # noqa: N818 -- an error is named after what happened
    """A server is not used; the text is a sentence in Spanish for a person; of the server's words it holds at most a tool's name."""


class ServerRefused(McpProblem):
    """The server is not on the list, or is not what was reviewed."""


class ServerUnreachable(McpProblem):
    """The server on the list does not answer as an MCP server."""


class PinnedTool(NamedTuple):
    """SHA-256 of all that a tool says about itself. A tool that is not `read_only` runs only after a person's yes."""

    digest: str
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class PinnedServer:
    """A server that was reviewed: started by `command` or called at `url`, in this version, with these tools and no other.

    `capabilities` is what each of its tools can do: without a reason to say less, its answers are untrusted and what it is asked leaves us.
    """

    name: str
    version: str
    tools: Mapping[str, PinnedTool]
    command: tuple[str, ...] = ()
    url: str = ""
    capabilities: frozenset[Capability] = field(default=frozenset({Capability.UNTRUSTED_CONTENT, Capability.OUTWARD_CHANNEL}))


SERVERS: Mapping[str, PinnedServer] = {
    # Ours, `manage.py mcp_server --http` on the same machine: it sends nothing on. Court names in its answers are written by staff.
    "kallpa": PinnedServer(
        "kallpa",
        version="1.0.0",
        tools={
            "get_availability": PinnedTool("629555b94410a2941cd30aeca838fbf9a0c63e4a2596a778024bd054e86c5370", read_only=True),
            "find_free_hours": PinnedTool("7f871e7558239b6e7ea8679e708a19d3061cb22795320bcab657a7b61aabbddc", read_only=True),
        },
        url="http://127.0.0.1:8765/mcp",
        capabilities=frozenset({Capability.UNTRUSTED_CONTENT}),
    ),
}


def find_server(name: str) -> PinnedServer:
    """The server of this name; raises ServerRefused when it is not on the list."""
    if name not in SERVERS:
        raise ServerRefused(f"El servidor MCP «{name}» no está en la lista de los permitidos (assistant/mcp_allowlist.py).")
    return SERVERS[name]


def connect_tools(names: Iterable[str]) -> tuple[Tool, ...]:
    """The tools of these servers, each checked against what was reviewed. No names, no tools. Raises McpProblem."""
    servers = [find_server(name) for name in names]
    if not servers:
        return ()
    from assistant.mcp_host import load_tools  # late: loads the SDK, which the site starts without

    return tuple(tool for server in servers for tool in load_tools(server))
