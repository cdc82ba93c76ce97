"""The networks that the machine uses."""

import collections.abc
import ipaddress
import json
import pathlib
import typing as t

from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import layout

RESOLVERS = pathlib.Path("/etc/resolv.conf")
#: Shorter prefixes stand for everything there is, as VPNs write it.
SHORTEST = 4
Routes = list[dict[str, t.Any]]


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


def used(
    known: Routes, servers: collections.abc.Iterable[str]
) -> dict[addresses.Network, str]:
    """Return the networks that the cloud must not use.

    :param known: all routes; addresses have one each
    :param servers: name servers
    :return: network -> who uses it
    """
    found = {}
    for route in known:
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


def _network(text: str) -> addresses.Network | None:
    try:
        return ipaddress.IPv4Network(text, strict=False)
    except ValueError:
        return None
