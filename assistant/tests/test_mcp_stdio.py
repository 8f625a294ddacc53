"""The server over stdio, in a process of its own, spoken to by the SDK's own client."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from assistant.mcp_texts import SERVER_VERSION
from assistant.tests.mcp_peers import PREVIOUS, answering, run, stdio_server
from bookings.clock import now_in_lima
from bookings.models import Court, Member
from bookings.services import book
from bookings.values import BookingRequest

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tomorrow(court: Court, member: Member) -> str:
    """Rosa plays tomorrow from 18 to 20 h."""
    now = now_in_lima()
    date = now.date() + dt.timedelta(days=1)
    book(member=member, court=court, request=BookingRequest("fulbito", date, 18, 2, "Las Vicuñas"), now=now)
    return date.isoformat()


async def talk(client: Client, court: Court, date: str) -> dict[str, Any]:
    """Each thing that the server offers, asked once, and one that it does not offer."""
    called = await client.call_tool("get_availability", {"courtId": court.pk, "date": date})
    asked = await client.call_tool("get_availability", {"courtId": court.pk})
    refused = await client.call_tool("get_availability", {"courtId": 99, "date": date})
    free = await client.call_tool("find_free_hours", {"sport": "fulbito", "hours": 3, "date": date})
    read = [await client.read_resource(uri) for uri in ("kallpa://rules", "kallpa://courts")]
    prompt = await client.get_prompt("summarize_day", {"date": date})
    with pytest.raises(MCPError) as unknown:
        await client.call_tool("create_booking", {})
    return {
        "revision": client.protocol_version,
        "version": client.server_info and client.server_info.version,
        "tools": [tool.name for tool in (await client.list_tools()).tools],
        "resources": [str(resource.uri) for resource in (await client.list_resources()).resources],
        "prompts": [one.name for one in (await client.list_prompts()).prompts],
        "occupied": (called.structured_content or {})["occupied"],
        "asked": (asked.structured_content or {}).get("occupied"),
        "refused": (refused.is_error, refused.content[0].text),  # type: ignore[union-attr]
        "starts": [start["startHour"] for start in (free.structured_content or {})["starts"]],
        "read": [resource.contents[0].text for resource in read],  # type: ignore[union-attr]
        "prompt": prompt.messages[0].content.text,  # type: ignore[union-attr]
        "unknown": unknown.value.code,
    }


@pytest.mark.parametrize(("mode", "revision"), [("auto", "2026-07-28"), pytest.param(PREVIOUS, "2025-11-25", marks=pytest.mark.faults)])
def test_the_sdks_client_gets_what_it_asks_in_both_revisions(court: Court, tomorrow: str, tmp_path: Path, mode: str, revision: str) -> None:
    person = answering("accept", tomorrow)

    async def conversation() -> dict[str, Any]:
        with (tmp_path / "stderr").open("w") as errors:
            transport = stdio_client(stdio_server(LOG_LEVEL="DEBUG"), errlog=errors)
            async with Client(transport, mode=mode, elicitation_callback=person) as client:
                return await talk(client, court, tomorrow)

    told = run(conversation)
    assert told["revision"] == revision
    assert told["version"] == SERVER_VERSION
    assert (told["tools"], told["prompts"]) == (["get_availability", "find_free_hours"], ["summarize_day"])
    assert told["resources"] == ["kallpa://rules", "kallpa://courts"]
    assert told["occupied"] == told["asked"] == [18, 19]
    assert person.asked == ["¿De qué fecha?"]
    assert told["refused"] == (True, "No hay una cancha con el número 99. El recurso kallpa://courts las lista.")
    assert told["starts"] == list(range(7, 16))
    assert told["read"][0].startswith("Abrimos todos los días de 7:00 a 22:00.")
    assert json.loads(told["read"][1])[0]["courtId"] == court.pk
    assert "ocupadas 18, 19" in told["prompt"]
    assert told["unknown"] == -32602
    assert " DEBUG mcp.server" in (tmp_path / "stderr").read_text()  # its log was on and went to stderr
