"""What a provider can do wrong, by name: the answers for a LoopbackProvider, and the servers that never get to answer."""

import gzip
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from assistant.llm import (
    ModelAuthError,
    ModelBadRequest,
    ModelBadResponse,
    ModelError,
    ModelRateLimited,
    ModelResponseTooLarge,
    ModelServerError,
    ModelTimeout,
    ModelUnreachable,
)
from assistant.tests.loopback_provider import HOST, Answer, LoopbackProvider, RawReply, Reply, Wire, completion, json_reply

JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@dataclass(frozen=True)
class Fault:
    """How a server answers every call, the error that must come of it, and how many calls it may receive (None: it depends on time)."""

    answer: Answer
    error: type[ModelError]
    calls: int | None = 1


def status(code: int, body: bytes = b'{"error":{"message":"no"}}', **headers: str) -> Answer:
    """This status with a JSON body; header names with underscores for hyphens."""
    named = (("Content-Type", "application/json"), *((name.replace("_", "-"), value) for name, value in headers.items()))
    return lambda call: Reply(code, body, named)


def body(octets: bytes, content_type: str = "application/json", *extra: tuple[str, str]) -> Answer:
    """200 with exactly this body."""
    return lambda call: Reply(200, octets, (("Content-Type", content_type), *extra))


def raw(write: RawReply) -> Answer:
    """Bytes written to the open connection by `write`."""
    return lambda call: write


def retry_in(seconds: float) -> Answer:
    """429 with an HTTP date that many seconds from the call."""
    return lambda call: Reply(429, b"{}", (("Retry-After", format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)),))


def hang(start: bytes) -> RawReply:
    """Send the start and keep the connection open in silence."""

    def write(wire: Wire) -> None:
        wire.send(start)
        wire.pause(60)

    return write


def drip(start: bytes, piece: bytes, every_s: float) -> RawReply:
    """Send the start, and then a piece again and again without end."""

    def write(wire: Wire) -> None:
        wire.send(start)
        while wire.pause(every_s):
            wire.send(piece)

    return write


def fifty_megabytes(wire: Wire) -> None:
    wire.send(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(50):
        wire.send(b"100000\r\n" + b" " * 1_048_576 + b"\r\n")
    wire.send(b"0\r\n\r\n")


def ten_thousand_headers(wire: Wire) -> None:
    wire.send(JSON_HEAD + b"".join(b"X-Header-%d: 0123456789\r\n" % n for n in range(10_000)) + b"Content-Length: 2\r\n\r\n{}")


def cut(octets: bytes) -> RawReply:
    """Send these bytes and close."""
    return lambda wire: wire.send(octets)


def without(key: str) -> Answer:
    """A completion that lacks a key."""
    return lambda call: json_reply({name: value for name, value in completion("x", call).items() if name != key})


def message(content: object) -> Answer:
    """A completion whose content is not what a content should be."""
    return lambda call: json_reply({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]})


HTML = b"<html><body><h1>502 Bad Gateway</h1></body></html>"

FAULTS: dict[str, Fault] = {
    "429": Fault(status(429), ModelRateLimited, 4),
    "429, retry after seconds": Fault(status(429, Retry_After="1"), ModelRateLimited, 4),
    "429, retry after a date": Fault(retry_in(1), ModelRateLimited, 4),
    "429, retry after a day": Fault(status(429, Retry_After="86400"), ModelRateLimited, 1),
    "429, retry after nonsense": Fault(status(429, Retry_After="soon"), ModelRateLimited, 4),
    "500": Fault(status(500), ModelServerError, 4),
    "502 in HTML": Fault(lambda call: Reply(502, HTML, (("Content-Type", "text/html"),)), ModelServerError, 4),
    "503": Fault(status(503), ModelServerError, 4),
    "503, retry after a day": Fault(status(503, Retry_After="86400"), ModelServerError, 1),
    "408": Fault(status(408), ModelTimeout, 4),
    "400": Fault(status(400), ModelBadRequest),
    "401": Fault(status(401), ModelAuthError),
    "403": Fault(status(403), ModelAuthError),
    "404": Fault(status(404), ModelBadRequest),
    "422": Fault(status(422), ModelBadRequest),
    "redirect": Fault(status(302, Location="/v1/elsewhere"), ModelBadResponse),
    "closes without answering": Fault(raw(cut(b"")), ModelUnreachable, 4),
    "hang before headers": Fault(raw(hang(b"")), ModelTimeout),
    "hang after headers": Fault(raw(hang(JSON_HEAD + b"Content-Length: 100\r\n\r\n")), ModelTimeout),
    "one byte of body in 5 s": Fault(raw(drip(JSON_HEAD + b"Content-Length: 100\r\n\r\n", b"{", 5)), ModelTimeout),
    "one byte of body in 50 ms": Fault(raw(drip(JSON_HEAD + b"Content-Length: 10000\r\n\r\n", b" ", 0.05)), ModelTimeout),
    "one byte of header in 50 ms": Fault(raw(drip(JSON_HEAD + b"X-Slow: ", b"a", 0.05)), ModelTimeout),
    "cut JSON": Fault(body(b'{"choices":[{"index":0,"message":{"role":"assist'), ModelBadResponse),
    "cut body": Fault(raw(cut(JSON_HEAD + b"Content-Length: 500\r\n\r\n" + b'{"choices":[')), ModelBadResponse),
    "cut chunk": Fault(raw(cut(JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b'ff\r\n{"choices"')), ModelBadResponse),
    "not HTTP": Fault(raw(cut(b"220 smtp.example ESMTP\r\n")), ModelBadResponse),
    "wrong content type": Fault(body(b'{"choices":[{"message":{"content":"x"}}]}', "text/plain"), ModelBadResponse),
    "empty body": Fault(body(b""), ModelBadResponse),
    "200 with an error body": Fault(body(b'{"error":{"message":"overloaded","code":529}}'), ModelBadResponse),
    "an error beside a choice": Fault(body(b'{"error":"x","choices":[{"message":{"content":"x"}}]}'), ModelBadResponse),
    "a list": Fault(body(b"[]"), ModelBadResponse),
    "no choices": Fault(without("choices"), ModelBadResponse),
    "empty choices": Fault(body(b'{"choices":[]}'), ModelBadResponse),
    "no message": Fault(body(b'{"choices":[{"text":"x"}]}'), ModelBadResponse),
    "null content": Fault(message(None), ModelBadResponse),
    "content is a list": Fault(message([{"type": "text", "text": "x"}]), ModelBadResponse),
    "content is a number": Fault(message(7), ModelBadResponse),
    "NUL in the content": Fault(message("a\0b"), ModelBadResponse),
    "half a surrogate pair in the content": Fault(message("\ud83d"), ModelBadResponse),
    "invalid UTF-8": Fault(body(b'{"choices":[{"message":{"content":"ma\xf1ana"}}]}'), ModelBadResponse),
    "nested 100,000 deep": Fault(body(b"[" * 100_000 + b"]" * 100_000), ModelBadResponse),
    "a number of 100,000 digits": Fault(body(b"9" * 100_000), ModelBadResponse),
    "50 MB body": Fault(raw(fifty_megabytes), ModelResponseTooLarge),
    "50 MB declared": Fault(raw(hang(JSON_HEAD + b"Content-Length: 50000000\r\n\r\n")), ModelResponseTooLarge),
    "gzip bomb": Fault(body(gzip.compress(b" " * 50_000_000), "application/json", ("Content-Encoding", "gzip")), ModelBadResponse),
    "10,000 headers": Fault(raw(ten_thousand_headers), ModelBadResponse),
}


@contextmanager
def refused() -> Iterator[str]:
    """The base URL of a port where nobody listens."""
    with socket.socket() as unused:
        unused.bind((HOST, 0))
        yield f"http://{HOST}:{unused.getsockname()[1]}/v1"


@contextmanager
def unroutable() -> Iterator[str]:
    """The base URL of a listener that completes no handshake, which is what an address without a route looks like."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        yield f"http://{HOST}:{listener.getsockname()[1]}/v1"
        for one in waiting:
            one.close()


@contextmanager
def not_tls() -> Iterator[str]:
    """An https base URL where the server speaks clear text."""
    with LoopbackProvider() as provider:
        yield provider.base_url.replace("http:", "https:")


NO_CONNECTION: dict[str, tuple[Callable[[], AbstractContextManager[str]], type[ModelError]]] = {
    "refused": (refused, ModelUnreachable),
    "TLS error": (not_tls, ModelUnreachable),
    "unroutable": (unroutable, ModelTimeout),
}
