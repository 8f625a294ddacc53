"""What kind of place each address is."""

from ipaddress import ip_address

import pytest

from kallpa.addresses import classify_address

LOOPBACK = ["127.0.0.1", "127.0.0.53", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "64:ff9b::127.0.0.1"]
PRIVATE = ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.20", "fc00::1", "fd12:3456::1", "::ffff:10.0.0.1", "64:ff9b::c0a8:101"]
NEVER = [
    "0.0.0.0",  # noqa: S104 - an address to judge, not to bind
    "0.1.2.3",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::127.0.0.1",
    "::ffff:0:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::127.0.0.1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a9fe:a9fe::1",
    "3fff::1",
    "5f00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::1",
    "fe80::1%1",
    "fec0::1",
    "ff02::1",
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "172.32.0.1", "192.169.0.1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2606:4700::1111", "2a00:1450:4001::1"]


@pytest.mark.parametrize(
    ("address", "kind"),
    [(a, kind) for kind, group in {"loopback": LOOPBACK, "private": PRIVATE, "never": NEVER, "public": PUBLIC}.items() for a in group],
)
def test_it_knows_what_kind_of_place_an_address_is(address: str, kind: str) -> None:
    assert classify_address(ip_address(address)) == kind
