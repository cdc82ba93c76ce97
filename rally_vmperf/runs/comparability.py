"""Findings on the comparability of the machines with the baseline."""

import collections.abc
import datetime
import typing as t

from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import requirements
from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import guest as guests_
from rally_vmperf.measurement import finding
from rally_vmperf.records import codec
from rally_vmperf.records import packing
from rally_vmperf.runs import reference
from rally_vmperf.workloads import base as workloads

_Assignments = collections.abc.Sequence[assignment.Assignment]


def of_guests(
    session: sessions.Session,
    guests: collections.abc.Sequence[guests_.Guest],
    baseline: document.Json | None,
    shapes: collections.abc.Iterable[matching.Shape],
) -> list[finding.Finding]:
    """Return findings on guests, and on their comparison with bare metal.

    :param shapes: The shapes in which they are compared.
    :raises BaselineError: If the baseline does not cover the session.
    """
    findings = alone(session)
    if baseline is None:
        return findings
    findings += machines(session, baseline)
    findings += hosts(guests, baseline)
    now = datetime.datetime.now(datetime.UTC)
    for shape in shapes:
        findings += apart(guests, shape.copies)
        findings += data(session, baseline, shape)
        findings += reference.findings(
            baseline, session.assignments, shape, now
        )
    return findings


def alone(session: sessions.Session) -> list[finding.Finding]:
    """Return findings on guests that need no baseline."""
    findings = []
    for assigned in session.assignments:
        findings += [
            finding.Finding(
                kind=kind,
                subject=assigned.title,
                detail=caution,
                metrics=tuple(metric.name for metric in assigned.metrics()),
            )
            for kind, caution in assigned.workload.cautions(assigned.arguments)
        ]
    for station in session.stations:
        facts = session.fingerprints[station.name]
        findings += comparability.virtualisation(facts, station.name)
    return findings


def machines(
    session: sessions.Session, baseline: document.Json
) -> list[finding.Finding]:
    """Return findings on machines and tools that differ from the baseline."""
    return described(
        session.assignments,
        {
            station.name: session.describe(station.name)
            for station in session.stations
        },
        {
            station.name: session.describe(station.name)
            for station in session.everyone()
            if station.role == "peer"
        },
        baseline,
    )


def described(
    assignments: _Assignments,
    guests: collections.abc.Mapping[str, document.Json],
    peers: collections.abc.Mapping[str, document.Json],
    baseline: document.Json,
) -> list[finding.Finding]:
    """Return findings on described machines that differ from the baseline.

    :param guests: Name -> fingerprint and tools.
    :param peers: The name of the peer -> fingerprint and tools; empty without
        a peer.
    """
    bare_metal = baseline["machine"]
    sensitive = {
        sensitivity: _metrics_of(assignments, _sensitive_to(sensitivity))
        for sensitivity in t.get_args(workloads.Sensitivity)
    }
    users = _users(assignments)
    findings = comparability.governor(
        bare_metal["fingerprint"], sensitive["governor"]
    )
    findings += comparability.nested(bare_metal["fingerprint"])
    for name, sensitivity in guests.items():
        findings += comparability.compare_machines(
            bare_metal["fingerprint"],
            sensitivity["fingerprint"],
            name,
            sensitive,
        )
        findings += comparability.compare_tools(
            bare_metal.get("tools", {}),
            _measuring(assignments, sensitivity),
            name,
            users,
        )
    recorded = baseline.get("peer", {})
    for name, sensitivity in peers.items():
        findings += comparability.peer_on_host(
            bare_metal["fingerprint"], sensitivity["fingerprint"]
        )
        findings += comparability.same_peer(
            recorded.get("fingerprint", {}), sensitivity["fingerprint"]
        )
        findings += comparability.compare_tools(
            recorded.get("tools", {}),
            _measuring(assignments, sensitivity),
            name,
            users,
        )
    return findings


def against(
    record: document.Json,
    details: collections.abc.Mapping[str, document.Json],
    baseline: document.Json,
    reason: str = "",
) -> dict[str, t.Any]:
    """Return a record of guests, compared with another baseline.

    :param details: The description of each machine from the file of the
        record; a machine without one raises the finding ``machine_unknown``.
    :param reason: The reason for missing descriptions; empty if unknown.
    :raises BaselineError: If the baseline does not cover the record.
    :raises WorkloadError: If a workload is unknown.
    """
    assignments = assignment.assign(
        [
            {key: document[key] for key in ("name", "label", "arguments")}
            for document in record["workloads"]
        ]
    )
    shapes = [
        matching.Shape(
            vcpus=record["shape"]["vcpus"],
            memory_mib=record["shape"]["memory_mib"],
            copies=copies,
        )
        for copies in dict.fromkeys(
            document["reference_copies"] for document in record["conditions"]
        )
        if copies is not None
    ]
    bare_metal, metrics = reference.reference(baseline, assignments, shapes)
    guests, peers = (
        {
            machine["name"]: {
                "fingerprint": {},
                "tools": {},
                **details.get(machine["name"], {}),
            }
            for machine in record["machines"]
            if machine["role"] == role
        }
        for role in ("guest", "peer")
    )
    new_findings = unknown(assignments, guests, peers, baseline, reason)
    new_findings += described(assignments, guests, peers, baseline)
    for name, machine in guests.items():
        new_findings += comparability.host(
            baseline, name, machine.get("nova", {}).get("hypervisor")
        )
        new_findings += comparability.host_cpu(
            baseline["machine"]["fingerprint"],
            name,
            machine.get("nova", {}).get("host_cpu") or (),
        )
    now = datetime.datetime.now(datetime.UTC)
    for shape in shapes:
        new_findings += reference.findings(baseline, assignments, shape, now)
    kept_findings = [
        document
        for document in record["findings"]
        if document["kind"] not in finding.FROM_BASELINE
    ]
    findings = [*kept_findings, *codec.encode_findings(new_findings)]
    return packing.with_reference(record, bare_metal, metrics, findings)


def unknown(
    assignments: _Assignments,
    guests: collections.abc.Mapping[str, document.Json],
    peers: collections.abc.Mapping[str, document.Json],
    baseline: document.Json,
    reason: str,
) -> list[finding.Finding]:
    """Return findings on machines and tools that cannot be compared.

    An imported baseline has the finding ``baseline_imported`` instead.

    :param guests: Name -> fingerprint and tools, which can be empty.
    :param peers: The name of the peer -> fingerprint and tools; empty without
        a peer.
    :param reason: The reason for missing descriptions; empty if unknown.
    """
    if any(entry.get("imported") for entry in baseline["entries"]):
        return []
    machines = {"baseline": baseline["machine"], **guests}
    findings = _unknown(assignments, "machine", machines, (), reason)
    if peers:
        peer_machines = {
            "peer of the baseline": baseline.get("peer", {}),
            **peers,
        }
        networked = _metrics_of(
            assignments,
            lambda assignment: bool(
                assignment.workload.needs(assignment.arguments)
            ),
        )
        findings += _unknown(
            assignments, "peer", peer_machines, networked or (), reason
        )
    return findings


def _unknown(
    assignments: _Assignments,
    side: t.Literal["machine", "peer"],
    machines: collections.abc.Mapping[str, document.Json],
    metrics: comparability.Metrics,
    reason: str,
) -> list[finding.Finding]:
    """Return findings on machines without a fingerprint or a tool.

    :param metrics: The metrics that depend on the machines; empty for all.
    """
    users = _users(assignments)
    tools = requirements.tools(assignments, side=side)
    required = [tool.command for tool in tools if tool.measures]
    findings = []
    for name, machine in machines.items():
        if not machine.get("fingerprint"):
            detail = f"the fingerprint of {name} is unknown"
            detail += f": {reason}" if reason else ""
            findings.append(
                finding.Finding(
                    "machine_unknown", name, detail, metrics=metrics
                )
            )
            continue
        findings += [
            finding.Finding(
                "machine_unknown",
                name,
                f"the version of {command} on {name} is unknown",
                metrics=users[command],
            )
            for command in required
            if command not in machine.get("tools", {})
        ]
    return findings


def hosts(
    guests: collections.abc.Iterable[guests_.Guest], baseline: document.Json
) -> list[finding.Finding]:
    """Return findings on guests whose host differs from the baseline."""
    fingerprint = baseline["machine"]["fingerprint"]
    findings = []
    for guest in guests:
        findings += comparability.host(baseline, guest.name, guest.hypervisor)
        findings += comparability.host_cpu(
            fingerprint, guest.name, guest.host_cpu
        )
    return findings


def apart(
    guests: collections.abc.Sequence[guests_.Guest], copies: int
) -> list[finding.Finding]:
    """Return a finding if guests are on several hosts, unlike the copies.

    :param copies: The number of concurrent copies on bare metal.
    """
    names = {guest.hypervisor or guest.host_id or "" for guest in guests}
    hosts = sorted(names)
    if not 1 < copies == len(guests) or len(hosts) < 2 or "" in hosts:
        return []
    return [
        finding.Finding(
            kind="guests_not_on_one_host",
            subject="guests",
            detail=f"{copies} guests on {', '.join(hosts)}, {copies} copies "
            "on one machine",
        )
    ]


def _measuring(
    assignments: _Assignments, machine: document.Json
) -> dict[str, t.Any]:
    """Return the tools of a machine that measure."""
    tools = requirements.tools(assignments)
    measuring = {tool.command for tool in tools if tool.measures}
    return {
        command: facts
        for command, facts in machine["tools"].items()
        if command in measuring
    }


_Test = collections.abc.Callable[[assignment.Assignment], bool]


def _metrics_of(
    assignments: _Assignments, test: _Test
) -> comparability.Metrics | None:
    """Return the metrics of the assignments that pass a test.

    :returns: The metrics; empty, which means all, if all assignments pass;
        None if none does.
    """
    chosen = [assignment for assignment in assignments if test(assignment)]
    if not chosen:
        return None
    if len(chosen) == len(assignments):
        return ()
    return tuple(
        metric.name for assignment in chosen for metric in assignment.metrics()
    )


def _sensitive_to(sensitivity: workloads.Sensitivity) -> _Test:
    return lambda assignment: assignment.workload.sensitive_to(sensitivity)


def _uses(command: str) -> _Test:
    return lambda assignment: (
        command
        in {
            tool.command
            for tool in assignment.workload.tools(assignment.arguments)
        }
    )


def _users(assignments: _Assignments) -> dict[str, comparability.Metrics]:
    """Return tool -> the metrics that depend on it."""
    return {
        tool.command: _metrics_of(assignments, _uses(tool.command)) or ()
        for tool in requirements.tools(assignments)
    }


def data(
    session: sessions.Session, baseline: document.Json, shape: matching.Shape
) -> list[finding.Finding]:
    """Return findings on data that differ from those of bare metal.

    :raises BaselineError: If the baseline does not cover the session.
    """
    findings = []
    assignments = session.assignments
    chosen = reference.entries(baseline, assignments, shape)
    for assigned, baseline_entry in zip(assignments, chosen, strict=True):
        recorded = baseline_entry.get("facts", {})
        for station in session.stations:
            facts = session.facts[station.name].get(assigned.title, {})
            for key in sorted(recorded.keys() & facts.keys()):
                if recorded[key] == facts[key]:
                    continue
                findings.append(
                    finding.Finding(
                        kind="data_differ",
                        subject=station.name,
                        detail=f"{assigned.title}: {key} is {recorded[key]} "
                        f"on bare metal and {facts[key]} on {station.name}",
                        metrics=tuple(
                            metric.name for metric in assigned.metrics()
                        ),
                    )
                )
    return findings
