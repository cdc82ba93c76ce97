"""The flows of network workloads, with their hosts and paths."""

import collections
import collections.abc
import ipaddress
import typing as t

Json = collections.abc.Mapping[str, t.Any]
#: The target, the hosts, the path, and whether it uses a floating IP.
Kind = tuple[str, str, str, bool]


class Endpoints(t.NamedTuple):
    """The other ends of network workloads.

    :param needed: The required ends: ``peer``, ``partner``, both or none.
    :param peer: The name of the peer.
    :param addresses: The addresses for commands, by name.
    """

    needed: frozenset[str] = frozenset()
    peer: str = ""
    addresses: collections.abc.Mapping[str, str] = {}


#: The descriptions of the properties of a flow; unknown ones are omitted.
_KIND_TEXTS = {
    "peer": "to the peer",
    "partner": "to the partner guest",
    "same": "on the same host",
    "other": "on another host",
    "link": "in a network of its own",
    "router": "through a router",
}


def describe(flow: Json) -> str:
    """Return a description of a flow, as far as it is known."""
    phrases = [
        _KIND_TEXTS[flow[key]]
        for key in ("target", "hosts", "path")
        if flow[key] in _KIND_TEXTS
    ]
    if flow["floating_ip"]:
        phrases.append("from a floating IP")
    return ", ".join(phrases)


def of_records(
    records: collections.abc.Iterable[Json],
    ends: collections.abc.Container[str],
) -> list[Json]:
    """Return each flow to these other ends, once.

    :param ends: The other ends: ``peer``, ``partner``, both or none.
    """
    flows: list[Json] = []
    for record in records:
        for condition in record["conditions"]:
            flows += [
                flow
                for flow in condition.get("flows", ())
                if flow["target"] in ends and flow not in flows
            ]
    return flows


def of_condition(
    names: collections.abc.Sequence[str],
    batches: int,
    ends: Endpoints,
    details: collections.abc.Mapping[str, Json],
) -> list[dict[str, t.Any]]:
    """Return each flow, with the number of its machines.

    :param names: The names of the machines, in the order of their pairs.
    :param batches: The number of groups; with several, the partners are
        unknown.
    :param ends: The other ends of the workloads.
    :param details: The reports of Nova and the machine, by machine.
    """
    flow_ends: list[tuple[str, str, str]] = []
    if "peer" in ends.needed and ends.peer:
        flow_ends += [(name, "peer", ends.peer) for name in names]
    if "partner" in ends.needed and batches == 1:
        pairs = zip(names[::2], names[1::2], strict=False)
        flow_ends += [
            # Bare metal has no partner; the peer replaces it.
            (
                name,
                "partner",
                ends.peer if _is_metal(details, name) else partner,
            )
            for name, partner in pairs
        ]
    counted = collections.Counter(
        _kind(what, details.get(name, {}), details.get(partner, {}), address)
        for name, what, partner in flow_ends
        for address in [ends.addresses.get(partner, "")]
    )
    return [
        {
            "target": target,
            "hosts": hosts,
            "path": path,
            "floating_ip": floating_ip,
            "machines": number,
        }
        for (target, hosts, path, floating_ip), number in counted.items()
    ]


def _is_metal(details: collections.abc.Mapping[str, Json], name: str) -> bool:
    return not details.get(name, {}).get("nova")


def _kind(target: str, machine: Json, other_end: Json, address: str) -> Kind:
    path = _path(
        machine.get("fingerprint", {}).get("connected_networks") or (), address
    )
    floating_ip = bool(machine.get("nova", {}).get("floating_address"))
    hosts = _hosts(machine, other_end)
    return target, hosts, path, floating_ip and path == "router"


def _hosts(machine: Json, other_end: Json) -> str:
    """Return whether two machines are on one host: same, other or unknown."""
    nova, other_nova = machine.get("nova"), other_end.get("nova")
    fingerprint, other_fingerprint = (
        machine.get("fingerprint", {}),
        other_end.get("fingerprint", {}),
    )
    if not nova:
        boots = fingerprint.get("boot_id"), other_fingerprint.get("boot_id")
        same = boots[0] == boots[1]
        return ("same" if same else "other") if all(boots) else "unknown"
    if other_nova:
        for key in ("host", "hypervisor", "host_id"):
            if nova.get(key) and other_nova.get(key):
                return "same" if nova[key] == other_nova[key] else "other"
        return "unknown"
    hosts = {nova.get("host"), nova.get("hypervisor")} - {None, ""}
    if not hosts or not other_fingerprint.get("hostname"):
        return "unknown"
    if other_fingerprint["hostname"] in hosts:
        return "same"
    # The hostname of a guest does not identify its host.
    return (
        "other"
        if other_fingerprint.get("virtualisation") == "none"
        else "unknown"
    )


def _path(links: collections.abc.Iterable[str], address: str) -> str:
    """Return how an address is reached: link, router or unknown."""
    try:
        networks = [ipaddress.ip_network(link) for link in links]
        ip_address = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if not networks or ip_address.version != 4:
        return "unknown"
    return (
        "link"
        if any(ip_address in network for network in networks)
        else "router"
    )
