"""Whether the machines of a session can be compared with the baseline's."""

import collections.abc
import dataclasses
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
from rally_vmperf.runs import reference
from rally_vmperf.workloads import base as workloads


def of_guests(
    session: sessions.Session,
    guests: collections.abc.Sequence[guests_.Guest],
    baseline: document.Json | None,
    shapes: collections.abc.Iterable[matching.Shape],
) -> list[finding.Finding]:
    """Return what there is to say of guests, and of bare metal beside them.

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
        found += data(session, baseline, shape)
        found += reference.findings(baseline, session.assignments, shape, now)
    return found


def alone(session: sessions.Session) -> list[finding.Finding]:
    """Return what there is to say without bare metal."""
    found = []
    for one in session.assignments:
        found += [
            finding.Finding(kind=kind, subject=one.title, seen=seen)
            for kind, seen in one.workload.cautions(one.arguments)
        ]
    for place in session.places:
        facts = session.fingerprints[place.name]
        found += comparability.virtualisation(facts, place.name)
    return found


def machines(
    session: sessions.Session, baseline: document.Json
) -> list[finding.Finding]:
    """Return in what guests, peer and tools differ from the baseline's."""
    metal = baseline["machine"]
    sensitive = {
        one: _metrics_of(session.assignments, _sensitive_to(one))
        for one in t.get_args(workloads.Sensitivity)
    }
    found = comparability.governor(metal["fingerprint"], sensitive["governor"])
    found += comparability.nested(metal["fingerprint"])
    for place in session.places:
        facts = session.fingerprints[place.name]
        found += comparability.compare_machines(
            metal["fingerprint"], facts, place.name, sensitive
        )
        found += comparability.compare_tools(
            metal.get("tools", {}),
            _measuring(session, place.name),
            place.name,
            _users(session.assignments),
        )
    if session.peer is not None:
        found += _peer(session, session.peer.name, baseline)
    return found


def hosts(
    guests: collections.abc.Iterable[guests_.Guest], baseline: document.Json
) -> list[finding.Finding]:
    """Return which guests run on another machine than the baseline's."""
    name = baseline["machine"]["name"]
    return [
        one
        for guest in guests
        for one in comparability.host(name, guest.name, guest.hypervisor)
    ]


def _measuring(
    session: sessions.Session, name: str
) -> dict[str, dict[str, t.Any]]:
    """Return a station's tools, without those that only prepare."""
    measuring = {
        tool.command
        for tool in requirements.tools(session.assignments)
        if tool.measures
    }
    return {
        command: dataclasses.asdict(facts)
        for command, facts in session.tools[name].items()
        if command in measuring
    }


def _peer(
    session: sessions.Session, name: str, baseline: document.Json
) -> list[finding.Finding]:
    facts = session.fingerprints[name]
    recorded = baseline.get("peer", {})
    return (
        comparability.peer_place(baseline["machine"]["fingerprint"], facts)
        + comparability.same_peer(recorded.get("fingerprint", {}), facts)
        + comparability.compare_tools(
            recorded.get("tools", {}),
            _measuring(session, name),
            name,
            _users(session.assignments),
        )
    )


_Test = collections.abc.Callable[[assignment.Assignment], bool]
_Assignments = collections.abc.Sequence[assignment.Assignment]


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
    return lambda one: what in one.workload.SENSITIVE_TO


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
        for place in session.places:
            facts = session.facts[place.name].get(one.title, {})
            for key in sorted(recorded.keys() & facts.keys()):
                if recorded[key] == facts[key]:
                    continue
                found.append(
                    finding.Finding(
                        kind="data_differ",
                        subject=place.name,
                        seen=f"{one.title}: {key} is {recorded[key]} on bare "
                        f"metal and {facts[key]} on {place.name}",
                        metrics=tuple(each.name for each in one.metrics()),
                    )
                )
    return found
