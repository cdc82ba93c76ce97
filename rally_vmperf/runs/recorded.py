"""The baseline document that a recording of bare metal comes to."""

import collections.abc
import dataclasses
import json
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.measurement import cpu_seconds
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.runs import recording

Json = collections.abc.Mapping[str, t.Any]


def baseline(
    parts: collections.abc.Sequence[recording.Part],
) -> dict[str, t.Any]:
    """Return the document of a recording that lacks nothing."""
    first = parts[0]
    peers = [peer for one in parts if (peer := _peer(one))]
    return {
        "version": 2,
        "name": first.plan.baseline,
        "session": first.plan.session,
        "recorded_at": first.records[0]["started_at"],
        "software": build.software(),
        "machine": _merged([_machine(one) for one in parts]),
        **({"peer": _merged(peers)} if peers else {}),
        "entries": [
            _entry(part, one)
            for part in parts
            for one in part.plan.assignments
        ],
    }


def _machine(part: recording.Part) -> dict[str, t.Any]:
    """Return name, fingerprint and tools of bare metal."""
    first = part.records[0]["machines"][0]
    return _described(part, first["host"], first["name"])


def _peer(part: recording.Part) -> dict[str, t.Any] | None:
    """Return the same of the peer, if there is one."""
    for one in part.records[0]["machines"]:
        if one["role"] == "peer":
            return _described(part, one["name"], one["name"])
    return None


def _described(
    part: recording.Part, name: str, machine: str
) -> dict[str, t.Any]:
    known = part.details[machine]
    return {
        "name": name,
        **{key: known[key] for key in ("fingerprint", "tools")},
    }


def _entry(
    part: recording.Part, one: assignment.Assignment
) -> dict[str, t.Any]:
    records = part.of(one)
    copies = [
        machine["name"]
        for machine in records[0]["machines"]
        if machine["role"] == "copy"
    ]
    facts: dict[str, str] = {}
    for name in copies:
        facts.update(part.details[name]["facts"].get(one.title, {}))
    found = {
        json.dumps(each): each
        for record in records
        for place in (record, *record["conditions"])
        for each in place["findings"]
    }
    return {
        "workload": one.workload.name,
        "arguments": one.arguments,
        "shape": dataclasses.asdict(part.plan.shape),
        "held": part.details[copies[0]]["held"],
        "facts": facts,
        "metrics": codec.encode_metrics(one.workload.metrics(one.arguments)),
        "repetitions": [_samples(record, one) for record in records],
        "commands": codec.encode_commands(_commands(records, one)).get(
            one.workload.name, []
        ),
        "findings": list(found.values()),
    }


def _commands(
    records: collections.abc.Iterable[Json], one: assignment.Assignment
) -> collections.abc.Iterable[cpu_seconds.Usage]:
    """Return what a workload's commands took, its label left out."""
    return (
        dataclasses.replace(used, workload=one.workload.name)
        for record in records
        for used in codec.decode_commands(
            record["conditions"][0].get("commands", {})
        )
        if used.workload == one.title
    )


def _samples(record: Json, one: assignment.Assignment) -> dict[str, t.Any]:
    """Return a workload's samples under the names that it gives them."""
    samples = record["conditions"][0]["samples"]
    return {
        metric.name: [
            codec.of_one(codec.several(given, record["metrics"][name]))
            for given in samples[name]
        ]
        for metric in one.workload.metrics(one.arguments)
        if (name := one.rename(metric.name)) in samples
    }


def _merged(machines: list[dict[str, t.Any]]) -> dict[str, t.Any]:
    """Return one account of a machine, with the tools of all its parts."""
    tools: dict[str, t.Any] = {}
    for one in machines:
        tools.update(one["tools"])
    return {**machines[0], "tools": tools}
