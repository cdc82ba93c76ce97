"""Findings about a session's machines against those of the baseline."""

import dataclasses

from rally_vmperf.baseline import document
from rally_vmperf.baseline import likeness
from rally_vmperf.baseline import matching
from rally_vmperf.execution import comparison
from rally_vmperf.execution import requirements
from rally_vmperf.execution import session as sessions
from rally_vmperf.measurement import finding


def find(
    session: sessions.Session, baseline: document.Json, shape: matching.Shape
) -> list[finding.Finding]:
    """Return in what guests, peer, tools and data differ from the baseline's.

    :raises BaselineError: when the baseline does not cover the session
    """
    metal = baseline["machine"]
    found = likeness.governor(metal["fingerprint"])
    for one in session.assignments:
        found += [
            finding.Finding(kind=kind, subject=one.title, seen=seen)
            for kind, seen in one.workload.cautions(one.arguments)
        ]
    for place in session.places:
        facts = session.fingerprints[place.name]
        found += likeness.virtualisation(facts, place.name)
        found += likeness.compare_machines(
            metal["fingerprint"], facts, place.name
        )
        found += likeness.compare_tools(
            metal.get("tools", {}),
            {
                tool.command: dataclasses.asdict(
                    session.tools[place.name][tool.command]
                )
                for tool in requirements.tools(session.assignments)
                if tool.measures
            },
            place.name,
        )
    if session.peer is not None:
        found += likeness.peer_place(
            metal["fingerprint"], session.fingerprints[session.peer.name]
        )
    return found + _data(session, baseline, shape)


def _data(
    session: sessions.Session, baseline: document.Json, shape: matching.Shape
) -> list[finding.Finding]:
    found = []
    chosen = comparison.entries(baseline, session.assignments, shape)
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
                    )
                )
    return found
