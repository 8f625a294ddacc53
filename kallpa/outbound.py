"""The one guarded HTTP client: nothing else in Kallpa opens a connection to a server of someone else's choosing.

httpx reads the URL; httpcore's connections do the talking, because they take a network backend publicly. Ours resolves the host,
judges every address it resolved to, connects to the judged address (a second DNS answer has no say) and cuts each wait to what is
left of the call's deadline. At this level there are no redirects, cookies, proxies or environment variables to switch off.
"""

import contextvars
import ipaddress
import itertools
import json
import logging
import os
import queue
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple

import httpcore  # noqa: TID251 - this is the file
import httpx  # noqa: TID251

from kallpa.addresses import AddressKind, IPAddress, classify_address

CONNECT_TIMEOUT_S = 5.0
SHARED_CONNECTIONS = 256  # no fewer than threads may call at once: waiting for a connection spends the deadline
KEEP_ALIVE_S = 15.0
MAX_PARALLEL_LOOKUPS = 32
DEFAULT_PORTS = {"https": 443, "http": 80}
# Bytes on the wire beyond twice the body: headers, chunk sizes, and no room for an endless stream of interim responses.
WIRE_OVERHEAD_BYTES = 256 * 1024
ALLOWED_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s/@:?#%*\\\[\]]+)(?::(?P<port>\d{1,5}))?")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")


class OutboundError(Exception):
    """There is no usable response. Messages are fixed sentences: no header, key, body or answer is ever in one."""


class AddressRefused(OutboundError):  # noqa: N818 - an error is named after what happened
    """The URL, its host or an address it resolves to is not one we may call; nothing was sent."""


class ConnectFailed(OutboundError):  # noqa: N818
    """No answer came: unknown name, refused, unroutable, TLS, or a connection that closed before its first byte."""


class DeadlineExceeded(OutboundError):  # noqa: N818
    """The call's total time ran out."""


class ResponseTooLarge(OutboundError):  # noqa: N818
    """The response passed the size limit and was cut off."""


class ProtocolFailed(OutboundError):  # noqa: N818
    """What came is not a whole HTTP response that we accept."""


class Deadline:
    """A moment `seconds` from now that every wait of a call, and of its repetitions, shares."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raise DeadlineExceeded when nothing is left."""
        if self.remaining() <= 0.0:
            raise DeadlineExceeded("the total deadline passed")


@dataclass(frozen=True)
class OutboundPolicy:
    """Whom we may call: `host` (on the scheme's own port) or `host:port`. Clear text only ever reaches loopback and private addresses."""

    allowed_hosts: frozenset[str]
    allow_private: bool = False  # loopback, RFC 1918 and unique local; link-local and metadata addresses stay refused
    allow_loopback: bool = False
    allow_http: bool = False

    def allows(self, kind: AddressKind, *, clear_text: bool) -> bool:
        """May we connect to an address of this kind?"""
        near = (kind == "loopback" and (self.allow_loopback or self.allow_private)) or (kind == "private" and self.allow_private)
        return near or (kind == "public" and not clear_text)


@dataclass(frozen=True)
class OutboundResponse:
    """Status, headers with lower-case names, and the body as sent. A redirect is a status like any other."""

    status: int
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)


# --- The allowlist ------------------------------------------------------------------------------------------------------


class _Origin(NamedTuple):
    host: str
    port: int


def _allowed_origins(policy: OutboundPolicy) -> frozenset[_Origin]:
    """The allowlist in the spelling of the URL parser; raises ValueError for an entry that is not host or host:port."""
    origins = set()
    for entry in policy.allowed_hosts:
        parts = ALLOWED_HOST.fullmatch(entry)
        url = _parse_url(f"https://{entry}") if parts else None
        if parts is None or url is None:
            raise ValueError(f"{entry!r} is not a host or host:port to allow.")
        ports = [int(parts["port"])] if parts["port"] else DEFAULT_PORTS.values()
        origins |= {_Origin(url.host, port) for port in ports}
    return frozenset(origins)


def _parse_url(url: str) -> httpx.URL | None:
    try:
        return httpx.URL(url)
    except httpx.InvalidURL:
        return None


# --- One call's limits, and the sockets that keep them ------------------------------------------------------------------


@dataclass
class _Call:
    """What the sockets must know about the call that is using them."""

    deadline: Deadline
    clear_text: bool
    wire_limit: int
    received: int = 0

    def wait(self, timeout: float | None) -> float:
        """Seconds that one wait may take; raises DeadlineExceeded when there are none."""
        self.deadline.check()
        remaining = self.deadline.remaining()
        return remaining if timeout is None else min(timeout, remaining)

    def count(self, octets: int) -> None:
        """Add to what was received; raises ResponseTooLarge past the limit."""
        self.received += octets
        if self.received > self.wire_limit:
            raise ResponseTooLarge("the response passed the size limit")


# Connections are kept alive and used by one call after another, so the limits travel with the thread, not with the connection.
_current_call: contextvars.ContextVar[_Call] = contextvars.ContextVar("outbound_call")


class _DeadlineStream(httpcore.NetworkStream):
    """A connection whose every wait ends with the current call's deadline."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream
        self._socket: socket.socket = stream.get_extra_info("socket")

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        call = _current_call.get()
        chunk = self._stream.read(max_bytes, call.wait(timeout))
        call.count(len(chunk))
        return chunk

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """The stream below would start the timeout afresh for every partial send."""
        call, unsent = _current_call.get(), memoryview(buffer)
        while unsent:
            self._socket.settimeout(call.wait(timeout))
            try:
                unsent = unsent[self._socket.send(unsent) :]
            except TimeoutError:
                raise httpcore.WriteTimeout from None
            except OSError:
                raise httpcore.WriteError from None

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _DeadlineStream(self._stream.start_tls(ssl_context, server_hostname, _current_call.get().wait(timeout)))

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _GuardedBackend(httpcore.NetworkBackend):
    """Resolves, judges and connects, in that order and to the same address."""

    def __init__(self, policy: OutboundPolicy, look_up: Callable[..., list[Any]]) -> None:
        self._policy, self._look_up = policy, look_up
        self._sockets = httpcore.SyncBackend()
        self._slots = threading.BoundedSemaphore(MAX_PARALLEL_LOOKUPS)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers, once all of them are allowed."""
        call = _current_call.get()
        addresses = self._judged_addresses(host, port, call)
        connecting = Deadline(call.wait(timeout))
        for left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            try:
                return _DeadlineStream(self._sockets.connect_tcp(address, port, timeout=max(0.001, connecting.remaining() / left)))
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        call.deadline.check()
        raise ConnectFailed("no address of the host took the connection")

    def _judged_addresses(self, host: str, port: int, call: _Call) -> list[str]:
        addresses = self._resolve(host, port, call.deadline)
        if not addresses:
            raise ConnectFailed("the host name has no address")
        for address in addresses:
            if not self._policy.allows(classify_address(address), clear_text=call.clear_text):
                raise AddressRefused("the host is at an address that we may not call")
        return [str(address) for address in addresses]

    def _resolve(self, host: str, port: int, deadline: Deadline) -> list[IPAddress]:
        """All addresses of the host; the system's resolver knows no deadline, so it works in a thread that may be left behind."""
        literal = _parse_address(host)
        if literal:
            return [literal]
        if not self._slots.acquire(timeout=deadline.remaining()):
            raise DeadlineExceeded("the total deadline passed")
        found: queue.SimpleQueue[list[IPAddress]] = queue.SimpleQueue()
        threading.Thread(target=self._look_up_into, args=(found, host, port), name="outbound-dns", daemon=True).start()
        try:
            return found.get(timeout=deadline.remaining())
        except queue.Empty:
            pass
        raise DeadlineExceeded("the total deadline passed")

    def _look_up_into(self, found: "queue.SimpleQueue[list[IPAddress]]", host: str, port: int) -> None:
        try:
            entries = self._look_up(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            entries = []
        finally:
            self._slots.release()
        found.put(list(dict.fromkeys(ipaddress.ip_address(sockaddr[0]) for *_, sockaddr in entries)))


def _parse_address(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


# --- The client ---------------------------------------------------------------------------------------------------------


class _Peer(NamedTuple):
    """Whom a connection can serve."""

    scheme: bytes
    host: bytes
    port: int


class _Connections:
    """Lends each connection to one call at a time, the last used first: httpcore's own pool looks at all of them for every call."""

    def __init__(self, most: int, **options: Any) -> None:
        self._options = options
        self._slots, self._lock = threading.BoundedSemaphore(most), threading.Lock()
        self._idle: dict[_Peer, list[httpcore.HTTPConnection]] = {}

    @contextmanager
    def lend(self, peer: _Peer, deadline: Deadline) -> Iterator[httpcore.HTTPConnection]:
        """A living connection, or a new one; raises DeadlineExceeded while all are lent."""
        if not self._slots.acquire(timeout=deadline.remaining()):
            raise DeadlineExceeded("the total deadline passed")
        try:
            connection = self._take(peer) or httpcore.HTTPConnection(httpcore.Origin(*peer), **self._options)
            try:
                yield connection
            finally:
                self._give_back(peer, connection)
        finally:
            self._slots.release()

    def close(self) -> None:
        with self._lock:
            for connection in itertools.chain.from_iterable(self._idle.values()):
                connection.close()
            self._idle.clear()

    def _take(self, peer: _Peer) -> httpcore.HTTPConnection | None:
        with self._lock:
            idle = self._idle.get(peer, [])
            while idle:
                connection = idle.pop()
                if not connection.has_expired():
                    return connection
                connection.close()
        return None

    def _give_back(self, peer: _Peer, connection: httpcore.HTTPConnection) -> None:
        if connection.is_closed() or not connection.is_idle():
            connection.close()
            return
        with self._lock:
            idle = self._idle.setdefault(peer, [])
            idle.append(connection)
            if idle[0].has_expired():
                idle.pop(0).close()


class OutboundClient:
    """Threads share one: it keeps connections alive. `look_up` (socket.getaddrinfo) and `tls` are there to be replaced in tests."""

    def __init__(
        self,
        policy: OutboundPolicy,
        *,
        max_connections: int = 64,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        look_up: Callable[..., list[Any]] = socket.getaddrinfo,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._policy, self._connect_timeout_s = policy, connect_timeout_s
        self._origins = _allowed_origins(policy)
        self._connections = _Connections(
            max_connections,
            ssl_context=tls or _tls_context(),
            keepalive_expiry=KEEP_ALIVE_S,
            network_backend=_GuardedBackend(policy, look_up),
        )

    def post_json(self, url: str, payload: object, *, headers: Mapping[str, str], deadline: Deadline, max_bytes: int) -> OutboundResponse:
        """POST the payload and read at most max_bytes of body, all before the deadline; raises an OutboundError."""
        content = json.dumps(payload, separators=(",", ":")).encode("ascii")
        return self._send(url, content, headers=headers, deadline=deadline, max_bytes=max_bytes)

    def get(self, url: str, *, headers: Mapping[str, str], deadline: Deadline, max_bytes: int) -> OutboundResponse:
        """GET the address, under the same limits and checks as `post_json`; raises an OutboundError."""
        return self._send(url, None, headers=headers, deadline=deadline, max_bytes=max_bytes)

    def _send(self, url: str, content: bytes | None, *, headers: Mapping[str, str], deadline: Deadline, max_bytes: int) -> OutboundResponse:
        target = self._allowed_url(url)
        call = _Call(deadline, target.scheme == "http", 2 * max_bytes + WIRE_OVERHEAD_BYTES)
        token = _current_call.set(call)
        try:
            outcome = self._exchange(target, content, headers, call, max_bytes)
        finally:
            _current_call.reset(token)
        if isinstance(outcome, OutboundError):
            # Raised from here and not from where it happened: the frames down there hold the request with its key.
            raise outcome.with_traceback(None)
        return outcome

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def _allowed_url(self, url: str) -> httpx.URL:
        parsed = _parse_url(url)
        if parsed is None or parsed.userinfo or not parsed.host:
            raise AddressRefused("the address is not a plain URL")
        if parsed.scheme not in ({"https", "http"} if self._policy.allow_http else {"https"}):
            raise AddressRefused("the scheme is not allowed")
        if _Origin(parsed.host, _port_of(parsed)) not in self._origins or not 0 < _port_of(parsed) < 65_536:
            raise AddressRefused("the host is not on the allowlist")
        return parsed

    def _exchange(
        self, target: httpx.URL, content: bytes | None, headers: Mapping[str, str], call: _Call, max_bytes: int
    ) -> OutboundResponse | OutboundError:
        """The response, or the named error for what httpcore raised."""
        try:
            request = httpcore.Request(
                b"GET" if content is None else b"POST",
                httpcore.URL(scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path),
                headers=_checked_headers(headers, target, content),
                content=content,
                extensions={"timeout": {"connect": self._connect_timeout_s}},
            )
            with self._connections.lend(_Peer(target.raw_scheme, target.raw_host, _port_of(target)), call.deadline) as connection:
                response = connection.handle_request(request)
                try:
                    return _read_response(response, max_bytes)
                finally:
                    response.close()
        except OutboundError as error:
            return error
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
            return _name_error(error, call)


def _port_of(url: httpx.URL) -> int:
    return DEFAULT_PORTS[url.scheme] if url.port is None else url.port


def _name_error(error: Exception, call: _Call) -> OutboundError:
    if isinstance(error, httpcore.TimeoutException) and not (isinstance(error, httpcore.ConnectTimeout) and call.deadline.remaining()):
        return DeadlineExceeded("the total deadline passed")
    if isinstance(error, httpcore.LocalProtocolError):
        return ProtocolFailed("the request is not valid HTTP")
    if isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout):
        return ConnectFailed("the connection could not be made secure")
    if not call.received:
        return ConnectFailed("the connection closed before an answer")
    return ProtocolFailed("the response is not whole, valid HTTP")


def _checked_headers(headers: Mapping[str, str], target: httpx.URL, content: bytes | None) -> list[tuple[bytes, bytes]]:
    """The caller's headers and our own; a value that HTTP does not allow is refused here, where no error message can quote it.

    `Accept` is JSON unless the caller wants more; the others are not the caller's to choose.
    """
    if not all(HEADER_VALUE.fullmatch(text) for pair in headers.items() for text in pair):
        raise ProtocolFailed("a request header holds characters that HTTP does not allow")
    ours = {
        "host": target.netloc.decode("ascii"),
        "accept-encoding": "identity",
        "user-agent": "kallpa",
    }
    if content is not None:
        ours |= {"content-type": "application/json", "content-length": str(len(content))}
    merged = {"accept": "application/json"} | {name.lower(): value for name, value in headers.items()} | ours
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in merged.items()]


def _read_response(response: httpcore.Response, max_bytes: int) -> OutboundResponse:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ProtocolFailed("the response is compressed, which we did not accept")
    body = bytearray()
    if int(headers.get("content-length", 0)) > max_bytes:
        raise ResponseTooLarge("the response passed the size limit")
    for chunk in response.iter_stream():
        body += chunk
        if len(body) > max_bytes:
            raise ResponseTooLarge("the response passed the size limit")
    return OutboundResponse(response.status, headers, bytes(body))


@cache
def _tls_context() -> ssl.SSLContext:
    """Certificates checked against the bundled authorities; made once, it costs tens of milliseconds."""
    return httpx.create_ssl_context(trust_env=False)


# --- From the settings --------------------------------------------------------------------------------------------------


def policy_from_settings() -> OutboundPolicy:
    """What the settings allow: their hosts, and clear text as far as loopback or the private network, where those are allowed."""
    from django.conf import settings  # the client itself knows no Django

    loopback, private = bool(settings.OUTBOUND_ALLOW_LOOPBACK), bool(settings.OUTBOUND_ALLOW_PRIVATE)
    hosts = frozenset(settings.OUTBOUND_ALLOWED_HOSTS)
    return OutboundPolicy(hosts, allow_private=private, allow_loopback=loopback, allow_http=loopback or private)


def shared_client() -> OutboundClient:
    """The process's client for the present settings, made on first use."""
    return _client_for(policy_from_settings())


@lru_cache(maxsize=4)
def _client_for(policy: OutboundPolicy) -> OutboundClient:
    return OutboundClient(policy, max_connections=SHARED_CONNECTIONS)


# A forked worker must not talk on its parent's connections.
os.register_at_fork(after_in_child=_client_for.cache_clear)

# At DEBUG these print headers: responses always, and a request's own when it is refused. No level or configuration brings them back.
for _name in ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy"):
    logging.getLogger(_name).addFilter(lambda record: False)
