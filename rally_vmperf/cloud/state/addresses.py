"""The address ranges of a cloud, chosen among those that are free here."""

import collections.abc
import dataclasses
import ipaddress
import itertools
import json
import pathlib
import typing as t

from rally_vmperf import atomic
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout

Network = ipaddress.IPv4Network
#: Where ranges are looked for when the usual ones are not free; the last
#: block is for benchmarks of networks (RFC 2544).
BLOCKS = (
    *("172.30.240.0/20", "10.254.240.0/20", "192.168.240.0/20"),
    *("100.127.240.0/20", "198.18.240.0/20"),
)
#: A network of three ranges, each as long as this.
LENGTH = 24
LARGEST = 22
RESOLVERS = pathlib.Path("/etc/resolv.conf")
#: Shorter prefixes stand for everything there is, as VPNs write it.
SHORTEST = 4
Routes = list[dict[str, t.Any]]


@dataclasses.dataclass(frozen=True)
class Addresses:
    """The ranges of one cloud.

    :param management: of the APIs, and of the link of the host
    :param external: of the network "public", reached from the host
    :param private: of the network "private"
    """

    management: Network
    external: Network
    private: Network

    @property
    def ranges(self) -> tuple[Network, ...]:
        """All ranges."""
        return (self.management, self.external, self.private)

    @property
    def host(self) -> str:
        """The address of the host on its link to the container."""
        return str(self.management[1])

    @property
    def controller(self) -> str:
        """The address of APIs and messages."""
        return str(self.management[2])

    @property
    def second(self) -> str:
        """The address of the second hypervisor."""
        return str(self.management[3])

    @property
    def gateway(self) -> str:
        """The address of the container in the external range."""
        return str(self.external[1])

    @property
    def peer(self) -> str:
        """The address of the peer."""
        return str(self.external[2])

    @property
    def external_pool(self) -> tuple[str, str]:
        """The first and the last address for guests and routers."""
        return str(self.external[10]), str(self.external[250])

    @property
    def auth_url(self) -> str:
        """Where Keystone is."""
        return f"http://{self.controller}:5000/v3"


#: Taken where they are free.
USUAL = Addresses(
    Network("172.30.0.0/24"),
    Network("172.24.4.0/24"),
    Network("10.254.1.0/24"),
)


def known(folders: layout.Layout) -> Addresses | None:
    """Return the ranges on record, if there are any.

    :param folders: the state root's folders
    """
    content = documents.read(folders.addresses) or {}
    names = [field.name for field in dataclasses.fields(Addresses)]
    try:
        found = [Network(content[name]) for name in names]
    except (KeyError, ValueError):
        return None
    if any(network.prefixlen != LENGTH for network in found):
        return None
    return Addresses(*found)


def load(folders: layout.Layout) -> Addresses:
    """Return the ranges on record, or else the usual ones.

    :param folders: the state root's folders
    """
    return known(folders) or USUAL


def save(folders: layout.Layout, chosen: Addresses) -> None:
    """Put the ranges on record.

    :param folders: the state root's folders
    :param chosen: what to record
    """
    content = {name: str(value) for name, value in vars(chosen).items()}
    atomic.write(folders.addresses, json.dumps(content) + "\n")


def parse(text: str) -> Addresses:
    """Return the ranges in a network that the user gave.

    :param text: such as 10.66.0.0/22
    :raises ValueError: when it is none, or too small
    """
    network = Network(text)
    if network.prefixlen > LARGEST or network.prefixlen < 8:
        raise ValueError(f"{text} is not from /8 to /{LARGEST}")
    return Addresses(*itertools.islice(network.subnets(new_prefix=LENGTH), 3))


def choose(used: collections.abc.Mapping[Network, str]) -> Addresses:
    """Return ranges that nothing on the machine uses.

    :param used: networks of the machine -> what they are
    :raises errors.CloudError: when there are not enough, with the reason
    """
    blocks = map(Network, BLOCKS)
    others = [
        network
        for block in blocks
        for network in block.subnets(new_prefix=LENGTH)
    ]
    chosen: list[Network] = []
    for usual in USUAL.ranges:
        for network in (usual, *others):
            if network not in chosen and conflict([network], used) is None:
                chosen.append(network)
                break
        else:
            raise errors.CloudError(
                f"no range is free for the cloud's networks: "
                f"{conflict([usual], used)}, and so it is with all of "
                f"{', '.join(BLOCKS)}; name a network that is free: "
                "cloud up --network 10.66.0.0/22"
            )
    return Addresses(*chosen)


def conflict(
    ranges: collections.abc.Iterable[Network],
    used: collections.abc.Mapping[Network, str],
) -> str | None:
    """Say which range overlaps what the machine uses; None if none does.

    :param ranges: of the cloud
    :param used: networks of the machine -> what they are
    """
    for network, (other, what) in itertools.product(ranges, used.items()):
        if network.overlaps(other):
            return f"{network} overlaps the machine's {what}"
    return None


def settle(
    folders: layout.Layout,
    used: collections.abc.Mapping[Network, str],
    wanted: Addresses | None,
    *,
    made: bool,
) -> Addresses:
    """Return the ranges to use, on record from now on.

    :param folders: the state root's folders
    :param used: networks of the machine -> what they are
    :param wanted: what the user asked for
    :param made: whether there is a cloud already, which cannot change them
    :raises errors.CloudError: when they are not free
    """
    before = known(folders) or (USUAL if made else None)
    if made and wanted not in (None, before):
        raise errors.CloudError(
            f"the cloud in {folders.root} was made with other networks "
            f"({', '.join(map(str, (before or USUAL).ranges))}); take "
            "it away first: cloud down --purge"
        )
    chosen = before if made else wanted
    if not made and wanted is None:
        # An up that was interrupted chose these.
        free = before and conflict(before.ranges, used) is None
        chosen = before if free else None
    if chosen is None:
        chosen = choose(used)
    elif reason := conflict(chosen.ranges, used):
        way_out = (
            "take the cloud away with cloud down --purge, and the next cloud "
            "up chooses others"
            if made
            else "name a network that is free: cloud up --network 10.66.0.0/22"
        )
        raise errors.CloudError(
            f"the cloud cannot have its networks: {reason}; {way_out}"
        )
    save(folders, chosen)
    return chosen


def routes() -> Routes:
    """Return all routes of the machine, as ip tells them."""
    command = ["ip", "-4", "-json", "route", "show", "table", "all"]
    found: Routes = json.loads(commands.run(command, timeout=60) or "[]")
    return found


def resolvers() -> list[str]:
    """Return the name servers that the machine asks."""
    try:
        lines = RESOLVERS.read_text().splitlines()
    except FileNotFoundError:
        return []
    entries = [line.split() for line in lines]
    return [w[1] for w in entries if w[:1] == ["nameserver"] and len(w) > 1]


def find_used(
    known_routes: Routes, servers: collections.abc.Iterable[str]
) -> dict[Network, str]:
    """Return the networks that the cloud must not use.

    :param known_routes: all routes; addresses have one each
    :param servers: name servers
    :return: network -> who uses it
    """
    found = {}
    for route in known_routes:
        ours = route.get("dev") == layout.LINK
        for what in ("gateway", "dst"):
            network = _network(route.get(what, ""))
            if network is None or network.prefixlen < SHORTEST or ours:
                continue
            name = "gateway" if what == "gateway" else "route"
            device = f" dev {route['dev']}" if "dev" in route else ""
            found[network] = f"{name} {route[what]}{device}"
    for server in servers:
        network = _network(server)
        if network is not None:
            found.setdefault(network, f"name server {server}")
    return found


def _network(text: str) -> Network | None:
    try:
        return ipaddress.IPv4Network(text, strict=False)
    except ValueError:
        return None
