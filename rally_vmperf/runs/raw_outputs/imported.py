"""The import of raw outputs from machines that cannot be reached."""

import collections.abc
import dataclasses
import datetime
import typing as t
import uuid

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import model
from rally_vmperf.runs.raw_outputs import raw

Raws = collections.abc.Sequence[raw.RawOutput]

#: The direction between guests, and its replacement on bare metal.
_STAND_IN = (".guest_to_guest.", ".to_peer.")


def build_baseline(
    name: str,
    machine: str,
    raws: Raws,
    fingerprint: documents.Facts,
    machine_class: str = "",
) -> document.Baseline:
    """Return a baseline from raw outputs; missing properties are unknown.

    :param raws: The raw outputs, one for each workload.
    :param fingerprint: The fingerprint of the machine; empty if unknown.
    :param machine_class: The class of machines that it represents, or "".
    """
    now = datetime.datetime.now(datetime.UTC)
    return document.Baseline(
        name=name,
        machine_class=machine_class,
        session=uuid.uuid4().hex,
        recorded_at=now.isoformat(timespec="seconds"),
        software=model.software(),
        machine=document.Machine(name=machine, fingerprint=dict(fingerprint)),
        entries=tuple(
            _build_entry(raw_output, fingerprint) for raw_output in raws
        ),
    )


def _build_entry(
    raw_output: raw.RawOutput, fingerprint: documents.Facts
) -> document.Entry:
    """Return the baseline entry of a raw output."""
    unknown = ["shape", "limited_by", "tool versions", *raw_output.unknown]
    if not fingerprint:
        unknown.append("fingerprint")
    imported = finding.Finding(
        "baseline_imported",
        "baseline",
        f"{raw_output.workload}: "
        f"{units.number_of('repetition', len(raw_output.repetitions))}; "
        f"unknown: {', '.join(unknown)}",
        metrics=tuple(metric.name for metric in raw_output.metrics),
    )
    return document.Entry(
        workload=raw_output.workload,
        arguments=raw_output.arguments,
        limited_by="unknown",
        metrics=tuple(raw_output.metrics),
        reference=repetition.Reference(
            repetitions=tuple(
                tuple(sample.Observation("copy-1", one) for one in samples)
                for samples in raw_output.repetitions
            )
        ),
        findings=(imported,),
    )


def build_repetitions(
    content: document.Baseline,
    guest: Raws,
    physical: collections.abc.Mapping[str, float],
) -> list[repetition.Repetition]:
    """Return repetitions from a guest's raw outputs and a baseline.

    The n-th outputs of all workloads form the n-th repetition.

    :param content: The baseline for the comparison.
    :param physical: Metric or glob pattern -> limit of the machine in base
        units.
    :raises BaselineError: If the arguments of both sides differ.
    :raises ValueError: If a pattern matches no metric.
    """
    reference, findings = _build_reference(content, guest)
    planned = max(len(raw_output.repetitions) for raw_output in guest)
    repetitions = []
    for index in range(planned):
        samples = [
            s
            for raw_output in guest
            for taken in raw_output.repetitions[index : index + 1]
            for s in taken
        ]
        repetitions.append(
            _build_repetition(index + 1, planned, samples, reference, findings)
        )
    bounds = limits.Limits(physical)
    names = {
        metric.name for raw_output in guest for metric in raw_output.metrics
    }
    unmatched = bounds.unmatched(names)
    if unmatched:
        raise ValueError(
            f"physical limit {unmatched[0]!r} matches no metric; there are: "
            f"{', '.join(sorted(names))}"
        )
    above = tuple(plausibility.above_physical_limit(repetitions, bounds))
    return [
        dataclasses.replace(raw_output, findings=raw_output.findings + above)
        for raw_output in repetitions
    ]


def _build_repetition(
    number: int,
    planned: int,
    samples: collections.abc.Collection[sample.Sample],
    reference: repetition.Reference,
    findings: tuple[finding.Finding, ...],
) -> repetition.Repetition:
    """Return a complete repetition of a guest from its samples."""
    common: dict[str, t.Any] = {
        "number": number,
        "planned_repetitions": planned,
        "counted": True,
        "state": "complete",
        "expected_metrics": tuple(value.metric for value in samples),
    }
    condition = repetition.Condition(
        **common,
        axes={},
        position=1,
        machines=("guest",),
        observations=tuple(
            sample.Observation("guest", value) for value in samples
        ),
        reference=reference,
    )
    return repetition.Repetition(
        **common, conditions=(condition,), findings=findings
    )


#: Arguments that choose metrics and do not change their meaning.
_CHOICES = {"directions", "tests", "methods"}


def _build_reference(
    content: document.Baseline, guest: Raws
) -> tuple[repetition.Reference, tuple[finding.Finding, ...]]:
    """Return the bare-metal reference for the outputs, with findings."""
    rows: list[list[sample.Observation]] = []
    findings: list[finding.Finding] = []
    for raw_output in guest:
        for name in sorted(metric.name for metric in raw_output.metrics):
            baseline_entry, recorded = _find_entry(content, raw_output, name)
            if baseline_entry is None:
                continue
            findings += baseline_entry.findings
            if recorded != name:
                detail = f"{name} is compared with {recorded} of bare metal"
                findings.append(
                    finding.Finding("peer_replaces_partner", name, detail)
                )
            _add_observations(rows, baseline_entry, recorded, name)
    names = {
        metric.name
        for baseline_entry in content.entries
        for metric in baseline_entry.metrics
    }
    reference = repetition.Reference(
        name=content.name,
        machine=content.machine.name,
        recorded_at=content.recorded_at,
        repetitions=tuple(map(tuple, rows)),
        others=tuple(sorted(names)),
    )
    return reference, tuple(dict.fromkeys(findings))


def _find_entry(
    content: document.Baseline, raw_output: raw.RawOutput, name: str
) -> tuple[document.Entry | None, str]:
    """Return the entry (or None) of a metric in a baseline, and its name.

    :raises BaselineError: If it was measured with other arguments.
    """
    for metric_name in dict.fromkeys((name, name.replace(*_STAND_IN))):
        for baseline_entry in reversed(content.entries):
            names = {metric.name for metric in baseline_entry.metrics}
            if (
                baseline_entry.workload != raw_output.workload
                or metric_name not in names
                or baseline_entry.copies > 1
            ):
                continue
            recorded = baseline_entry.arguments
            differences = [
                f"{key} is {recorded[key]!r} in the baseline "
                f"and {argument!r} here"
                for key, argument in raw_output.arguments.items()
                if key in recorded.keys() - _CHOICES
                and recorded[key] != argument
            ]
            if differences:
                raise document.BaselineError(
                    f"baseline {content.name!r} has {metric_name} with "
                    f"other arguments: {', '.join(differences)}; compare "
                    "outputs of the same command line"
                )
            return baseline_entry, metric_name
    return None, name


def _add_observations(
    rows: list[list[sample.Observation]],
    baseline_entry: document.Entry,
    recorded: str,
    name: str,
) -> None:
    """Add the values of a metric to the repetitions of bare metal."""
    for index, observations in enumerate(baseline_entry.reference.repetitions):
        if index == len(rows):
            rows.append([])
        for observation in observations:
            metric = observation.sample.metric
            if metric.name == recorded:
                renamed = dataclasses.replace(metric, name=name)
                value = sample.Sample(renamed, observation.sample.value)
                rows[index].append(sample.Observation("copy-1", value))
