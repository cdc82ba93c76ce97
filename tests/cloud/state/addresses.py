# SPDX-License-Identifier: Apache-2.0
"""The address ranges of a cloud, chosen among those that are free."""

import collections.abc
import dataclasses
import ipaddress
import itertools
import json
import pathlib
import re

from rally_vmperf import atomic
from rally_vmperf.image import commands
from tests.cloud.system import documents
from tests.cloud.system import layout

Network = ipaddress.IPv4Network
#: The networks to choose from, in this order; the last one is reserved for
#: benchmarks of networks (RFC 2544).
CANDIDATES = (
    *("172.24.4.0/22", "172.30.240.0/22", "10.254.240.0/22"),
    *("192.168.240.0/22", "100.127.240.0/22", "198.18.240.0/22"),
)
LARGEST = 22
RESOLVERS = pathlib.Path("/etc/resolv.conf")
#: Shorter prefixes stand for everything there is, as VPNs write it.
SHORTEST = 4


@dataclasses.dataclass(frozen=True)
class Addresses:
    """The ranges of one cloud.

    :param external: The range of the network "public", which the host
        reaches.
    :param management: The range of the APIs, and of the link of the host.
    :param private: The range of the network "private".
    """

    external: Network
    management: Network
    private: Network

    @property
    def ranges(self) -> tuple[Network, ...]:
        """All ranges."""
        return (self.external, self.management, self.private)

    @property
    def controller(self) -> str:
        """The address of APIs and messages."""
        return str(self.management[2])

    @property
    def peer(self) -> str:
        """The address of the peer."""
        return str(self.external[2])

    @property
    def control(self) -> str:
        """The address of the control machine."""
        return str(self.external[3])

    @property
    def auth_url(self) -> str:
        """The URL of Keystone."""
        return f"http://{self.controller}:5000/v3"


def parse(text: str) -> Addresses:
    """Return the ranges in a network.

    :param text: The network, such as ``10.66.0.0/22``.
    :raises ValueError: If it is not a network, or does not have the size.
    """
    network = Network(text)
    if network.prefixlen > LARGEST or network.prefixlen < 8:
        raise ValueError(f"{text} is not from /8 to /{LARGEST}")
    return Addresses(*itertools.islice(network.subnets(new_prefix=24), 3))


def load(folders: layout.Layout) -> Addresses:
    """Return the recorded ranges, or those of the first candidate."""
    content = documents.read(folders.addresses) or {}
    names = [field.name for field in dataclasses.fields(Addresses)]
    try:
        return Addresses(*(Network(content[name]) for name in names))
    except (KeyError, ValueError):
        return parse(CANDIDATES[0])


def choose(
    folders: layout.Layout,
    used: collections.abc.Mapping[Network, str],
    requested: Addresses | None,
) -> Addresses:
    """Choose and record the ranges; databases of a cloud keep theirs.

    :param folders: The paths of the cloud.
    :param used: The networks of the host, with a description.
    :param requested: The ranges that the user asked for; None for any.
    :raises errors.HostError: If they are not free.
    """
    before = load(folders)
    way_out = "name a network that is free: cloud up --network 10.66.0.0/22"
    if folders.used:
        candidates = [before]
        way_out = "start without its data: python -m tests.cloud down --purge"
        if requested not in (None, before):
            raise commands.HostError(
                f"the cloud in {folders.root} was made with other networks "
                f"({', '.join(map(str, before.ranges))}); {way_out}"
            )
    elif requested:
        candidates = [requested]
    else:
        candidates = [before, *map(parse, CANDIDATES)]
    for chosen in candidates:
        if not find_conflict(chosen, used):
            content = {
                name: str(address) for name, address in vars(chosen).items()
            }
            atomic.write(folders.addresses, json.dumps(content) + "\n")
            return chosen
    raise commands.HostError(
        f"the cloud cannot have its networks: "
        f"{find_conflict(candidates[0], used)}; {way_out}"
    )


def find_conflict(
    ranges: Addresses, used: collections.abc.Mapping[Network, str]
) -> str | None:
    """Return which range overlaps a network of the host; None for no range.

    :param ranges: The ranges of the cloud.
    :param used: The networks of the host, with a description.
    """
    for network, other in itertools.product(ranges.ranges, used):
        if network.overlaps(other):
            return f"{network} overlaps the host's {used[other]}"
    return None


def find_used() -> dict[Network, str]:
    """Return the networks of the host that are not the cloud's, described.

    Each address of the host has a route.
    """
    command = ["ip", "-4", "-json", "route", "show", "table", "all"]
    ranges = []
    for route in json.loads(commands.run(command, timeout=60) or "[]"):
        device = route.get("dev", "")
        if device == layout.LINK:
            continue
        shown = f" dev {device}" if device else ""
        for key, name in (("gateway", "gateway"), ("dst", "route")):
            if key in route:
                ranges.append((route[key], f"{name} {route[key]}{shown}"))
    if RESOLVERS.exists():
        servers = re.findall(
            r"(?m)^\s*nameserver\s+(\S+)", RESOLVERS.read_text()
        )
        ranges += [(server, f"name server {server}") for server in servers]
    used: dict[Network, str] = {}
    for text, description in ranges:
        try:
            network = Network(text, strict=False)
        except ValueError:
            # "default", or an address of IPv6.
            continue
        if network.prefixlen >= SHORTEST:
            used.setdefault(network, description)
    return used
