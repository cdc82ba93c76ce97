"""The kinds of flow of network workloads: which hosts, by which path."""

import collections
import collections.abc
import ipaddress
import typing as t

Json = collections.abc.Mapping[str, t.Any]
#: To whom, on which hosts, by which path, and whether from a floating IP.
Kind = tuple[str, str, str, bool]


class Ends(t.NamedTuple):
    """The other ends of network workloads.

    :param needed: ``peer``, ``partner``, both or none
    :param peer: name of the peer
    :param addresses: by name, those that commands are sent to
    """

    needed: frozenset[str] = frozenset()
    peer: str = ""
    addresses: collections.abc.Mapping[str, str] = {}


#: Words for the parts of a flow; what is not known is left out.
_WORDS = {
    "peer": "to the peer",
    "partner": "to the partner guest",
    "same": "on the same host",
    "other": "on another host",
    "link": "in a network of its own",
    "router": "through a router",
}


def describe(flow: Json) -> str:
    """Return a kind of flow in words, as far as it is known."""
    words = [
        _WORDS[flow[key]]
        for key in ("target", "hosts", "path")
        if flow[key] in _WORDS
    ]
    if flow["floating_ip"]:
        words.append("from a floating IP")
    return ", ".join(words)


def of_records(
    records: collections.abc.Iterable[Json],
    ends: collections.abc.Container[str],
) -> list[Json]:
    """Return each kind of flow to these other ends, once.

    :param ends: ``peer``, ``partner``, both or none
    """
    found: list[Json] = []
    for record in records:
        for condition in record["conditions"]:
            found += [
                one
                for one in condition.get("flows", ())
                if one["target"] in ends and one not in found
            ]
    return found


def of_condition(
    names: collections.abc.Sequence[str],
    batches: int,
    ends: Ends,
    details: collections.abc.Mapping[str, Json],
) -> list[dict[str, t.Any]]:
    """Return each kind of flow, with the number of machines that had it.

    :param names: of the machines, in the order in which they pair up
    :param batches: in how many groups they ran; those of several have partners
        that are not known here
    :param details: what Nova and the machine itself say, by machine
    """
    asked: list[tuple[str, str, str]] = []
    if "peer" in ends.needed and ends.peer:
        asked += [(name, "peer", ends.peer) for name in names]
    if "partner" in ends.needed and batches == 1:
        pairs = zip(names[::2], names[1::2], strict=False)
        asked += [
            # Bare metal has none: what stands in for it is the peer.
            (name, "partner", ends.peer if _is_metal(details, name) else other)
            for name, other in pairs
        ]
    counted = collections.Counter(
        _kind(what, details.get(name, {}), details.get(other, {}), address)
        for name, what, other in asked
        for address in [ends.addresses.get(other, "")]
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


def _kind(target: str, own: Json, other: Json, address: str) -> Kind:
    path = _path(
        own.get("fingerprint", {}).get("connected_networks") or (), address
    )
    floating_ip = bool(own.get("nova", {}).get("floating_address"))
    hosts = _hosts(own, other)
    return target, hosts, path, floating_ip and path == "router"


def _hosts(own: Json, other: Json) -> str:
    """Return whether two machines are on one host: same, other or unknown."""
    nova, theirs = own.get("nova"), other.get("nova")
    mine, far = own.get("fingerprint", {}), other.get("fingerprint", {})
    if not nova:
        boots = mine.get("boot_id"), far.get("boot_id")
        same = boots[0] == boots[1]
        return ("same" if same else "other") if all(boots) else "unknown"
    if theirs:
        for key in ("host", "hypervisor", "host_id"):
            if nova.get(key) and theirs.get(key):
                return "same" if nova[key] == theirs[key] else "other"
        return "unknown"
    hosts = {nova.get("host"), nova.get("hypervisor")} - {None, ""}
    if not hosts or not far.get("hostname"):
        return "unknown"
    if far["hostname"] in hosts:
        return "same"
    # A guest's own name says nothing of its host.
    return "other" if far.get("virtualisation") == "none" else "unknown"


def _path(links: collections.abc.Iterable[str], address: str) -> str:
    """Return how an address is reached: link, router or unknown."""
    try:
        known = [ipaddress.ip_network(link) for link in links]
        meant = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if not known or meant.version != 4:
        return "unknown"
    return "link" if any(meant in one for one in known) else "router"
