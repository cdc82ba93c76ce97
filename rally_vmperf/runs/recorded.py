"""Make the baseline document of a recording of bare metal."""

import collections
import collections.abc
import dataclasses
import json
import re
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.records import flows
from rally_vmperf.records import merged as merged_
from rally_vmperf.runs import recording

Json = collections.abc.Mapping[str, t.Any]
MergedT = t.TypeVar("MergedT", merged.Distribution, merged.TimeSeries)


def baseline(
    parts: collections.abc.Sequence[recording.Part],
) -> dict[str, t.Any]:
    """Return the document of a complete recording."""
    first = parts[0]
    peers = [peer for one in parts if (peer := _peer(one))]
    return {
        "version": 3,
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


#: What a baseline takes over of how the machine was held; journals of
#: former versions lack some of it.
_HELD = ("limited_by", "cpus", "numa_nodes")


def _entry(
    part: recording.Part, one: assignment.Assignment
) -> dict[str, t.Any]:
    records = part.of(one)
    copies = [
        machine["name"]
        for machine in records[0]["machines"]
        if machine["role"] == "copy"
    ]
    known = part.details[copies[0]]
    facts: dict[str, str] = {}
    for name in copies:
        facts.update(part.details[name]["facts"].get(one.title, {}))
    kinds = flows.of_records(records, one.workload.needs(one.arguments))
    return {
        "workload": one.workload.name,
        "arguments": one.arguments,
        **one.protocol(),
        "shape": dataclasses.asdict(part.plan.shape),
        **{key: value for key, value in known.items() if key in _HELD},
        "facts": facts,
        "repetitions": [_samples(record, one) for record in records],
        "command_usage": codec.encode_commands(_commands(records, one)).get(
            one.workload.name, []
        ),
        **_merged_samples(records, one),
        "findings": list(_findings(records)),
        **({"flows": kinds} if kinds else {}),
    }


#: The share of a machine's processors that others used.
_SHARE = re.compile(r"used (\d{1,9}(?:\.\d{1,9})?)%")


def _findings(
    records: collections.abc.Sequence[Json],
) -> collections.abc.Iterator[Json]:
    """Yield findings of all repetitions, those of one kind together.

    What not all repetitions show in the same words is told once, with how
    many show it, and in the words of the one in which others used most.
    """
    alike: dict[str, list[tuple[int, Json]]] = collections.defaultdict(list)
    for number, record in enumerate(records):
        for place in (record, *record["conditions"]):
            for each in place["findings"]:
                key = json.dumps({**each, "detail": ""})
                alike[key].append((number, each))
    for several in alike.values():
        where: dict[str, set[int]] = collections.defaultdict(set)
        for number, each in several:
            where[each["detail"]].add(number)
        own = [x for x, there in where.items() if len(there) < len(records)]
        for seen in [x for x in where if x not in own]:
            yield {**several[0][1], "detail": seen}
        if own:
            shown = len(set().union(*(where[seen] for seen in own)))
            most = max(own, key=_share)
            words = f"in {shown} of {len(records)} repetitions"
            if len(own) > 1:
                words += ", at worst" if _share(most) else ", such as"
            yield {**several[0][1], "detail": f"{words}: {most}"}


def _share(text: str) -> float:
    found = _SHARE.search(text)
    return float(found[1]) if found else 0.0


def _merged_samples(
    records: collections.abc.Sequence[Json], one: assignment.Assignment
) -> dict[str, t.Any]:
    """Return the samples of all copies, without the workload's label.

    :returns: metrics; percentiles of each repetition; distributions and lines
        of all repetitions
    """
    names = [each.name for each in one.workload.metrics(one.arguments)]
    names += sample.distribution_names(names)
    labelled = {one.rename(name): name for name in names}
    parts = [
        (one["conditions"][0], codec.decode_metrics(one["metrics"]))
        for one in records
    ]
    distributions = [
        _renamed(merged_.distributions(*part), labelled) for part in parts
    ]
    whole = merged.merge_distributions(distributions)
    over_time = merged.merge_lines(
        _renamed(merged_.time_series(*part), labelled) for part in parts
    )
    percentiles = [
        {each.metric: list(each.percentiles) for each in found}
        for found in distributions
    ]
    return {
        "metrics": codec.encode_metrics(
            [
                *one.workload.metrics(one.arguments),
                *(each.metric for each in whole),
                *(each.metric for each in over_time),
            ]
        ),
        "percentiles": {
            each.metric.name: [
                rows.get(each.metric, []) for rows in percentiles
            ]
            for each in whole
        },
        "distributions": merged_.encode_distributions(whole),
        "time_series": merged_.encode_time_series(over_time),
    }


def _renamed(
    parts: collections.abc.Iterable[MergedT],
    names: collections.abc.Mapping[str, str],
) -> list[MergedT]:
    """Return the samples of these metrics, under other names."""
    return [
        dataclasses.replace(
            one,
            metric=dataclasses.replace(
                one.metric, name=names[one.metric.name]
            ),
        )
        for one in parts
        if one.metric.name in names
    ]


def _commands(
    records: collections.abc.Iterable[Json], one: assignment.Assignment
) -> collections.abc.Iterable[cpu_seconds.Usage]:
    """Return the CPU usage of a workload's commands, without its label."""
    return (
        dataclasses.replace(used, workload=one.workload.name)
        for record in records
        for used in codec.decode_commands(
            record["conditions"][0].get("command_usage", {})
        )
        if used.workload == one.title
    )


def _samples(record: Json, one: assignment.Assignment) -> dict[str, t.Any]:
    """Return a workload's samples under the names that it gives them."""
    samples = record["conditions"][0]["samples"]
    return {
        metric.name: [
            codec.encode_values(
                codec.decode_values(given, record["metrics"][name])
            )
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
