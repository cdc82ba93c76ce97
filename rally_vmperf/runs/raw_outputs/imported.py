"""Import raw outputs of machines that cannot be reached."""

import collections.abc
import dataclasses
import datetime
import typing as t
import uuid

from rally_vmperf.baseline import document
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.runs.raw_outputs import raw

Json = collections.abc.Mapping[str, t.Any]
Raws = collections.abc.Sequence[raw.Raw]

#: Direction between guests -> what stands in for it on bare metal.
_STAND_IN = (".guest_to_guest.", ".to_peer.")


def baseline(
    name: str, machine: str, raws: Raws, fingerprint: Json
) -> dict[str, t.Any]:
    """Return the baseline of raw outputs; what they lack is unknown.

    :param raws: one for each workload
    :param fingerprint: of the machine, empty where nobody took it
    """
    return {
        "version": 3,
        "name": name,
        "session": uuid.uuid4().hex,
        "recorded_at": datetime.datetime.now(datetime.UTC).isoformat(
            timespec="seconds"
        ),
        "software": build.software(),
        "machine": {
            "name": machine,
            "fingerprint": dict(fingerprint),
            "tools": {},
        },
        "entries": [_entry(one, fingerprint) for one in raws],
    }


def _entry(one: raw.Raw, fingerprint: Json) -> dict[str, t.Any]:
    unknown = ["shape", "limited_by", "tool versions", *one.unknown]
    if not fingerprint:
        unknown.append("fingerprint")
    metrics = tuple(
        dict.fromkeys(s.metric for each in one.repetitions for s in each)
    )
    found = finding.Finding(
        "baseline_imported",
        "baseline",
        f"{one.workload}: "
        f"{units.number_of('repetition', len(one.repetitions))}; unknown: "
        f"{', '.join(unknown)}",
        metrics=tuple(metric.name for metric in metrics),
    )
    return {
        "workload": one.workload,
        "imported": True,
        "arguments": one.arguments,
        "shape": {"vcpus": None, "memory_mib": None, "copies": 1},
        "limited_by": "unknown",
        "metrics": codec.encode_metrics(metrics),
        "repetitions": [
            {s.metric.name: [s.value] for s in each}
            for each in one.repetitions
        ],
        "findings": codec.encode_findings([found]),
    }


def repetitions(
    content: document.Json,
    guest: Raws,
    physical: collections.abc.Mapping[str, float],
) -> list[repetition.Repetition]:
    """Return raw outputs of a guest as repetitions for a judge.

    Each workload counts its own; the first ones of all are one repetition.

    :param content: the baseline that they are compared with
    :param physical: metric or glob -> what the machine can do, in base units
    :raises BaselineError: where the arguments of both sides differ
    :raises ValueError: for a pattern that no metric goes with
    """
    reference, findings = _reference(content, guest)
    planned = max(len(one.repetitions) for one in guest)
    entries = []
    for index in range(planned):
        samples = [
            s
            for one in guest
            for each in one.repetitions[index : index + 1]
            for s in each
        ]
        entries.append(
            _repetition(index + 1, planned, samples, reference, findings)
        )
    bounds = limits.Limits(physical)
    names = {
        s.metric.name
        for one in guest
        for each in one.repetitions
        for s in each
    }
    unmatched = bounds.unmatched(names)
    if unmatched:
        raise ValueError(
            f"physical limit {unmatched[0]!r} matches no metric; there are: "
            f"{', '.join(sorted(names))}"
        )
    above = tuple(plausibility.above_physical_limit(entries, bounds))
    return [
        dataclasses.replace(one, findings=one.findings + above)
        for one in entries
    ]


def _repetition(
    number: int,
    planned: int,
    samples: collections.abc.Iterable[sample.Sample],
    reference: repetition.Reference,
    findings: tuple[finding.Finding, ...],
) -> repetition.Repetition:
    observations = tuple(sample.Observation("guest", one) for one in samples)
    expected = tuple(one.sample.metric for one in observations)
    condition = repetition.Condition(
        axes={},
        number=number,
        planned_repetitions=planned,
        counted=True,
        position=1,
        state="complete",
        expected_metrics=expected,
        machines=("guest",),
        observations=observations,
        reference=reference,
    )
    return repetition.Repetition(
        number=number,
        planned_repetitions=planned,
        counted=True,
        state="complete",
        expected_metrics=expected,
        conditions=(condition,),
        hosts={},
        missing=(),
        findings=findings,
    )


#: Arguments that choose metrics and do not change their meaning.
_CHOICES = {"directions", "tests", "methods"}


def _reference(
    content: document.Json, guest: Raws
) -> tuple[repetition.Reference, tuple[finding.Finding, ...]]:
    """Return the bare metal for these outputs, and findings on it."""
    rows: list[list[sample.Observation]] = []
    found: list[finding.Finding] = []
    for one in guest:
        for name in sorted(
            {s.metric.name for each in one.repetitions for s in each}
        ):
            entry, recorded = _entry_of(content, one, name)
            if entry is None:
                continue
            found += [finding.Finding(**each) for each in entry["findings"]]
            if recorded != name:
                seen = f"{name} is compared with {recorded} of bare metal"
                found.append(
                    finding.Finding("peer_replaces_partner", name, seen)
                )
            _gather(rows, entry, recorded, name)
    machine = content["machine"]["name"]
    reference = repetition.Reference(
        name=content["name"],
        machine=machine,
        recorded_at=content["recorded_at"],
        repetitions=tuple(tuple(each) for each in rows),
        others=tuple(
            sorted(
                {n for entry in content["entries"] for n in entry["metrics"]}
            )
        ),
    )
    return reference, tuple(dict.fromkeys(found))


def _entry_of(
    content: document.Json, one: raw.Raw, name: str
) -> tuple[Json | None, str]:
    """Return the baseline's entry of a metric, and the metric's name there.

    :raises BaselineError: when it was measured with other arguments
    """
    for wanted in dict.fromkeys((name, name.replace(*_STAND_IN))):
        for entry in reversed(content["entries"]):
            if entry["workload"] != one.workload:
                continue
            if wanted not in entry["metrics"] or entry["shape"]["copies"] > 1:
                continue
            recorded = entry["arguments"]
            other = [
                f"{key} is {recorded[key]!r} in the baseline "
                f"and {value!r} here"
                for key, value in one.arguments.items()
                if key in recorded.keys() - _CHOICES and recorded[key] != value
            ]
            if other:
                raise document.BaselineError(
                    f"baseline {content['name']!r} has {wanted} with other "
                    f"arguments: {', '.join(other)}; compare outputs of the "
                    "same command line"
                )
            return entry, wanted
    return None, name


def _gather(
    rows: list[list[sample.Observation]], entry: Json, recorded: str, name: str
) -> None:
    """Add an entry's values of a metric to the repetitions of bare metal."""
    meaning = codec.decode_metrics({name: entry["metrics"][recorded]})[name]
    for index, samples in enumerate(entry["repetitions"]):
        if index == len(rows):
            rows.append([])
        for given in samples.get(recorded, ()):
            rows[index] += [
                sample.Observation("copy-1", sample.Sample(meaning, value))
                for value in codec.decode_values(given, {})
            ]
