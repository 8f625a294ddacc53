"""A listener on loopback that misbehaves on request, and the calls that are made to it. For the tests of the outbound client."""

import errno
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Self

from kallpa.outbound import Deadline, OutboundClient, OutboundPolicy, OutboundResponse

KEY = "Bearer canary-key-8d1f"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
OK_KEPT = OK.replace(b"Connection: close\r\n", b"")
NOISE_S = 15.0
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

Conversation = Callable[[socket.socket, threading.Event], None]


class RawServer:
    """A listener on loopback that counts connections and hands each, its request read, to a conversation."""

    def __init__(self, converse: Conversation) -> None:
        self._converse, self._stopping = converse, threading.Event()
        self._listeners = listen_everywhere() if has_ipv6_loopback() else [listen(socket.AF_INET, "127.0.0.1", 0)]
        self.port: int = self._listeners[0].getsockname()[1]
        self.connections = 0
        self.requests: list[bytes] = []

    def __enter__(self) -> Self:
        for listener in self._listeners:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stopping.set()
        for listener in self._listeners:
            listener.close()

    def url(self, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}/v1/x"

    def _accept(self, listener: socket.socket) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                self.requests.append(read_request(connection))
                self._converse(connection, self._stopping)
            except OSError:
                return


@cache
def has_ipv6_loopback() -> bool:
    """Containers are often without."""
    try:
        listen(socket.AF_INET6, "::1", 0).close()
    except OSError:
        return False
    return True


def listen(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(64)
    listener.settimeout(30)
    return listener


def listen_everywhere() -> list[socket.socket]:
    """Listeners on 127.0.0.1 and ::1 with the same port: one that is free in one family may be taken in the other."""
    while True:
        first = listen(socket.AF_INET, "127.0.0.1", 0)
        try:
            return [first, listen(socket.AF_INET6, "::1", first.getsockname()[1])]
        except OSError as error:
            first.close()
            if error.errno != errno.EADDRINUSE:
                raise


def read_request(connection: socket.socket) -> bytes:
    connection.settimeout(30)
    request = b""
    while b"\r\n\r\n" not in request:
        piece = connection.recv(65_536)
        if not piece:
            return request
        request += piece
    head, _, body = request.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def say(*pieces: bytes) -> Conversation:
    """Send these bytes, then close."""

    def converse(connection: socket.socket, stopping: threading.Event) -> None:
        for piece in pieces:
            connection.sendall(piece)

    return converse


def drip(start: bytes, piece: bytes, every_s: float = 0.05) -> Conversation:
    """Send the start at once and then a piece again and again, never ending."""

    def converse(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(start)
        while not stopping.wait(every_s):
            connection.sendall(piece)

    return converse


def hang(start: bytes = b"") -> Conversation:
    """Send the start, then nothing, and keep the connection open."""

    def converse(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(start)
        stopping.wait(30)

    return converse


def flood(start: bytes, piece: bytes) -> Conversation:
    """Send without end and without pause."""

    def converse(connection: socket.socket, stopping: threading.Event) -> None:
        connection.sendall(start)
        while not stopping.is_set():
            connection.sendall(piece)

    return converse


def local_policy(*hosts: str) -> OutboundPolicy:
    """These hosts, in clear text, on loopback."""
    return OutboundPolicy(frozenset(hosts), allow_loopback=True, allow_http=True)


@contextmanager
def client_for(server: RawServer, **options: Any) -> Iterator[OutboundClient]:
    """A client that may call this server and nothing else."""
    client = OutboundClient(local_policy(f"127.0.0.1:{server.port}"), **options)
    try:
        yield client
    finally:
        client.close()


def post(client: OutboundClient, url: str, *, seconds: float = 5.0, max_bytes: int = 10_000, payload: object = None) -> OutboundResponse:
    """One call with a canary for a key."""
    return client.post_json(url, payload, headers={"Authorization": KEY}, deadline=Deadline(seconds), max_bytes=max_bytes)


def resolving_to(*answers: str) -> Callable[..., list[Any]]:
    """A resolver that gives each answer in turn (comma-separated addresses) and the last one ever after."""
    left = list(answers)

    def look_up(host: str, port: int, **options: Any) -> list[Any]:
        answer = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answer.split(",")]

    return look_up


@contextmanager
def timed(seconds: float) -> Iterator[None]:
    """The block takes at least `seconds`, and less than what it waits for: a server or a resolver that takes 30 s or never ends.

    The bound is far from both, because a busy machine may take seconds over anything.
    """
    started = time.monotonic()
    yield
    assert seconds * 0.9 <= time.monotonic() - started <= seconds + NOISE_S


@contextmanager
def full_backlog() -> Iterator[int]:
    """The port of a listener that completes no further handshake: connecting to it hangs as an unroutable address does."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        with filled(listener):
            yield listener.getsockname()[1]


@contextmanager
def filled(listener: socket.socket) -> Iterator[None]:
    """Its queue of connections is full and nobody accepts."""
    listener.listen(0)
    waiting = [socket.socket(listener.family) for _ in range(4)]
    try:
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        yield
    finally:
        for one in waiting:
            one.close()
