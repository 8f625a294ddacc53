"""Whom the guarded HTTP client calls: the allowlist, every spelling of a bad address, names that change their answer, TLS."""

import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from kallpa.outbound import AddressRefused, ConnectFailed, OutboundClient, OutboundPolicy
from kallpa.tests.raw_server import (
    OK,
    RawServer,
    filled,
    has_ipv6_loopback,
    listen,
    listen_everywhere,
    local_policy,
    post,
    read_request,
    resolving_to,
    say,
)

# --- Whom it calls ------------------------------------------------------------------------------------------------------

# Each would reach a listener on this machine if it were called; none is, though the host itself is on the allowlist.
BAD_HOSTS = [
    "127.0.0.1",
    "127.0.0.2",
    "127.1",
    "127.0.1",
    "0x7f.0.0.1",
    "0x7f.1",
    "0x7f000001",
    "0X7F000001",
    "2130706433",
    "017700000001",
    "0",
    "0.0.0.0",  # noqa: S104
    "0x0",
    "localhost",
    "LOCALHOST",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::1]",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "[::ffff:169.254.169.254]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "100.100.100.200",
    "168.63.129.16",
    "192.168.0.1",
    "10.0.0.1",
    "172.16.0.1",
    "[fc00::1]",
    "[ff02::1]",
    "224.0.0.1",
    "255.255.255.255",
]


@pytest.mark.parametrize("host", BAD_HOSTS)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_spelling_of_a_bad_address_gets_a_connection(host: str, scheme: str) -> None:
    with RawServer(say(OK)) as trap:
        client = OutboundClient(OutboundPolicy(frozenset({f"{host}:{trap.port}"}), allow_http=True))
        with pytest.raises(AddressRefused, match="an address that we may not call"):
            post(client, f"{scheme}://{host}:{trap.port}/", seconds=2)
    assert trap.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
def test_the_same_spelling_reaches_the_listener_once_loopback_is_allowed(host: str) -> None:
    """The control: the trap works, and only the judgement of the address kept it from being called."""
    if host == "[::1]" and not has_ipv6_loopback():
        pytest.skip("no IPv6 on this machine's loopback")
    with RawServer(say(OK)) as trap:
        assert post(OutboundClient(local_policy(f"{host}:{trap.port}")), trap.url(host)).status == 200
    assert trap.connections == 1


BAD_URLS = [
    "http://127.0.0.1:{port}@allowed.test/",
    "http://allowed.test@127.0.0.1:{port}/",
    "http://user:secret@allowed.test/",
    "http://allowed.test:{port}/",
    "http://allowed.test.evil.test/",
    "http://allowed.test./",
    "http://xallowed.test/",
    "http://127.0.0.1:{port}/",
    "http://allowed.test\\@127.0.0.1:{port}/",
    "//allowed.test/",
    "/v1",
    "",
    "allowed.test",
    "http://",
    "http:///v1",
    "ftp://allowed.test/",
    "file:///etc/hostname",
    "gopher://allowed.test/",
    "http://allowed.test:0/",
    "http://allowed.test:99999/",
    "http://allowed.test:port/",
    "http://allowed .test/",
    "http://allowed.test\r\nHost: x/",
    "http://127.000.000.001:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://0000.0.0.0:{port}/",
    "http://１２７.0.0.1/",
    "http://[::1/",
]


@pytest.mark.parametrize("url", BAD_URLS)
def test_a_url_that_is_not_plainly_on_the_allowlist_is_refused(url: str) -> None:
    with RawServer(say(OK)) as trap:
        client = OutboundClient(local_policy("allowed.test", "allowed.test:99999", "allowed.test:0"), look_up=resolving_to("127.0.0.1"))
        with pytest.raises(AddressRefused):
            post(client, url.replace("{port}", str(trap.port)), seconds=2)
    assert trap.connections == 0


def test_clear_text_is_refused_where_it_is_not_allowed() -> None:
    client = OutboundClient(OutboundPolicy(frozenset({"127.0.0.1"}), allow_loopback=True))
    with pytest.raises(AddressRefused, match="scheme"):
        post(client, "http://127.0.0.1/")


def test_clear_text_never_reaches_a_public_address() -> None:
    client = OutboundClient(local_policy("public.test"), look_up=resolving_to("8.8.8.8"))
    with pytest.raises(AddressRefused, match="address"):
        post(client, "http://public.test/")


def test_one_bad_address_among_good_ones_refuses_the_host() -> None:
    client = OutboundClient(OutboundPolicy(frozenset({"mixed.test"})), look_up=resolving_to("8.8.8.8,127.0.0.1"))
    with pytest.raises(AddressRefused):
        post(client, "https://mixed.test/", seconds=2)


def test_the_name_is_resolved_once_so_a_second_answer_has_no_say() -> None:
    """A rebinding name: loopback where it may go first, then an address that nobody may call."""
    with RawServer(say(OK)) as server:
        client = OutboundClient(local_policy(f"rebind.test:{server.port}"), look_up=resolving_to("127.0.0.1", "169.254.169.254"))
        assert post(client, server.url("rebind.test")).status == 200
        with pytest.raises(AddressRefused):
            post(client, server.url("rebind.test"))
    assert server.connections == 1


def test_it_tries_the_next_address_when_one_does_not_answer() -> None:
    with RawServer(say(OK)) as server:
        client = OutboundClient(local_policy(f"two.test:{server.port}"), look_up=resolving_to("127.0.0.9,127.0.0.1"))
        assert post(client, server.url("two.test")).status == 200


@pytest.mark.skipif(not has_ipv6_loopback(), reason="no IPv6 on this machine's loopback")
def test_an_address_that_hangs_leaves_time_for_the_next_one() -> None:
    answering, hanging = listen_everywhere()
    port = answering.getsockname()[1]

    def serve() -> None:
        with suppress(OSError):
            while True:
                with answering.accept()[0] as connection:
                    read_request(connection)
                    connection.sendall(OK)

    def seconds_taken() -> float:
        client = OutboundClient(local_policy(f"two.test:{port}"), look_up=resolving_to("::1,127.0.0.1"), connect_timeout_s=1.0)
        started = time.monotonic()
        assert post(client, f"http://two.test:{port}/", seconds=60).status == 200
        return time.monotonic() - started

    with answering, hanging, filled(hanging):
        threading.Thread(target=serve, daemon=True).start()
        assert any(seconds_taken() < 0.95 for _ in range(10))  # a busy machine only adds: one try within the time is proof


@pytest.mark.parametrize("error", [socket.gaierror(-2, "unknown"), UnicodeError("label too long")])
def test_a_name_that_does_not_resolve_is_a_failed_connection(error: Exception) -> None:
    def look_up(*args: Any, **options: Any) -> list[Any]:
        raise error

    with pytest.raises(ConnectFailed):
        post(OutboundClient(local_policy("nowhere.test"), look_up=look_up), "http://nowhere.test/")


def test_a_closed_port_is_a_failed_connection() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(ConnectFailed):
            post(OutboundClient(local_policy(f"127.0.0.1:{port}")), f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize("entry", ["https://host", "user@host", "host/path", "", "host:port", "ho st", "host:", "[host]", "*"])
def test_an_allowlist_entry_that_is_not_a_host_stops_the_start(entry: str) -> None:
    with pytest.raises(ValueError, match="to allow"):
        OutboundClient(OutboundPolicy(frozenset({entry})))


@pytest.mark.parametrize(
    ("entry", "url", "allowed"),
    [
        ("api.test", "https://api.test/", True),
        ("api.test", "https://API.test:443/", True),
        ("API.test:443", "https://api.test/", True),
        ("api.test:443", "http://api.test/", False),
        ("api.test", "https://api.test:8443/", False),
        ("api.test:8443", "https://api.test:8443/", True),
        ("api.test:8443", "https://api.test/", False),
        ("[::1]:80", "http://[::1]/", True),
    ],
)
def test_a_host_without_a_port_means_the_port_of_the_scheme(entry: str, url: str, allowed: bool) -> None:
    client = OutboundClient(local_policy(entry), look_up=resolving_to("192.0.2.1"))
    error = pytest.raises((AddressRefused, ConnectFailed), match="allowlist" if not allowed else "address")
    with error:
        post(client, url, seconds=2)


# --- TLS ----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for secure.test and its key, made for this test run."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    names = ["-subj", "/CN=secure.test", "-addext", "subjectAltName=DNS:secure.test"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subprocess.run([*command, "-keyout", key, "-out", cert, *names], check=True, capture_output=True)
    return cert, key


@contextmanager
def tls_server(certificate: tuple[Path, Path]) -> Iterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    listener = listen(socket.AF_INET, "127.0.0.1", 0)

    def serve_one() -> None:
        try:
            with context.wrap_socket(listener.accept()[0], server_side=True) as connection:
                read_request(connection)
                connection.sendall(OK)
        except OSError:
            return

    thread = threading.Thread(target=serve_one, daemon=True)
    thread.start()
    with listener:
        yield listener.getsockname()[1]
    thread.join(5)


@pytest.mark.parametrize(("host", "trusted"), [("secure.test", True), ("secure.test", False), ("other.test", True)])
def test_tls_checks_the_name_in_the_url_though_it_connects_to_a_judged_address(
    certificate: tuple[Path, Path], host: str, trusted: bool
) -> None:
    with tls_server(certificate) as port:
        tls = ssl.create_default_context(cafile=str(certificate[0])) if trusted else None
        client = OutboundClient(local_policy(f"{host}:{port}"), look_up=resolving_to("127.0.0.1"), tls=tls)
        if host == "secure.test" and trusted:
            assert post(client, f"https://{host}:{port}/").status == 200
        else:
            with pytest.raises(ConnectFailed, match="secure"):
                post(client, f"https://{host}:{port}/")
