"""The server over Streamable HTTP: who may enter, from where, how much, and the SDK's own client inside."""

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from assistant import mcp_server, public_facts
from assistant.mcp_server import MAX_BODY_BYTES, http_app
from assistant.tests.mcp_peers import MODERN, PREVIOUS, HttpProcess, answering, ask, http_client, post, run, serving
from bookings.clock import now_in_lima
from bookings.models import Court
from kallpa.models import ApiToken
from kallpa.tokens import NewToken, create_token, revoke_token

pytestmark = pytest.mark.django_db(transaction=True)
LIST = ask("tools/list")


@pytest.fixture
def token() -> NewToken:
    return make_token("mcp")


def make_token(*scopes: str) -> NewToken:
    owner, _ = User.objects.get_or_create(username="rosa")
    return create_token(name="editor", scopes=scopes, owner=owner, days=1, now=timezone.now())


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where this process serves it, so that a control can take a protection away."""
    with serving(http_app(host="127.0.0.1")) as port:
        yield port


def enter(port: int, secret: str, message: Any = LIST, **headers: str) -> tuple[int, Any]:
    return post(port, message, **{"Authorization": f"Bearer {secret}", **headers})


def test_with_a_token_of_its_scope_one_enters(port: int, token: NewToken) -> None:
    status, answer = enter(port, token.secret)
    assert status == 200
    assert [tool["name"] for tool in answer["result"]["tools"]] == ["get_availability", "find_free_hours"]


def test_without_one_nothing_is_answered(port: int, token: NewToken) -> None:
    over = make_token("mcp")
    ApiToken.objects.filter(pk=over.row.pk).update(created_at=timezone.now() - dt.timedelta(days=9), expires_at=timezone.now())
    refused = [
        post(port, LIST),
        post(port, LIST, Authorization=token.secret),
        post(port, LIST, Authorization=f"Basic {token.secret}"),
        post(port, LIST, path=f"/mcp?access_token={token.secret}"),
        post(port, LIST, path="/"),
        enter(port, token.secret[:-1]),
        enter(port, make_token("gate", "metrics").secret),
        enter(port, over.secret),
        post(port, b"{", Mcp_Protocol_Version=""),
    ]
    assert [status for status, _ in refused] == [401] * len(refused)
    assert {body for _, body in refused} == {"Falta un token con el permiso mcp, o el que mandaste no vale."}


def test_a_revoked_token_is_refused_on_the_next_request(port: int, token: NewToken) -> None:
    assert enter(port, token.secret)[0] == 200
    revoke_token(token=token.row, now=timezone.now())
    assert enter(port, token.secret)[0] == 401


def test_it_is_refused_once_its_owner_may_not_log_in(port: int, token: NewToken) -> None:
    User.objects.update(is_active=False)
    assert enter(port, token.secret)[0] == 401


def test_control_without_the_check_anybody_enters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_server, "_TokenRequired", lambda app: app)
    with serving(http_app(host="127.0.0.1")) as port:
        assert post(port, LIST)[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "localhost:8765"}, 200),
        ({"Origin": "http://localhost:6274"}, 200),
        ({"Host": "malo.example"}, 421),
        ({"Host": "127.0.0.1.malo.example:8765"}, 421),
        ({"Host": "0.0.0.0:8765"}, 421),
        ({"Origin": "https://malo.example"}, 403),
        ({"Origin": "http://127.0.0.1.malo.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_a_page_that_rebinds_its_name_to_this_machine_is_refused(port: int, token: NewToken, headers: dict[str, str], status: int) -> None:
    assert enter(port, token.secret, **headers)[0] == status
    assert enter(port, token.secret, **headers, Mcp_Protocol_Version="2025-11-25")[0] in {status, 200}


def test_control_without_the_names_any_host_and_origin_enter(monkeypatch: pytest.MonkeyPatch, token: NewToken) -> None:
    real = mcp_server.TransportSecuritySettings
    monkeypatch.setattr(mcp_server, "TransportSecuritySettings", lambda **names: real(enable_dns_rebinding_protection=False))
    with serving(http_app(host="127.0.0.1")) as port:
        assert enter(port, token.secret, Host="malo.example", Origin="https://malo.example")[0] == 200


def test_the_sites_own_names_may_be_asked_for(settings: Any, token: NewToken) -> None:
    settings.ALLOWED_HOSTS, settings.CSRF_TRUSTED_ORIGINS = ["kallpa.example", "*.kallpa.example", "*"], ["https://kallpa.example"]
    with serving(http_app(host="0.0.0.0")) as port:  # noqa: S104 -- a name to compare with, not an address to bind
        assert enter(port, token.secret, Host="kallpa.example", Origin="https://kallpa.example")[0] == 200
        assert [enter(port, token.secret, Host=host)[0] for host in ("otro.kallpa.example", "malo.example")] == [421, 421]


def test_a_body_too_large_is_refused_before_it_is_read(port: int, token: NewToken) -> None:
    fits = json.dumps(LIST).encode().ljust(MAX_BODY_BYTES)
    usual = {"Mcp_Method": "tools/list"}
    assert enter(port, token.secret, fits, **usual)[0] == 200
    assert enter(port, token.secret, fits + b" ", **usual)[0] == 413
    assert post(port, fits + b" ", **usual)[0] == 401


@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        (ask("bookings/delete_all"), 404, -32601),
        (ask("tools/call", name="create_booking", arguments={}), 400, -32602),
        (ask("prompts/get", name="otro", arguments={}), 400, -32602),
        (b"{", 400, -32700),
        (b"[" * 10_000, 400, -32700),
        (b"[]", 400, -32600),
    ],
)
def test_what_it_does_not_offer_is_an_error_with_the_protocols_code(
    port: int, token: NewToken, message: Any, status: int, code: int
) -> None:
    answer = enter(port, token.secret, message)
    assert (answer[0], answer[1]["error"]["code"]) == (status, code)


def test_a_client_that_can_ask_nobody_is_told_what_is_missing(port: int, token: NewToken, court: Court) -> None:
    status, answer = enter(port, token.secret, ask("tools/call", name="get_availability", arguments={"courtId": court.pk}))
    result = answer["result"]
    assert (status, result["isError"], result["content"][0]["text"]) == (200, True, "Falta la fecha: date, como AAAA-MM-DD.")


@pytest.mark.parametrize("given", [{"action": "decline"}, {"action": "cancel"}])
def test_a_person_who_gives_no_date_is_not_asked_again(port: int, token: NewToken, court: Court, given: dict[str, str]) -> None:
    asked = ask("tools/call", name="get_availability", arguments={"courtId": court.pk}, inputResponses={"date": given})
    _, answer = enter(port, token.secret, asked)
    assert answer["result"]["content"][0]["text"] == "La persona no dio la fecha, así que no se consultó nada."


def test_what_a_person_gives_is_checked_as_what_a_model_gives(port: int, token: NewToken, court: Court) -> None:
    for content, sentence in (({"date": "ayer"}, "«ayer» no es una fecha"), ({}, "Falta la fecha"), ({"date": 7}, "«7» no es una fecha")):
        given = {"date": {"action": "accept", "content": content}}
        asked = ask("tools/call", name="get_availability", arguments={"courtId": court.pk}, inputResponses=given)
        _, answer = enter(port, token.secret, asked)
        assert answer["result"]["isError"]
        assert sentence in answer["result"]["content"][0]["text"]


def test_a_fault_of_ours_says_nothing_of_itself(
    port: int, token: NewToken, court: Court, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*asked: Any, **named: Any) -> Any:
        raise RuntimeError("la contraseña de la base es 1234")

    monkeypatch.setattr(public_facts, "day_grids", fail)
    asked = ask("tools/call", name="get_availability", arguments={"courtId": court.pk, "date": now_in_lima().date().isoformat()})
    _, answer = enter(port, token.secret, asked)
    assert answer["error"] == {"code": -32603, "message": "Kallpa no pudo responder. Vuelve a intentarlo en un momento."}
    assert "mcp tools/call failed" in caplog.text


# --- The command, and the SDK's client ----------------------------------------------------------------------------------


def test_the_sdks_client_gets_what_it_asks_in_both_revisions_and_no_log_holds_its_token(court: Court, token: NewToken) -> None:
    date = (now_in_lima().date() + dt.timedelta(days=1)).isoformat()
    person = answering("accept", date)

    async def talk(mode: str) -> list[Any]:
        async with http_client(process.url, token.secret, mode=mode, elicitation_callback=person) as client:
            answer = await client.call_tool("get_availability", {"courtId": court.pk, "date": date})
            asked = await client.call_tool("get_availability", {"courtId": court.pk})
            rules = await client.read_resource("kallpa://rules")
            tools = await client.list_tools()
        given = [(result.structured_content or {}).get("free", result.is_error) for result in (answer, asked)]
        return [client_revision(mode), *given, rules.contents[0].text[:7], len(tools.tools)]  # type: ignore[union-attr]

    process = HttpProcess()
    try:
        all_day = list(range(7, 22))
        assert run(lambda: talk(MODERN)) == ["2026-07-28", all_day, all_day, "Abrimos", 2]
        assert person.asked == ["¿De qué fecha?"]
        # The previous revision asks in the middle of a request, and HTTP without sessions has no way back: a sentence says what is missing.
        assert run(lambda: talk(PREVIOUS)) == ["2025-11-25", all_day, True, "Abrimos", 2]
        other = make_token("gate")
        port = int(process.url.rsplit(":", 1)[1].split("/")[0])
        assert enter(port, other.secret)[0] == 401
    finally:
        written = process.stop()
    assert written == ""
    process.wait_for("Finished server process")  # all that was to be logged is there
    logged = "".join(process.lines)
    assert " DEBUG mcp.server" in logged
    assert [secret for secret in (token.secret, other.secret) if secret.split("_", 2)[2] in logged] == []


def client_revision(mode: str) -> str:
    return {MODERN: "2026-07-28", PREVIOUS: "2025-11-25"}[mode]
