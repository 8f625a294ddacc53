"""Which tools the staff's agent has: our own, and those of the MCP servers that the settings name and a person reviewed."""

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings

from assistant.mcp_allowlist import McpProblem, connect_tools
from assistant.staff_tools import staff_tools
from assistant.tools import Tool


@contextmanager
def open_tools(now: dt.datetime, *, tell: Callable[[str], object]) -> Iterator[tuple[Tool, ...]]:
    """The agent's tools, good while the block runs; a server that cannot be used is left out, and `tell` hears why. `now` is aware."""
    tools = staff_tools(now)
    for name in dict.fromkeys(settings.AGENT_MCP_SERVERS):
        try:
            tools += connect_tools([name])
        except McpProblem as problem:
            tell(f"{problem} El agente siguió sin él.")
    yield tools
