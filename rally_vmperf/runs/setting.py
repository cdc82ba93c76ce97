"""The setting of a run: what is the same in all repetitions."""

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

    :param booted: what booting them left
    :param session: with the guests; None where they could not be made ready
    :param reference: bare metal that they are compared with
    :param metrics: of the reference
    :param findings: beside those of the boot
    :param neighbours: how many of the guests, the last ones, are not measured
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
            one.name: {
                "nova": nova.get(one.name, {}),
                **(described(session, one.name) if session else {}),
            }
            for one in machines
        },
        workloads=workloads(assignments),
        expected_metrics=expected(assignments),
        metrics={**(metrics or {}), **meanings(assignments)},
        reference=reference,
        findings=tuple(dict.fromkeys((*booted.findings, *findings))),
        rate_limits=(*booted.caps, *_links(reference, session)),
        ends=ends(assignments, session),
        hosts=tuple(
            {
                host_of(one): build.Host(
                    name=host_of(one),
                    vcpus=one.host_vcpus,
                    memory_mib=one.host_memory_mib,
                )
                for one in booted.guests
                if one.host_vcpus or one.host_memory_mib
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
    known = [*session.stations, *([peer] if peer else [])]
    return flows.Ends(
        needed=assignment.needs(assignments),
        peer=peer.name if peer else "",
        addresses={one.name: one.address for one in known},
    )


def _links(
    reference: Json | None, session: sessions.Session | None
) -> list[caps.Cap]:
    """Return the links of bare metal and of the peer, as far as they tell."""
    machines = {}
    if reference:
        machines[reference["machine"]] = reference["fingerprint"]
    if session and session.peer:
        machines[session.peer.name] = session.fingerprints[session.peer.name]
    return [
        one
        for name, facts in machines.items()
        for one in caps.links(facts.get("network_interfaces") or (), name)
    ]


def shape_of(guests: Guests) -> matching.Shape:
    """Return the shape that guests have by their flavor."""
    flavor = guests[0].flavor
    return matching.Shape(
        vcpus=flavor.vcpus,
        memory_mib=flavor.memory_mib,
        copies=len(guests),
    )


def _shape(booted: guests_.Booted, neighbours: int) -> Json:
    """Return the shape, with how many were asked for where some are absent."""
    measured = booted.guests[: len(booted.guests) - neighbours]
    shape = dataclasses.asdict(shape_of(measured))
    if not booted.absent:
        return shape
    return {**shape, "requested_copies": len(measured) + len(booted.absent)}


def host_of(guest: guests_.Guest) -> str:
    """Return the host as far as the cloud tells: a name, or its hash."""
    return guest.host or guest.hypervisor or guest.host_id or ""


def described(session: sessions.Session, name: str) -> Json:
    """Return fingerprint, tools and workloads' facts of a machine."""
    return {
        **session.describe(name),
        "facts": session.facts.get(name, {}),
    }


def workloads(assignments: Assignments) -> list[Json]:
    """Return the workloads as plain documents."""
    return [
        {
            "name": one.workload.name,
            "label": one.label,
            "arguments": one.arguments,
            **one.protocol(),
        }
        for one in assignments
    ]


def expected(assignments: Assignments) -> list[str]:
    """Return the names of the metrics of a complete condition."""
    return [
        metric.name
        for one in assignments
        for metric in one.metrics()
        if not metric.optional
    ]


def meanings(assignments: Assignments) -> Json:
    """Return the metrics of a complete condition, encoded."""
    return codec.encode_metrics(
        metric for one in assignments for metric in one.metrics()
    )


def _nova(guest: guests_.Guest) -> Json:
    """Return what Nova says of a guest, without its login."""
    plain = guests_.to_plain(guest)
    secret = ("host_key", "name", *request.REACHING)
    return {key: value for key, value in plain.items() if key not in secret}
