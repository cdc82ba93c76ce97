"""The setting of a run, which all repetitions share."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import guest as guests_
from rally_vmperf.guests import request
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import caps
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.records import flows

Json = dict[str, t.Any]
Guests = collections.abc.Sequence[guests_.Guest]
Assignments = collections.abc.Sequence[assignment.Assignment]


def of_guests(
    booted: guests_.Booted,
    assignments: Assignments,
    session: sessions.Session | None = None,
    *,
    reference: Json | None = None,
    metrics: Json | None = None,
    findings: collections.abc.Iterable[finding.Finding] = (),
    neighbours: int = 0,
) -> build.Setting:
    """Return the setting of guests.

    :param booted: The result of booting the guests.
    :param session: The session with the guests; None if they are not ready.
    :param reference: The bare-metal samples for the comparison.
    :param metrics: The metrics of the reference.
    :param findings: The findings in addition to those of the boot.
    :param neighbours: The number of guests, the last ones, that are not
        measured.
    """
    nova = {guest.name: _nova(guest) for guest in booted.guests}
    machines = [
        build.Machine(
            name=guest.name,
            role="guest",
            host=host_of(guest),
            boot_id=guest.boot,
        )
        for guest in booted.guests
    ]
    if session and session.peer:
        machines.append(build.Machine(name=session.peer.name, role="peer"))
    return build.Setting(
        shape=_shape(booted, neighbours),
        machines=machines,
        details={
            machine.name: {
                "nova": nova.get(machine.name, {}),
                **(described(session, machine.name) if session else {}),
            }
            for machine in machines
        },
        workloads=workloads(assignments),
        expected_metrics=expected(assignments),
        metrics={**(metrics or {}), **metric_definitions(assignments)},
        reference=reference,
        findings=tuple(dict.fromkeys((*booted.findings, *findings))),
        rate_limits=(*booted.caps, *_links(reference, session)),
        ends=ends(assignments, session),
        hosts=tuple(
            {
                host_of(machine): build.HostCapacity(
                    name=host_of(machine),
                    vcpus=machine.host_vcpus,
                    memory_mib=machine.host_memory_mib,
                )
                for machine in booted.guests
                if machine.host_vcpus or machine.host_memory_mib
            }.values()
        ),
    )


def ends(
    assignments: Assignments, session: sessions.Session | None
) -> flows.Ends:
    """Return the other ends of network workloads, as machines see them."""
    if session is None:
        return flows.Ends()
    peer = session.peer
    stations = [*session.stations, *([peer] if peer else [])]
    return flows.Ends(
        needed=assignment.needs(assignments),
        peer=peer.name if peer else "",
        addresses={station.name: station.address for station in stations},
    )


def _links(
    reference: Json | None, session: sessions.Session | None
) -> list[caps.Cap]:
    """Return the known links of bare metal and of the peer."""
    machines = {}
    if reference:
        machines[reference["machine"]] = reference["fingerprint"]
    if session and session.peer:
        machines[session.peer.name] = session.fingerprints[session.peer.name]
    return [
        link
        for name, facts in machines.items()
        for link in caps.links(facts.get("network_interfaces") or (), name)
    ]


def shape_of(guests: Guests) -> matching.Shape:
    """Return the shape of guests from their flavor."""
    flavor = guests[0].flavor
    return matching.Shape(
        vcpus=flavor.vcpus,
        memory_mib=flavor.memory_mib,
        copies=len(guests),
    )


def _shape(booted: guests_.Booted, neighbours: int) -> Json:
    """Return the shape, with the requested number of guests if some fail."""
    measured = booted.guests[: len(booted.guests) - neighbours]
    shape = dataclasses.asdict(shape_of(measured))
    if not booted.absent:
        return shape
    return {**shape, "requested_copies": len(measured) + len(booted.absent)}


def host_of(guest: guests_.Guest) -> str:
    """Return the name of the host of a guest or its hash; empty if unknown."""
    return guest.host or guest.hypervisor or guest.host_id or ""


def described(session: sessions.Session, name: str) -> Json:
    """Return the fingerprint, tools and workload facts of a machine."""
    return {
        **session.describe(name),
        "facts": session.facts.get(name, {}),
    }


def workloads(assignments: Assignments) -> list[Json]:
    """Return the workloads as plain documents."""
    return [
        {
            "name": assignment.workload.name,
            "label": assignment.label,
            "arguments": assignment.arguments,
            **assignment.protocol(),
        }
        for assignment in assignments
    ]


def expected(assignments: Assignments) -> list[str]:
    """Return the names of the metrics of a complete condition."""
    return [
        metric.name
        for assignment in assignments
        for metric in assignment.metrics()
        if not metric.optional
    ]


def metric_definitions(assignments: Assignments) -> Json:
    """Return the metrics of a complete condition, encoded."""
    return codec.encode_metrics(
        metric for assignment in assignments for metric in assignment.metrics()
    )


def _nova(guest: guests_.Guest) -> Json:
    """Return the properties of a guest in Nova, without its login."""
    plain = guests_.to_plain(guest)
    secret = ("host_key", "name", *request.REACHING)
    return {key: field for key, field in plain.items() if key not in secret}
