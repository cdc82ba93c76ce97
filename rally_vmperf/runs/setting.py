"""The setting of a run, which all repetitions share."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import sessions
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.records import flows
from rally_vmperf.records import model

Json = dict[str, t.Any]
Guests = collections.abc.Sequence[models.Guest]
Assignments = collections.abc.Sequence[assignment.Assignment]


def build_setting(
    booted: models.BootedGuests,
    assignments: Assignments,
    session: sessions.Session | None = None,
    *,
    reference: Json | None = None,
    metrics: Json | None = None,
    findings: collections.abc.Iterable[finding.Finding] = (),
    unmeasured: int = 0,
) -> build.Setting:
    """Return the setting of guests: shape, machines, metrics, findings.

    :param booted: The result of booting the guests.
    :param session: The session with the guests; None if they are not ready.
    :param reference: The bare-metal samples for the comparison.
    :param metrics: The metrics of the reference.
    :param findings: The findings in addition to those of the boot.
    :param unmeasured: The number of guests, the last ones, that are not
        measured.
    """
    nova = {guest.name: _encode_guest(guest) for guest in booted.guests}
    machines = [
        model.Machine(
            name=guest.name,
            role="guest",
            host=get_host(guest),
            boot_id=guest.boot,
        )
        for guest in booted.guests
    ]
    if session and session.peer:
        machines.append(model.Machine(name=session.peer.name, role="peer"))
    return build.Setting(
        shape=_encode_shape(booted, unmeasured),
        machines=machines,
        details={
            machine.name: {
                "nova": nova.get(machine.name, {}),
                **(describe_machine(session, machine.name) if session else {}),
            }
            for machine in machines
        },
        workloads=encode_workloads(assignments),
        expected_metrics=list_expected_metrics(assignments),
        metrics={**(metrics or {}), **encode_metrics(assignments)},
        reference=reference,
        findings=tuple(dict.fromkeys((*booted.findings, *findings))),
        rate_limits=(*booted.caps, *_list_links(reference, session)),
        ends=find_endpoints(assignments, session),
        hosts=tuple(
            {
                get_host(machine): build.HostCapacity(
                    name=get_host(machine),
                    vcpus=machine.host_vcpus,
                    memory_mib=machine.host_memory_mib,
                )
                for machine in booted.guests
                if machine.host_vcpus or machine.host_memory_mib
            }.values()
        ),
    )


def find_endpoints(
    assignments: Assignments, session: sessions.Session | None
) -> flows.Endpoints:
    """Return the other ends of network workloads, as machines see them."""
    if session is None:
        return flows.Endpoints()
    peer = session.peer
    stations = [*session.stations, *([peer] if peer else [])]
    return flows.Endpoints(
        needed=assignment.required_endpoints(assignments),
        peer=peer.name if peer else "",
        addresses={station.name: station.address for station in stations},
    )


def _list_links(
    reference: Json | None, session: sessions.Session | None
) -> list[rate_caps.Cap]:
    """Return rate limits of the network links of bare metal and the peer."""
    machines = {}
    if reference:
        machines[reference["machine"]] = reference["fingerprint"]
    if session and session.peer:
        machines[session.peer.name] = session.fingerprints[session.peer.name]
    return [
        link
        for name, facts in machines.items()
        for link in rate_caps.links(
            facts.get("network_interfaces") or (), name
        )
    ]


def find_shape(guests: Guests) -> matching.Shape:
    """Return the shape of guests from their flavor."""
    flavor = guests[0].flavor
    return matching.Shape(
        vcpus=flavor.vcpus,
        memory_mib=flavor.memory_mib,
        copies=len(guests),
    )


def _encode_shape(booted: models.BootedGuests, unmeasured: int) -> Json:
    """Return the shape as a dict, with the requested number of guests."""
    measured = booted.guests[: len(booted.guests) - unmeasured]
    shape = dataclasses.asdict(find_shape(measured))
    if not booted.absent:
        return shape
    return {**shape, "requested_copies": len(measured) + len(booted.absent)}


def get_host(guest: models.Guest) -> str:
    """Return the name of the host of a guest or its hash; empty if unknown."""
    return guest.host or guest.hypervisor or guest.host_id or ""


def describe_machine(session: sessions.Session, name: str) -> Json:
    """Return a machine's fingerprint, tools and facts as a dict."""
    return {
        **session.describe(name),
        "facts": session.facts.get(name, {}),
    }


def encode_workloads(assignments: Assignments) -> list[Json]:
    """Return the workloads as one dict per workload."""
    return [
        {
            "name": assignment.workload.name,
            "label": assignment.label,
            "arguments": assignment.arguments,
            **assignment.protocol(),
        }
        for assignment in assignments
    ]


def list_expected_metrics(assignments: Assignments) -> list[str]:
    """Return the names of the metrics of a complete condition."""
    return [
        metric.name
        for assignment in assignments
        for metric in assignment.metrics()
        if not metric.optional
    ]


def encode_metrics(assignments: Assignments) -> Json:
    """Return the metrics of a complete condition as a dict by name."""
    return codec.encode_metrics(
        metric for assignment in assignments for metric in assignment.metrics()
    )


def _encode_guest(guest: models.Guest) -> Json:
    """Return a guest's properties in Nova as a dict, without its login."""
    plain = models.to_plain(guest)
    secret = ("host_key", "name", *request.SSH_OPTIONS)
    return {key: field for key, field in plain.items() if key not in secret}
