# SPDX-License-Identifier: Apache-2.0
"""Findings on the comparability of the machines with the baseline."""

import collections.abc
import datetime
import typing as t

from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import document
from rally_vmperf.baseline import tool_comparison
from rally_vmperf.execution import assignment
from rally_vmperf.execution import requirements
from rally_vmperf.execution import sessions
from rally_vmperf.guests import models
from rally_vmperf.guests import verification
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import model
from rally_vmperf.runs import reference
from rally_vmperf.workloads import base as workloads

_Assignments = collections.abc.Sequence[assignment.Assignment]
_Machines = collections.abc.Collection[model.DescribedMachine]
_Described = document.BaselineMachine | model.DescribedMachine

#: The peer of a baseline without one.
_UNKNOWN_PEER = document.BaselineMachine(name="peer", fingerprint={})


def find_guest_findings(
    session: sessions.Session,
    guests: collections.abc.Sequence[models.Guest],
    baseline: document.Baseline | None,
    shapes: collections.abc.Iterable[document.Shape],
) -> list[finding.Finding]:
    """Return all findings on guests and on their comparison with bare metal.

    :param shapes: The shapes in which guests and bare metal are compared.
    :raises BaselineError: If the baseline does not cover the session.
    """
    findings = find_without_baseline(session)
    for guest in guests:
        findings += verification.find_differences(
            guest, session.fingerprints.get(guest.name, {})
        )
    if baseline is None:
        return findings
    machines = describe_machines(session, guests)
    findings += compare_machines(session.assignments, machines, baseline)
    now = datetime.datetime.now(datetime.UTC)
    for shape in shapes:
        findings += compare_distribution(guests, shape.copies)
        findings += compare_data(session, baseline, shape)
        findings += reference.find_baseline_findings(
            baseline, session.assignments, shape, now
        )
    return findings


def find_in_arguments(
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> list[finding.Finding]:
    """Return the findings that arguments and files of workloads cause."""
    listed = [*assignments]
    findings = [
        finding.Finding(
            kind=kind,
            subject=assigned.title,
            detail=detail,
            metrics=tuple(metric.name for metric in assigned.metrics()),
        )
        for assigned in listed
        for kind, detail in assigned.workload.argument_findings(
            assigned.arguments
        )
    ]
    for assigned in listed:
        findings += find_fixed_rates(assigned)
        findings += assigned.find_in_files()
    return findings


def find_without_baseline(session: sessions.Session) -> list[finding.Finding]:
    """Return the findings on guests that do not depend on a baseline."""
    findings = find_in_arguments(session.assignments)
    for station in session.stations:
        facts = session.fingerprints[station.name]
        findings += comparability.virtualisation(facts, station.name)
    return findings


def find_fixed_rates(
    assigned: assignment.Assignment,
) -> list[finding.Finding]:
    """Return a finding for each rate that the commands of a workload offer.

    Its metrics are those of the command.
    """
    metrics = assigned.workload.metrics(assigned.arguments)
    offers = assigned.workload.offers(assigned.arguments)
    findings = []
    for offer in offers:
        if offer.rate is None:
            continue
        prefix = offer.metric.rpartition(".")[0] + "."
        (unit,) = {
            metric.unit for metric in metrics if metric.name == offer.metric
        }
        detail = (
            f"{assigned.workload.name} offers {units.show(offer.rate, unit)}"
        )
        findings.append(
            finding.Finding(
                kind="fixed_rate",
                subject=assigned.title,
                detail=detail
                + (f" in {offer.command}" if len(offers) > 1 else ""),
                metrics=tuple(
                    assigned.rename(metric.name)
                    for metric in metrics
                    if metric.name.startswith(prefix)
                ),
            )
        )
    return findings


def describe_machines(
    session: sessions.Session, guests: collections.abc.Iterable[models.Guest]
) -> list[model.DescribedMachine]:
    """Return the machines of a session with the facts for a comparison."""
    nova = {
        guest.name: {
            "hypervisor": guest.hypervisor,
            "host_cpu": guest.host_cpu,
        }
        for guest in guests
    }
    return [
        model.DescribedMachine(
            name=station.name,
            role=station.role,
            nova=nova.get(station.name, {}),
            **session.describe(station.name),
        )
        for station in session.everyone()
    ]


def compare_machines(
    assignments: _Assignments, machines: _Machines, baseline: document.Baseline
) -> list[finding.Finding]:
    """Return findings on machines and hosts that differ from the baseline."""
    bare_metal = baseline.machine
    sensitive = {
        sensitivity: _list_metrics(
            assignments,
            [
                assigned
                for assigned in assignments
                if assigned.workload.is_sensitive_to(sensitivity)
            ],
        )
        for sensitivity in t.get_args(workloads.Sensitivity)
    }
    users = _find_tool_metrics(assignments)
    definitions = [
        tool
        for tool in requirements.tools(assignments)
        if tool.affects_results
    ]
    findings = comparability.governor(
        bare_metal.fingerprint, sensitive["governor"]
    )
    findings += comparability.nested(bare_metal.fingerprint)
    peer = baseline.peer or _UNKNOWN_PEER
    guests = [machine for machine in machines if machine.role == "guest"]
    peers = [machine for machine in machines if machine.role == "peer"]
    for machine in (*guests, *peers):
        recorded = bare_metal
        if machine.role == "guest":
            findings += comparability.compare_machines(
                bare_metal.fingerprint,
                machine.fingerprint,
                machine.name,
                sensitive,
            )
        else:
            recorded = peer
            findings += comparability.peer_on_host(
                bare_metal.fingerprint, machine.fingerprint
            )
            findings += comparability.same_peer(
                peer.fingerprint, machine.fingerprint
            )
        findings += tool_comparison.compare_tools(
            recorded.tools,
            machine.tools,
            machine.name,
            users,
            definitions,
        )
    for guest in guests:
        findings += _compare_host(guest, baseline)
    return findings


def _compare_host(
    guest: model.DescribedMachine, baseline: document.Baseline
) -> list[finding.Finding]:
    """Return findings on a guest's host that differs from the baseline."""
    hypervisor = guest.nova.get("hypervisor")
    features = guest.nova.get("host_cpu") or ()
    fingerprint = baseline.machine.fingerprint
    return [
        *comparability.host(baseline, guest.name, hypervisor),
        *comparability.host_cpu(fingerprint, guest.name, features),
    ]


def compare_record(
    record: model.Record,
    machines: _Machines,
    baseline: document.Baseline,
    reason: str = "",
) -> model.Record:
    """Return a record with another baseline, and findings on it.

    :param machines: The machines of the record with their facts; a machine
        without facts raises the finding ``machine_unknown``.
    :param reason: The reason for missing descriptions; empty if unknown.
    :raises BaselineError: If the baseline does not cover the record.
    :raises WorkloadError: If a workload is unknown.
    """
    assignments = assignment.assign(map(vars, record.workloads))
    conditions = record.repetition.conditions
    numbers = dict.fromkeys(
        condition.reference_copies for condition in conditions
    )
    shapes = [
        document.Shape(record.shape.vcpus, record.shape.memory_mib, copies)
        for copies in numbers
        if copies is not None
    ]
    bare_metal, metrics = reference.build_reference(
        baseline, assignments, shapes
    )
    new_findings = [
        *report_unknown_machines(assignments, machines, baseline, reason),
        *compare_machines(assignments, machines, baseline),
    ]
    now = datetime.datetime.now(datetime.UTC)
    for shape in shapes:
        new_findings += reference.find_baseline_findings(
            baseline, assignments, shape, now
        )
    earlier_findings = [
        run_finding
        for run_finding in record.repetition.findings
        if run_finding.kind not in finding.FROM_BASELINE
    ]
    record = record.with_baseline(
        bare_metal, metrics, (*earlier_findings, *new_findings)
    )
    return model.link(record)


def report_unknown_machines(
    assignments: _Assignments,
    machines: _Machines,
    baseline: document.Baseline,
    reason: str,
) -> list[finding.Finding]:
    """Return findings on machines and tools that cannot be compared.

    An imported baseline has the finding ``baseline_imported`` instead.

    :param machines: The machines, whose fingerprint and tools can be empty.
    :param reason: The reason for missing descriptions; empty if unknown.
    """
    if any(baseline_entry.imported for baseline_entry in baseline.entries):
        return []
    guests, peers = (
        dict[str, _Described](
            (machine.name, machine)
            for machine in machines
            if machine.role == role
        )
        for role in ("guest", "peer")
    )
    guests = {"baseline": baseline.machine, **guests}
    findings = _report_unknown(assignments, "machine", guests, (), reason)
    if peers:
        recorded_peer = baseline.peer or _UNKNOWN_PEER
        peers = {"peer of the baseline": recorded_peer, **peers}
        networked = [
            assigned
            for assigned in assignments
            if assigned.workload.needs(assigned.arguments)
        ]
        metrics = _list_metrics(assignments, networked) or ()
        findings += _report_unknown(
            assignments, "peer", peers, metrics, reason
        )
    return findings


def _report_unknown(
    assignments: _Assignments,
    side: t.Literal["machine", "peer"],
    machines: collections.abc.Mapping[str, _Described],
    metrics: comparability.Metrics,
    reason: str,
) -> list[finding.Finding]:
    """Return findings on machines without a fingerprint or a tool.

    :param metrics: The metrics that depend on the machines; empty for all.
    """
    users = _find_tool_metrics(assignments)
    tools = requirements.tools(assignments, side=side)
    required = [tool.command for tool in tools if tool.affects_results]
    findings = []
    for name, machine in machines.items():
        if not machine.fingerprint:
            text = f"the fingerprint of {name} is unknown"
            text += f": {reason}" if reason else ""
            findings.append(
                finding.Finding("machine_unknown", name, text, metrics=metrics)
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
            if command not in machine.tools
        ]
    return findings


def compare_distribution(
    guests: collections.abc.Sequence[models.Guest], copies: int
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


def _list_metrics(
    assignments: _Assignments, chosen: _Assignments
) -> comparability.Metrics | None:
    """Return the names of the metrics of some assignments; None for none.

    :returns: They are empty, which means all, if all assignments are chosen.
    """
    if not chosen:
        return None
    if len(chosen) == len(assignments):
        return ()
    return tuple(
        metric.name for assigned in chosen for metric in assigned.metrics()
    )


def _find_tool_metrics(
    assignments: _Assignments,
) -> dict[str, comparability.Metrics]:
    """Return the names of the metrics that depend on each tool, as a dict."""
    users: dict[str, list[assignment.Assignment]] = {}
    for assigned in assignments:
        tools = assigned.workload.tools(assigned.arguments)
        for command in {tool.command for tool in tools}:
            users.setdefault(command, []).append(assigned)
    return {
        command: _list_metrics(assignments, chosen) or ()
        for command, chosen in users.items()
    }


def compare_data(
    session: sessions.Session,
    baseline: document.Baseline,
    shape: document.Shape,
) -> list[finding.Finding]:
    """Return findings on workload data that differ from bare metal.

    :raises BaselineError: If the baseline does not cover the session.
    """
    assignments = session.assignments
    chosen = reference.find_entries(baseline, assignments, shape)
    findings = []
    for assigned, baseline_entry in zip(assignments, chosen, strict=True):
        recorded = baseline_entry.facts
        metrics = tuple(metric.name for metric in assigned.metrics())
        for station in session.stations:
            facts = session.facts[station.name].get(assigned.directory, {})
            for key in sorted(recorded.keys() & facts.keys()):
                if recorded[key] != facts[key]:
                    detail = (
                        f"{assigned.title}: {key} is {recorded[key]} on bare "
                        f"metal and {facts[key]} on {station.name}"
                    )
                    findings.append(
                        finding.Finding(
                            "data_differ",
                            station.name,
                            detail,
                            metrics=metrics,
                        )
                    )
    return findings
