"""`make mcp`: the conversation as one reads it."""

import json
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from bookings.models import Court
from kallpa.tests.processes import address_of_the_test_database

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.faults
def test_it_shows_each_message_and_what_came_back(
    court: Court, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", address_of_the_test_database())
    monkeypatch.setenv("LOG_LEVEL", "DEBUG")  # on stderr: a line of it among the messages would be no JSON
    call_command("mcp_demo")
    shown = capsys.readouterr().out
    asked = re.findall(r"^--> ([a-z_]+/[a-z_]+) ", shown, re.MULTILINE)
    answers: list[Any] = [json.loads(line) for line in re.findall(r"^<-- (.+)$", shown, re.MULTILINE)]
    results = [answer.get("result", {}) for answer in answers]
    assert asked == [
        "server/discover",
        "tools/list",
        "tools/call",
        "resources/read",
        "prompts/get",
        "tools/call",
        "tools/call",
        "tools/call",
        "bookings/delete_all",
    ]
    assert results[0]["supportedVersions"] == ["2026-07-28"]
    assert [tool["name"] for tool in results[1]["tools"]] == ["get_availability", "find_free_hours"]
    assert results[2]["structuredContent"]["occupied"] == []
    assert (results[5]["resultType"], list(results[5]["inputRequests"])) == ("input_required", ["date"])
    assert results[6]["structuredContent"] == results[2]["structuredContent"]
    assert results[7]["isError"]
    assert answers[8]["error"]["code"] == -32601
    assert results[9]["protocolVersion"] == "2025-11-25"
    assert answers[10]["method"] == "elicitation/create"
    assert results[11]["structuredContent"] == results[2]["structuredContent"]
    assert len(re.findall(r"^# ", shown, re.MULTILINE)) >= 9


def test_without_courts_it_says_how_to_make_some() -> None:
    with pytest.raises(CommandError, match=r"manage\.py seed_demo"):
        call_command("mcp_demo")
