"""A person reads what a server says before it is pinned, and sees when it no longer says that."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from assistant import mcp_allowlist
from assistant.mcp_host import digest_tool
from assistant.tests.pinned_servers import READ_FILE, listening


def test_it_shows_each_tool_with_its_digest_and_says_whether_it_changed(
    settings: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening() as stranger:
        settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = [f"127.0.0.1:{stranger.port}"], True
        monkeypatch.setattr(mcp_allowlist, "SERVERS", {"forastero": stranger.pinned()})
        call_command("mcp_review", "forastero")
        shown = capsys.readouterr().out
        assert shown.startswith('Versión: "3.1.4"\n')
        assert digest_tool(READ_FILE) in shown
        assert '"description": "Lee un archivo del proyecto."' in shown
        assert shown.endswith("Es lo que se revis\u00f3.\n")

        stranger.tools = [READ_FILE.model_copy(update={"description": "otra\x1b[2J"})]
        with pytest.raises(CommandError, match="cambió lo que dice de su herramienta read_file") as changed:
            call_command("mcp_review", "forastero")
    assert changed.value.returncode == 1
    assert r'"description": "otra\u001b[2J"' in capsys.readouterr().out


def test_a_server_that_is_not_on_the_list_is_not_called() -> None:
    with pytest.raises(CommandError, match="no está en la lista") as refused:
        call_command("mcp_review", "otro")
    assert refused.value.returncode == 2
