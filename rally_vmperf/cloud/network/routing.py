"""The networks that the machine uses, and its routes to the outside."""

import collections.abc
import ipaddress
import json
import pathlib
import typing as t

from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import layout

RESOLVERS = pathlib.Path("/etc/resolv.conf")
#: Of the routes that keep the cloud's ranges on the machine: the last resort
#: of the routing table.
METRIC = 900000
#: An address that is nobody's (RFC 5737): packets to it take the default way.
ELSEWHERE = "198.51.100.1"
#: Shorter prefixes stand for everything there is, as VPNs write it.
SHORTEST = 4
OURS = (
    layout.MANAGEMENT_BRIDGE,
    layout.EXTERNAL_BRIDGE,
    layout.EXTERNAL_PORT,
    layout.PEER_PORT,
)
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
        ours = route.get("dev") in OURS or route.get("metric") == METRIC
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


def targets(
    known: Routes, servers: collections.abc.Iterable[str]
) -> list[str]:
    """Return the addresses that the machine must still reach.

    :param known: all routes
    :param servers: name servers
    """
    gateways = [
        route["gateway"]
        for route in known
        if route.get("dst") == "default" and "gateway" in route
    ]
    asked = [ELSEWHERE, *gateways, *servers]
    return [one for one in dict.fromkeys(asked) if _network(one)]


def look(targets: collections.abc.Iterable[str]) -> dict[str, str]:
    """Return the route that packets take now, for each target."""
    return {target: route_to(target) for target in targets}


def route_to(target: str) -> str:
    """Return the gateway and device by which packets leave for an address."""
    text = commands.run(
        ["ip", "-4", "-json", "route", "get", target],
        accept=(0, 1, 2),
        timeout=60,
    )
    try:
        (route,) = json.loads(text)
    except ValueError:
        return "no route"
    fields = (("via", "gateway"), ("dev", "dev"))
    return " ".join(f"{w} {route[key]}" for w, key in fields if key in route)


def lost(
    before: collections.abc.Mapping[str, str],
    after: collections.abc.Mapping[str, str],
) -> str | None:
    """Say which route has changed; None if none has.

    :param before: the routes before
    :param after: the routes now
    """
    for target, old in before.items():
        if after.get(target) != old:
            return (
                f"packets to {target} went '{old}' and would go "
                f"'{after.get(target)}'"
            )
    return None
