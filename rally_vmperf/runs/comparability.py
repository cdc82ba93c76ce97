"""Whether the machines of a session can be compared with the baseline's."""

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
from rally_vmperf.runs import reference
from rally_vmperf.workloads import base as workloads

_Assignments = collections.abc.Sequence[assignment.Assignment]


def of_guests(
    session: sessions.Session,
    guests: collections.abc.Sequence[guests_.Guest],
    baseline: document.Json | None,
    shapes: collections.abc.Iterable[matching.Shape],
) -> list[finding.Finding]:
    """Return findings on guests, and on bare metal beside them.

    :param shapes: in which they are compared
    :raises BaselineError: when the baseline does not cover the session
    """
    found = alone(session)
    if baseline is None:
        return found
    found += machines(session, baseline)
    found += hosts(guests, baseline)
    now = datetime.datetime.now(datetime.UTC)
    for shape in shapes:
        found += apart(guests, shape.copies)
        found += data(session, baseline, shape)
        found += reference.findings(baseline, session.assignments, shape, now)
    return found


def alone(session: sessions.Session) -> list[finding.Finding]:
    """Return findings on guests alone, without bare metal."""
    found = []
    for one in session.assignments:
        found += [
            finding.Finding(
                kind=kind,
                subject=one.title,
                detail=seen,
                metrics=tuple(metric.name for metric in one.metrics()),
            )
            for kind, seen in one.workload.cautions(one.arguments)
        ]
    for station in session.stations:
        facts = session.fingerprints[station.name]
        found += comparability.virtualisation(facts, station.name)
    return found


def machines(
    session: sessions.Session, baseline: document.Json
) -> list[finding.Finding]:
    """Return findings on how machines and tools differ from the baseline's."""
    return described(
        session.assignments,
        {one.name: session.describe(one.name) for one in session.stations},
        {
            one.name: session.describe(one.name)
            for one in session.everyone()
            if one.role == "peer"
        },
        baseline,
    )


def described(
    assignments: _Assignments,
    guests: collections.abc.Mapping[str, document.Json],
    peers: collections.abc.Mapping[str, document.Json],
    baseline: document.Json,
) -> list[finding.Finding]:
    """Return how machines differ from the baseline's, as records have them.

    :param guests: name -> fingerprint and tools
    :param peers: likewise; none, or one
    """
    metal = baseline["machine"]
    sensitive = {
        one: _metrics_of(assignments, _sensitive_to(one))
        for one in t.get_args(workloads.Sensitivity)
    }
    users = _users(assignments)
    found = comparability.governor(metal["fingerprint"], sensitive["governor"])
    found += comparability.nested(metal["fingerprint"])
    for name, one in guests.items():
        found += comparability.compare_machines(
            metal["fingerprint"], one["fingerprint"], name, sensitive
        )
        found += comparability.compare_tools(
            metal.get("tools", {}), _measuring(assignments, one), name, users
        )
    recorded = baseline.get("peer", {})
    for name, one in peers.items():
        found += comparability.peer_on_host(
            metal["fingerprint"], one["fingerprint"]
        )
        found += comparability.same_peer(
            recorded.get("fingerprint", {}), one["fingerprint"]
        )
        found += comparability.compare_tools(
            recorded.get("tools", {}),
            _measuring(assignments, one),
            name,
            users,
        )
    return found


def against(
    record: document.Json,
    details: collections.abc.Mapping[str, document.Json],
    baseline: document.Json,
    reason: str = "",
) -> dict[str, t.Any]:
    """Return a record of guests as if compared with another baseline.

    :param details: machine -> its description in the file of the record; a
        machine without one raises the finding ``machine_unknown``
    :param reason: The reason for missing descriptions; empty if unknown.
    :raises BaselineError: when the baseline does not cover the record
    :raises WorkloadError: for workloads that are not known here
    """
    assignments = assignment.assign(
        [
            {key: one[key] for key in ("name", "label", "arguments")}
            for one in record["workloads"]
        ]
    )
    shapes = [
        matching.Shape(
            vcpus=record["shape"]["vcpus"],
            memory_mib=record["shape"]["memory_mib"],
            copies=copies,
        )
        for copies in dict.fromkeys(
            one["reference_copies"] for one in record["conditions"]
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
    found = unknown(assignments, guests, peers, baseline, reason)
    found += described(assignments, guests, peers, baseline)
    for name, one in guests.items():
        found += comparability.host(
            baseline, name, one.get("nova", {}).get("hypervisor")
        )
        found += comparability.host_cpu(
            baseline["machine"]["fingerprint"],
            name,
            one.get("nova", {}).get("host_cpu") or (),
        )
    now = datetime.datetime.now(datetime.UTC)
    for shape in shapes:
        found += reference.findings(baseline, assignments, shape, now)
    kept = [
        one
        for one in record["findings"]
        if one["kind"] not in finding.FROM_BASELINE
    ]
    findings = [*kept, *codec.encode_findings(found)]
    return codec.with_reference(record, bare_metal, metrics, findings)


def unknown(
    assignments: _Assignments,
    guests: collections.abc.Mapping[str, document.Json],
    peers: collections.abc.Mapping[str, document.Json],
    baseline: document.Json,
    reason: str,
) -> list[finding.Finding]:
    """Return the machines and tools that cannot be compared.

    An imported baseline has the finding ``baseline_imported`` instead.

    :param guests: name -> fingerprint and tools, which may be empty
    :param peers: likewise; none, or one
    :param reason: The reason for missing descriptions; empty if unknown.
    """
    if any(entry.get("imported") for entry in baseline["entries"]):
        return []
    metal = {"baseline": baseline["machine"], **guests}
    found = _unknown(assignments, "machine", metal, (), reason)
    if peers:
        others = {"peer of the baseline": baseline.get("peer", {}), **peers}
        networked = _metrics_of(
            assignments, lambda one: bool(one.workload.needs(one.arguments))
        )
        found += _unknown(assignments, "peer", others, networked or (), reason)
    return found


def _unknown(
    assignments: _Assignments,
    side: t.Literal["machine", "peer"],
    machines: collections.abc.Mapping[str, document.Json],
    metrics: comparability.Metrics,
    reason: str,
) -> list[finding.Finding]:
    """Return the machines of one side without a fingerprint or a tool.

    :param metrics: The metrics that depend on the machines; empty for all.
    """
    users = _users(assignments)
    required = [
        tool.command
        for tool in requirements.tools(assignments, side=side)
        if tool.measures
    ]
    found = []
    for name, machine in machines.items():
        if not machine.get("fingerprint"):
            seen = f"the fingerprint of {name} is unknown"
            seen += f": {reason}" if reason else ""
            found.append(
                finding.Finding("machine_unknown", name, seen, metrics=metrics)
            )
            continue
        found += [
            finding.Finding(
                "machine_unknown",
                name,
                f"the version of {command} on {name} is unknown",
                metrics=users[command],
            )
            for command in required
            if command not in machine.get("tools", {})
        ]
    return found


def hosts(
    guests: collections.abc.Iterable[guests_.Guest], baseline: document.Json
) -> list[finding.Finding]:
    """Return which guests run on another machine than the baseline's."""
    metal = baseline["machine"]["fingerprint"]
    found = []
    for one in guests:
        found += comparability.host(baseline, one.name, one.hypervisor)
        found += comparability.host_cpu(metal, one.name, one.host_cpu)
    return found


def apart(
    guests: collections.abc.Sequence[guests_.Guest], copies: int
) -> list[finding.Finding]:
    """Return whether guests are on several hosts and their copies were not.

    :param copies: that ran at once on bare metal
    """
    hosts = sorted({one.hypervisor or one.host_id or "" for one in guests})
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
    """Return a machine's tools, without those that only prepare."""
    measuring = {
        tool.command
        for tool in requirements.tools(assignments)
        if tool.measures
    }
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

    :returns: nothing, which means all, where all pass; None where none does
    """
    chosen = [one for one in assignments if test(one)]
    if not chosen:
        return None
    if len(chosen) == len(assignments):
        return ()
    return tuple(metric.name for one in chosen for metric in one.metrics())


def _sensitive_to(what: workloads.Sensitivity) -> _Test:
    return lambda one: one.workload.sensitive_to(what)


def _uses(command: str) -> _Test:
    return lambda one: (
        command in {tool.command for tool in one.workload.tools(one.arguments)}
    )


def _users(
    assignments: _Assignments,
) -> dict[str, comparability.Metrics]:
    """Return tool -> the metrics that it is used for."""
    return {
        tool.command: _metrics_of(assignments, _uses(tool.command)) or ()
        for tool in requirements.tools(assignments)
    }


def data(
    session: sessions.Session, baseline: document.Json, shape: matching.Shape
) -> list[finding.Finding]:
    """Return where the data worked on are others than on bare metal.

    :raises BaselineError: when the baseline does not cover the session
    """
    found = []
    chosen = reference.entries(baseline, session.assignments, shape)
    for one, entry in zip(session.assignments, chosen, strict=True):
        recorded = entry.get("facts", {})
        for station in session.stations:
            facts = session.facts[station.name].get(one.title, {})
            for key in sorted(recorded.keys() & facts.keys()):
                if recorded[key] == facts[key]:
                    continue
                found.append(
                    finding.Finding(
                        kind="data_differ",
                        subject=station.name,
                        detail=f"{one.title}: {key} is {recorded[key]} on "
                        f"bare metal and {facts[key]} on {station.name}",
                        metrics=tuple(each.name for each in one.metrics()),
                    )
                )
    return found
