# SPDX-License-Identifier: Apache-2.0
"""The flows of a condition, from the facts of its machines."""

import collections
import collections.abc
import dataclasses
import ipaddress
import typing as t

from rally_vmperf import documents
from rally_vmperf.measurement import repetition


class FlowEndpoints(t.NamedTuple):
    """The other ends of network workloads.

    :param needed: The required ends: ``peer``, ``partner``, both or none.
    :param peer: The name of the peer.
    :param addresses: The addresses for commands, by name.
    """

    needed: frozenset[str] = frozenset()
    peer: str = ""
    addresses: collections.abc.Mapping[str, str] = {}


def of_condition(
    names: collections.abc.Sequence[str],
    batches: int,
    ends: FlowEndpoints,
    details: collections.abc.Mapping[str, documents.Facts],
) -> list[repetition.Flow]:
    """Return the network flows of a condition, each with its count.

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
                ends.peer if _is_bare_metal(details, name) else partner,
            )
            for name, partner in pairs
        ]
    counted = collections.Counter(
        _create_flow(
            what, details.get(name, {}), details.get(partner, {}), address
        )
        for name, what, partner in flow_ends
        for address in [ends.addresses.get(partner, "")]
    )
    return [
        dataclasses.replace(kind, machines=number)
        for kind, number in counted.items()
    ]


def _is_bare_metal(
    details: collections.abc.Mapping[str, documents.Facts], name: str
) -> bool:
    """Return whether Nova reports nothing about a machine: bare metal."""
    return not details.get(name, {}).get("nova")


def _create_flow(
    target: str,
    machine: documents.Facts,
    other_end: documents.Facts,
    address: str,
) -> repetition.Flow:
    """Return the network flow from a machine to its other end."""
    path = _find_path(
        machine.get("fingerprint", {}).get("connected_networks") or (), address
    )
    floating_ip = bool(machine.get("nova", {}).get("floating_address"))
    return repetition.Flow(
        target=target,
        hosts=_compare_hosts(machine, other_end),
        path=path,
        floating_ip=floating_ip and path == "router",
    )


def _compare_hosts(
    machine: documents.Facts, other_end: documents.Facts
) -> str:
    """Return "same", "other" or "unknown": the hosts of two machines."""
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


def _find_path(links: collections.abc.Iterable[str], address: str) -> str:
    """Return how an address is reached: "link", "router", "unknown"."""
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
