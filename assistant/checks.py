"""What `manage.py check` says about the assistant's settings."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error

from assistant.mcp_allowlist import ServerRefused, find_server


def check_mcp_servers(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """An error for each name in AGENT_MCP_SERVERS that is not on the list."""
    return [Error(str(refusal), id="assistant.E001") for refusal in map(_refusal, settings.AGENT_MCP_SERVERS) if refusal]


def _refusal(name: str) -> ServerRefused | None:
    try:
        find_server(name)
    except ServerRefused as refusal:
        return refusal
    return None
