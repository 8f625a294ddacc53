"""What kind of place an IP address is. Pure: the outbound client asks before it connects."""

import ipaddress
from typing import Literal

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
AddressKind = Literal["public", "private", "loopback", "never"]

GLOBAL_UNICAST_6 = ipaddress.IPv6Network("2000::/3")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
PRIVATE = tuple(map(ipaddress.ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")))
NEVER = tuple(
    map(
        ipaddress.ip_network,
        (
            "168.63.129.16/32",  # metadata and agent traffic of Azure, on a public address
            "fd00:ec2::/32",  # metadata of AWS, on a unique local address
            "fd20:ce::/32",  # metadata of Google Cloud, likewise
            "192.0.0.0/24",  # protocol assignments, the metadata of Oracle Cloud among them
            "192.88.99.0/24",  # 6to4 relays
            "2001::/23",  # Teredo and other protocol assignments
            "2002::/16",  # 6to4: an IPv4 address in disguise
            "2001:db8::/32",
            "3fff::/20",  # documentation
        ),
    )
)


def classify_address(address: IPAddress) -> AddressKind:
    """What kind of place an address is; an IPv4 address inside IPv6 (mapped, NAT64) is judged by itself, other disguises are `never`."""
    address = _unwrap(address)
    if any(address in network for network in NEVER):
        return "never"
    if address.is_loopback:
        return "loopback"
    if any(address in network for network in PRIVATE):
        return "private"
    return "public" if _is_public(address) else "never"


def _unwrap(address: IPAddress) -> IPAddress:
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address


def _is_public(address: IPAddress) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        return address in GLOBAL_UNICAST_6 and address.is_global
    return address.is_global and not address.is_multicast and not address.is_reserved
