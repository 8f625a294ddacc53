"""What `manage.py check` says about the assistant's settings."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error


def check_mcp_servers(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """An error for each name in AGENT_MCP_SERVERS that is not on the list."""
    from assistant.mcp_allowlist import ServerRefused, find_server  # late: each process has this check, and few make it

    found: list[CheckMessage] = []
    for name in settings.AGENT_MCP_SERVERS:
        try:
            find_server(name)
        except ServerRefused as refusal:
            found.append(Error(str(refusal), id="assistant.E001"))
    return found
