"""The guarded HTTP client against servers that misbehave: for how long it waits, how much it reads, what it tells."""

import logging
import os
import socket
import threading
import tracemalloc
from typing import Any

import pytest

from kallpa.outbound import (
    ConnectFailed,
    Deadline,
    DeadlineExceeded,
    OutboundClient,
    OutboundError,
    OutboundPolicy,
    OutboundResponse,
    ProtocolFailed,
    ResponseTooLarge,
    policy_from_settings,
    shared_client,
)
from kallpa.tests.raw_server import (
    CHUNKED,
    KEY,
    OK,
    OK_KEPT,
    Conversation,
    RawServer,
    client_for,
    drip,
    flood,
    full_backlog,
    hang,
    listen,
    local_policy,
    post,
    read_request,
    say,
    timed,
)

# --- The everyday call --------------------------------------------------------------------------------------------------


def test_it_posts_json_and_returns_status_headers_and_body() -> None:
    with RawServer(say(b"HTTP/1.1 404 Nope\r\nX-One: 1\r\nContent-Length: 5\r\n\r\nhello")) as server, client_for(server) as client:
        response = post(client, server.url(), payload={"text": "mañana"})
    assert (response.status, response.headers["x-one"], response.body) == (404, "1", b"hello")
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert body == b'{"text":"ma\\u00f1ana"}'
    assert head.startswith(b"POST /v1/x HTTP/1.1\r\n")
    assert b"accept-encoding: identity" in head.lower()


@pytest.mark.parametrize(("asked", "sent"), [({}, b"application/json"), ({"Accept": "text/event-stream"}, b"text/event-stream")])
def test_the_caller_may_accept_more_and_choose_no_other_header_of_ours(asked: dict[str, str], sent: bytes) -> None:
    chosen = {**asked, "Host": "elsewhere.example", "User-Agent": "other", "Accept-Encoding": "gzip", "Content-Length": "9"}
    with RawServer(say(OK)) as server, client_for(server) as client:
        client.post_json(server.url(), {}, headers=chosen, deadline=Deadline(5), max_bytes=10_000)
    lines = server.requests[0].partition(b"\r\n\r\n")[0].lower().split(b"\r\n")[1:]
    assert sorted(line for line in lines if not line.startswith(b"host: 127.0.0.1:")) == [
        b"accept-encoding: identity",
        b"accept: " + sent,
        b"content-length: 2",
        b"content-type: application/json",
        b"user-agent: kallpa",
    ]


def test_a_lone_surrogate_in_the_text_can_be_sent() -> None:
    with RawServer(say(OK)) as server, client_for(server) as client:
        assert post(client, server.url(), payload={"text": "\ud800"}).status == 200


def test_calls_share_one_kept_alive_connection() -> None:
    def converse(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(OK_KEPT)
        for _ in range(4):
            read_request(connection)
            connection.sendall(OK_KEPT)

    with RawServer(converse) as server, client_for(server) as client:
        assert [post(client, server.url()).status for _ in range(5)] == [200] * 5
    assert server.connections == 1


def test_a_kept_connection_obeys_the_deadline_of_the_call_that_uses_it() -> None:
    def converse(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(OK_KEPT)
        read_request(connection)
        stopping.wait(30)

    with RawServer(converse) as server, client_for(server) as client:
        post(client, server.url(), seconds=30)
        with timed(0.3), pytest.raises(DeadlineExceeded):
            post(client, server.url(), seconds=0.3)


# --- The deadline -------------------------------------------------------------------------------------------------------


SLOW = {
    "hang before headers": hang(),
    "hang after headers": hang(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"),
    "drip of headers": drip(b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n"),
    "drip of one header's bytes": drip(b"HTTP/1.1 200 OK\r\nX-A: ", b"a"),
    "drip of body": drip(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"a"),
    "drip of chunks": drip(CHUNKED, b"1\r\na\r\n"),
    "drip of interim responses": drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}


@pytest.mark.parametrize("fault", SLOW)
def test_one_deadline_covers_headers_and_body_however_they_drip(fault: str) -> None:
    with RawServer(SLOW[fault]) as server, client_for(server) as client, timed(0.4), pytest.raises(DeadlineExceeded):
        post(client, server.url(), seconds=0.4)


def test_a_timeout_per_read_alone_would_not_stop_a_drip() -> None:
    """The control: the same drip with the deadline out of the way goes on past it."""
    body = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n"
    with RawServer(drip(body, b"a", every_s=0.05)) as server, client_for(server) as client:
        with pytest.raises(DeadlineExceeded):
            post(client, server.url(), seconds=0.3)
        assert post(client, server.url(), seconds=30).body == b"a" * 12


def test_the_deadline_covers_a_server_that_reads_the_request_in_sips() -> None:
    listener, stopping = listen(socket.AF_INET, "127.0.0.1", 0), threading.Event()
    port = listener.getsockname()[1]

    def sip() -> None:
        with listener.accept()[0] as connection:
            while not stopping.wait(0.05):
                connection.recv(20_000)  # the whole request would take more than a minute

    threading.Thread(target=sip, daemon=True).start()
    with listener, timed(0.4), pytest.raises(DeadlineExceeded):
        post(OutboundClient(local_policy(f"127.0.0.1:{port}")), f"http://127.0.0.1:{port}/", seconds=0.4, payload="x" * 30_000_000)
    stopping.set()


def test_the_deadline_covers_a_resolver_that_hangs() -> None:
    release = threading.Event()

    def look_up(*args: Any, **options: Any) -> list[Any]:
        release.wait(30)
        return []

    client = OutboundClient(local_policy("slow.test"), look_up=look_up)
    with timed(0.3), pytest.raises(DeadlineExceeded):
        post(client, "http://slow.test/", seconds=0.3)
    release.set()


def test_the_deadline_covers_the_tls_handshake() -> None:
    with RawServer(hang()) as server, client_for(server) as client, timed(0.4), pytest.raises(DeadlineExceeded):
        post(client, server.url().replace("http:", "https:"), seconds=0.4)


def test_the_deadline_covers_connecting() -> None:
    with full_backlog() as port, timed(0.4), pytest.raises(DeadlineExceeded):
        post(OutboundClient(local_policy(f"127.0.0.1:{port}"), connect_timeout_s=60), f"http://127.0.0.1:{port}/", seconds=0.4)


def test_connecting_has_a_limit_of_its_own_so_that_there_is_time_to_try_again() -> None:
    with full_backlog() as port, timed(0.3), pytest.raises(ConnectFailed):
        post(OutboundClient(local_policy(f"127.0.0.1:{port}"), connect_timeout_s=0.3), f"http://127.0.0.1:{port}/", seconds=60)


def test_the_deadline_covers_the_wait_for_a_free_connection() -> None:
    held, release = threading.Event(), threading.Event()

    def hold(connection: socket.socket, stopping: threading.Event) -> None:
        held.set()
        release.wait(30)
        connection.sendall(OK)

    with RawServer(hold) as server, client_for(server, max_connections=1) as client:
        holder = threading.Thread(target=post, args=(client, server.url()), kwargs={"seconds": 60})
        holder.start()
        assert held.wait(30)
        with timed(0.3), pytest.raises(DeadlineExceeded):
            post(client, server.url(), seconds=0.3)
        release.set()
        holder.join()
    assert server.connections == 1


# --- What comes back ----------------------------------------------------------------------------------------------------

BROKEN: dict[str, tuple[Conversation, type[OutboundError]]] = {
    "closes at once": (say(), ConnectFailed),
    "not HTTP": (say(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), ProtocolFailed),
    "cut headers": (say(b"HTTP/1.1 200 OK\r\nContent-Le"), ProtocolFailed),
    "cut body": (say(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"), ProtocolFailed),
    "cut chunk": (say(CHUNKED, b"5\r\nab"), ProtocolFailed),
    "bad chunk size": (say(CHUNKED, b"zz\r\nab"), ProtocolFailed),
    "bad content length": (say(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), ProtocolFailed),
    "content length of 5,000 digits": (say(b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n"), ProtocolFailed),
    "gzip": (say(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b"), ProtocolFailed),
    "brotli": (say(b"HTTP/1.1 200 OK\r\nContent-Encoding: BR\r\nContent-Length: 1\r\n\r\nx"), ProtocolFailed),
    "10,000 long headers": (say(b"HTTP/1.1 200 OK\r\n" + b"X-Header: 0123456789\r\n" * 10_000 + b"\r\n"), ProtocolFailed),
    "declared too large": (hang(b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n"), ResponseTooLarge),
    "endless chunks": (flood(CHUNKED, b"1000\r\n" + b"a" * 4_096 + b"\r\n"), ResponseTooLarge),
    "endless body until close": (flood(b"HTTP/1.1 200 OK\r\n\r\n", b"a" * 4_096), ResponseTooLarge),
    "endless interim responses": (flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), ResponseTooLarge),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_each_broken_response_has_a_named_error(fault: str) -> None:
    converse, error = BROKEN[fault]
    with RawServer(converse) as server, client_for(server) as client, pytest.raises(error):
        post(client, server.url())


def test_a_body_of_exactly_the_limit_passes_and_one_byte_more_does_not() -> None:
    def answer(size: int) -> Conversation:
        return say(CHUNKED + f"{size:x}\r\n".encode() + b"a" * size + b"\r\n0\r\n\r\n")

    with RawServer(answer(1_000)) as server, client_for(server) as client:
        assert len(post(client, server.url(), max_bytes=1_000).body) == 1_000
    with RawServer(answer(1_001)) as server, client_for(server) as client, pytest.raises(ResponseTooLarge):
        post(client, server.url(), max_bytes=1_000)


def test_a_hostile_response_does_not_fill_the_memory() -> None:
    tracemalloc.start()
    try:
        with RawServer(BROKEN["endless chunks"][0]) as server, client_for(server) as client:
            for _ in range(5):
                with pytest.raises(ResponseTooLarge):
                    post(client, server.url(), max_bytes=100_000)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_a_redirect_is_returned_and_not_followed() -> None:
    with RawServer(say(OK)) as trap:
        moved = f"HTTP/1.1 307 Moved\r\nLocation: {trap.url()}\r\nContent-Length: 0\r\n\r\n".encode()
        with RawServer(say(moved)) as server, client_for(server) as client:
            assert post(client, server.url()).status == 307
    assert trap.connections == 0


def test_cookies_are_not_kept() -> None:
    cookie = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
    with RawServer(say(cookie)) as server, client_for(server) as client:
        post(client, server.url())
        post(client, server.url())
    assert len(server.requests) == 2
    assert not any(b"cookie" in request.lower() for request in server.requests)


def test_a_proxy_in_the_environment_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer(say(OK)) as trap, RawServer(say(OK)) as server, client_for(server) as client:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{trap.port}")
        assert post(client, server.url()).status == 200
    assert (trap.connections, server.connections) == (0, 1)


# --- Secrets ------------------------------------------------------------------------------------------------------------


def everything_held_by(error: BaseException) -> str:
    """The error, what it came from, and every local of our and the libraries' frames except the caller's `headers`."""
    shown, todo = [], [error]
    while todo:
        one = todo.pop()
        shown.append(repr(one))
        todo += [linked for linked in (one.__cause__, one.__context__) if linked]
        traceback = one.__traceback__
        while traceback:
            if "kallpa/outbound.py" in traceback.tb_frame.f_code.co_filename or "site-packages" in traceback.tb_frame.f_code.co_filename:
                shown += [f"{name}={value!r}" for name, value in traceback.tb_frame.f_locals.items() if name != "headers"]
            traceback = traceback.tb_next
    return "\n".join(shown)


ECHO = f"HTTP/1.1 200 OK\r\nX-Echo: {KEY}\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{{}}".encode()


def log_everything(caplog: pytest.LogCaptureFixture) -> None:
    for name in ("", "httpx", "httpcore", "httpcore.connection", "httpcore.http11"):
        caplog.set_level(logging.DEBUG, logger=name)


@pytest.mark.parametrize(
    "converse", [BROKEN[name][0] for name in ("closes at once", "not HTTP", "cut body", "endless chunks")] + [say(ECHO)]
)
def test_no_log_and_no_error_holds_the_key(converse: Conversation, caplog: pytest.LogCaptureFixture) -> None:
    log_everything(caplog)
    with RawServer(converse) as server, client_for(server) as client, pytest.raises(OutboundError) as caught:
        post(client, server.url())
    assert KEY.encode() in server.requests[0]
    assert "canary" not in everything_held_by(caught.value)
    assert "canary" not in caplog.text


def test_the_library_would_log_the_echoed_key_if_we_let_it(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the same call with our filter taken off the library's logger."""
    log_everything(caplog)
    monkeypatch.setattr(logging.getLogger("httpcore.http11"), "filters", [])
    with RawServer(say(ECHO)) as server, client_for(server) as client, pytest.raises(ProtocolFailed):
        post(client, server.url())
    assert "canary" in caplog.text


@pytest.mark.parametrize("value", ["canary\r\nX-Evil: 1", "canary\n", "canary\x00", "canaryñ"])
def test_a_header_value_that_http_does_not_allow_is_refused_without_quoting_it(value: str, caplog: pytest.LogCaptureFixture) -> None:
    log_everything(caplog)
    with RawServer(say(OK)) as server, client_for(server) as client, pytest.raises(ProtocolFailed) as caught:
        client.post_json(server.url(), {}, headers={"Authorization": value}, deadline=Deadline(2), max_bytes=100)
    assert server.connections == 0
    assert "canary" not in everything_held_by(caught.value) + caplog.text


def test_a_header_name_that_http_does_not_allow_is_no_failed_connection() -> None:
    with RawServer(say(OK)) as server, client_for(server) as client, pytest.raises(ProtocolFailed):
        client.post_json(server.url(), {}, headers={"Bad Name": "x"}, deadline=Deadline(2), max_bytes=100)


def test_a_response_does_not_show_its_body_in_its_repr() -> None:
    assert repr(OutboundResponse(200, {"x": "canary"}, b"canary")) == "OutboundResponse(status=200)"


# --- From the settings --------------------------------------------------------------------------------------------------


def test_the_settings_make_the_policy(settings: Any) -> None:
    settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = ["api.test", "127.0.0.1:8080"], True
    assert policy_from_settings() == OutboundPolicy(frozenset({"api.test", "127.0.0.1:8080"}), allow_loopback=True, allow_http=True)
    settings.OUTBOUND_ALLOW_LOOPBACK, settings.OUTBOUND_ALLOW_PRIVATE = False, True
    assert policy_from_settings() == OutboundPolicy(frozenset({"api.test", "127.0.0.1:8080"}), allow_private=True, allow_http=True)
    settings.OUTBOUND_ALLOW_PRIVATE = False
    assert policy_from_settings() == OutboundPolicy(frozenset({"api.test", "127.0.0.1:8080"}))


def test_the_shared_client_is_one_for_the_same_settings(settings: Any) -> None:
    settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = ["one.test"], True
    first = shared_client()
    assert shared_client() is first
    settings.OUTBOUND_ALLOWED_HOSTS = ["two.test"]
    assert shared_client() is not first


def test_a_forked_process_does_not_talk_on_its_parents_connections(settings: Any) -> None:
    settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = ["one.test"], True
    parents = shared_client()
    child = os.fork()
    if not child:
        os._exit(int(shared_client() is parents))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
