"""GET goes through the same guard as POST: allowlist, deadline, size, no redirects, no key in a log."""

import logging

import pytest

from kallpa.outbound import AddressRefused, Deadline, DeadlineExceeded, OutboundClient, OutboundResponse, ResponseTooLarge
from kallpa.tests.raw_server import KEY, OK, RawServer, client_for, hang, say


def get(client: OutboundClient, url: str, *, seconds: float = 5.0, max_bytes: int = 1_000) -> OutboundResponse:
    return client.get(url, headers={"Authorization": KEY}, deadline=Deadline(seconds), max_bytes=max_bytes)


def test_it_asks_without_a_body() -> None:
    with RawServer(say(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")) as server, client_for(server) as client:
        response = get(client, server.url())
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert (response.status, response.body, body) == (200, b"hello", b"")
    assert head.startswith(b"GET /v1/x HTTP/1.1\r\n")
    assert b"content-" not in head.lower()
    assert f"authorization: {KEY}".encode() in head


def test_another_host_is_refused_and_a_redirect_is_not_followed() -> None:
    with RawServer(say(OK)) as trap:
        moved = f"HTTP/1.1 302 Moved\r\nLocation: {trap.url()}\r\nContent-Length: 0\r\n\r\n".encode()
        with RawServer(say(moved)) as server, client_for(server) as client:
            assert get(client, server.url()).status == 302
            with pytest.raises(AddressRefused):
                get(client, "http://169.254.169.254/latest/meta-data/")
            with pytest.raises(AddressRefused):
                get(client, trap.url())
    assert trap.connections == 0


def test_the_deadline_and_the_size_hold() -> None:
    with RawServer(hang()) as server, client_for(server) as client, pytest.raises(DeadlineExceeded):
        get(client, server.url(), seconds=0.2)
    large = b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + b"x" * 1001
    with RawServer(say(large)) as server, client_for(server) as client, pytest.raises(ResponseTooLarge):
        get(client, server.url())


def test_the_key_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with RawServer(say(OK)) as server, client_for(server) as client:
        get(client, server.url())
    assert "canary-key" not in caplog.text
