# SPDX-License-Identifier: Apache-2.0
"""The import of raw outputs from machines that cannot be reached."""

import collections.abc
import dataclasses
import datetime
import operator
import typing as t
import uuid

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.baseline import tool_comparison
from rally_vmperf.execution import assignment
from rally_vmperf.execution import estimate
from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import model
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry

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
        machine=document.BaselineMachine(
            name=machine,
            fingerprint=dict(fingerprint),
            tools={
                command: {"version": version}
                for raw_output in reversed(raws)
                for command, version in raw_output.versions[:1]
            },
        ),
        entries=tuple(
            _build_entry(raw_output, fingerprint) for raw_output in raws
        ),
    )


def _build_entry(
    raw_output: raw.RawOutput, fingerprint: documents.Facts
) -> document.BaselineEntry:
    """Return the baseline entry of a raw output."""
    unknown = ["shape", "limited_by", *raw_output.unknown]
    if not raw_output.versions:
        unknown.insert(2, "tool version")
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
    return document.BaselineEntry(
        workload=raw_output.workload,
        arguments=raw_output.arguments,
        limited_by="unknown",
        metrics=tuple(raw_output.metrics),
        reference=repetition.Reference(
            repetitions=tuple(
                tuple(
                    sample.Observation("copy-1", reading)
                    for reading in samples
                )
                for samples in raw_output.repetitions
            )
        ),
        findings=(imported,),
    )


def build_repetitions(
    content: document.Baseline,
    guest: Raws,
    physical: collections.abc.Mapping[str, float],
    is_lenient: bool = False,
    limited: collections.abc.Collection[str] = (),
) -> tuple[list[repetition.Repetition], list[str]]:
    """Return repetitions from a guest's raw outputs and a baseline.

    The n-th outputs of all workloads form the n-th repetition. A metric that
    was measured with other arguments is not compared.

    :param content: The baseline for the comparison.
    :param physical: Metric or glob pattern -> limit of the machine in base
        units.
    :param is_lenient: Whether outputs with other arguments are compared.
    :param limited: The patterns of metrics that must be compared.
    :returns: The repetitions, and a line for each metric that is omitted.
    :raises BaselineError: If the arguments of all outputs differ.
    """
    built = _ReferenceBuilder(content, is_lenient)
    labelled = [built.add(raw_output) for raw_output in guest]
    if not any(repetitions for repetitions in labelled if any(repetitions)):
        raise document.BaselineError("; ".join(built.omitted))
    planned = max(map(len, labelled))
    required = verdict.Limits(dict.fromkeys(limited, 0))
    missing = [
        metric
        for metric in built.list_missing()
        if required.for_metric(metric.name)
    ]
    reference, findings = built.create_reference()
    tools = tuple(_compare_tools(content, guest))
    repetitions = [
        _build_repetition(
            index + 1,
            planned,
            [
                value
                for output_repetitions in labelled
                for samples in output_repetitions[index : index + 1]
                for value in samples
            ],
            missing,
            reference,
            findings + tools,
        )
        for index in range(planned)
    ]
    bounds = verdict.Limits(physical)
    above = tuple(plausibility.above_physical_limit(repetitions, bounds))
    return [
        dataclasses.replace(raw_output, findings=raw_output.findings + above)
        for raw_output in repetitions
    ], built.omitted


def _compare_tools(
    content: document.Baseline, guest: Raws
) -> collections.abc.Iterator[finding.Finding]:
    """Yield findings on tools with another version on each side."""
    for raw_output in guest:
        definitions = registry.get_workload(raw_output.workload).TOOLS
        metrics = tuple(
            assignment.relabel(metric.name, raw_output.label)
            for metric in raw_output.metrics
        )
        for command, version in raw_output.versions:
            yield from tool_comparison.compare_tools(
                content.machine.tools,
                {command: {"version": version}},
                "guest",
                {command: metrics},
                definitions,
            )


def _build_repetition(
    number: int,
    planned: int,
    samples: collections.abc.Collection[sample.Sample],
    missing: collections.abc.Collection[sample.Metric],
    reference: repetition.Reference,
    findings: tuple[finding.Finding, ...],
) -> repetition.Repetition:
    """Return a complete repetition of a guest from its samples.

    :param missing: The metrics that must be compared, and are not.
    """
    common: dict[str, t.Any] = {
        "number": number,
        "planned_repetitions": planned,
        "counted": True,
        "state": "complete",
        "expected_metrics": (
            *(reading.metric for reading in samples),
            *missing,
        ),
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
_CHOICES = {"directions", "tests", "methods", "operations", "protocols"}
#: Arguments with which an output is one of another test.
_IDENTITY = {"copies", "algorithm", "bits"}


class _ReferenceBuilder:
    """The bare-metal samples that a guest's outputs are compared with.

    :param omitted: A line for each metric that is not compared.
    """

    def __init__(self, content: document.Baseline, is_lenient: bool) -> None:
        self._content = content
        self._is_lenient = is_lenient
        self._rows: list[list[sample.Observation]] = []
        self._findings: dict[finding.Finding, None] = {}
        self._used: set[str] = set()
        self._omitted_metrics: list[sample.Metric] = []
        self.omitted: list[str] = []

    def list_missing(self) -> list[sample.Metric]:
        """Return the metrics of one side only, and those of other arguments.

        A metric of the guest alone is not one of them: it has a row.
        """
        alone = {
            metric.name: metric
            for entry in self._content.entries
            for metric in entry.metrics
            if metric.name not in self._used
        }
        return [*self._omitted_metrics, *alone.values()]

    def add(self, raw_output: raw.RawOutput) -> list[raw.Samples]:
        """Return an output's samples to compare, named with its label."""
        names: dict[str, str] = {}
        omitted: dict[str, list[str]] = {}
        for metric in raw_output.metrics:
            name = assignment.relabel(metric.name, raw_output.label)
            baseline_entry, recorded, differences = self._find_entry(
                raw_output, metric.name
            )
            self._used |= {metric.name, recorded}
            if differences:
                self._omitted_metrics.append(
                    dataclasses.replace(metric, name=name)
                )
                omitted.setdefault(differences, []).append(name)
                continue
            names[metric.name] = name
            if baseline_entry is not None:
                self._add_entry(baseline_entry, recorded, name)
        self.omitted += [
            f"{', '.join(metrics)}: not compared: {differences}; give outputs "
            "of the same command line, or add --allow arguments"
            for differences, metrics in omitted.items()
        ]
        return [
            tuple(
                sample.Sample(
                    dataclasses.replace(
                        value.metric, name=names[value.metric.name]
                    ),
                    value.value,
                )
                for value in samples
                if value.metric.name in names
            )
            for samples in raw_output.repetitions
        ]

    def create_reference(
        self,
    ) -> tuple[repetition.Reference, tuple[finding.Finding, ...]]:
        """Return the reference for the outputs so far, with findings."""
        names = {
            metric.name
            for baseline_entry in self._content.entries
            for metric in baseline_entry.metrics
        }
        reference = repetition.Reference(
            name=self._content.name,
            machine=self._content.machine.name,
            recorded_at=self._content.recorded_at,
            repetitions=tuple(map(tuple, self._rows)),
            others=tuple(sorted(names)),
        )
        return reference, tuple(self._findings)

    def _find_entry(
        self, raw_output: raw.RawOutput, name: str
    ) -> tuple[document.BaselineEntry | None, str, str]:
        """Return the entry of a metric or None, its name, and differences.

        :returns: The entry with the fewest differences. It is None if there
            are differences that are not allowed.
        """
        candidates: list[tuple[int, document.BaselineEntry, str, str]] = []
        for metric_name in dict.fromkeys((name, name.replace(*_STAND_IN))):
            for baseline_entry in reversed(self._content.entries):
                names = {metric.name for metric in baseline_entry.metrics}
                if (
                    baseline_entry.workload != raw_output.workload
                    or metric_name not in names
                    or baseline_entry.copies > 1
                ):
                    continue
                arguments = _select_numbers(
                    _complete_arguments(baseline_entry, metric_name),
                    metric_name,
                )
                if not _is_imported(baseline_entry):
                    _omit_other_options(arguments, raw_output.arguments)
                keys = _list_differences(arguments, raw_output.arguments)
                if self._is_lenient:
                    keys = [key for key in keys if key in _IDENTITY]
                text = _describe_differences(
                    keys, arguments, raw_output.arguments
                )
                candidates.append(
                    (len(keys), baseline_entry, metric_name, text)
                )
        if not candidates:
            return None, name, ""
        count, baseline_entry, metric_name, text = min(
            candidates, key=operator.itemgetter(0)
        )
        return (None if count else baseline_entry), metric_name, text

    def _add_entry(
        self, baseline_entry: document.BaselineEntry, recorded: str, name: str
    ) -> None:
        """Add the values of a metric, and the findings on its entry."""
        self._findings |= dict.fromkeys(baseline_entry.findings)
        if _STAND_IN[0] in name and _STAND_IN[1] in recorded:
            detail = f"{name} is compared with {recorded} of bare metal"
            replaced = finding.Finding("peer_replaces_partner", name, detail)
            self._findings[replaced] = None
        repetitions = baseline_entry.reference.repetitions
        for index, observations in enumerate(repetitions):
            if index == len(self._rows):
                self._rows.append([])
            for observation in observations:
                metric = observation.sample.metric
                if metric.name == recorded:
                    renamed = dataclasses.replace(metric, name=name)
                    value = sample.Sample(renamed, observation.sample.value)
                    self._rows[index].append(
                        sample.Observation("copy-1", value)
                    )


def _is_imported(baseline_entry: document.BaselineEntry) -> bool:
    """Return whether an entry is from raw outputs."""
    kinds = {report.kind for report in baseline_entry.findings}
    return "baseline_imported" in kinds


def _complete_arguments(
    baseline_entry: document.BaselineEntry, metric: str
) -> dict[str, t.Any]:
    """Return the known arguments of an entry.

    Options of the tool that are no arguments of the workload are those of the
    command line of the workload, or have their defaults. Options that a file
    of the operator can set are unknown, and so are all of a tool in a script.
    """
    if _is_imported(baseline_entry):
        return dict(baseline_entry.arguments)
    assigned = assignment.Assignment(
        registry.get_workload(baseline_entry.workload),
        dict(baseline_entry.arguments),
    )
    table = assigned.workload.TOOL_OPTIONS
    argv = _find_argv(assigned, metric)
    if argv is None:
        return dict(baseline_entry.arguments)
    stated, operands = table.read_argv(argv)
    arguments = {
        **table.read(stated, is_complete=True),
        **baseline_entry.arguments,
    }
    # Each process has its share of the file, and a job all devices.
    if size := table.read(stated).get("size_mib"):
        arguments["size_mib"] = size
    if "target" in arguments:
        # dd has its places in operands.
        forms = {target.form for target in assigned.targets()}
        place = "device" if "device" in forms else "file"
        arguments.setdefault("place", place)
    if operands and table.in_files:
        outside = table.list_outside_files()
        return {key: arguments[key] for key in arguments if key in outside}
    return arguments


def _omit_other_options(
    recorded: dict[str, t.Any], of_guest: documents.Arguments
) -> None:
    """Omit the other options of a workload that a guest may lack.

    They change little, but the guest must have no further ones.
    """
    others = set(recorded.get("other_options", "").split())
    if others.issuperset(of_guest.get("other_options", "").split()):
        recorded.pop("other_options", None)


def _find_argv(
    assigned: assignment.Assignment, metric: str
) -> tuple[str, ...] | None:
    """Return the arguments of the tool that measures a metric, or None.

    A workload can run its tool, the first one that it requires, in a script,
    whose arguments are others.
    """
    try:
        commands = estimate.planned_commands(assigned)
    except base.WorkloadError:
        return None
    # The protocol follows the direction, and the side follows the pattern.
    parts = metric.split(".")[2:]
    names = (parts[0], "-".join(parts[:2]))
    measured = [tool.command for tool in assigned.workload.TOOLS[:1]]
    for command in commands:
        program, *argv = command.argv
        is_only = len(commands) == 1
        if program in measured and (is_only or command.name in names):
            return tuple(argv)
    return None


def _select_numbers(
    arguments: dict[str, t.Any], metric: str
) -> dict[str, t.Any]:
    """Return arguments with the number that concerns a metric.

    It is in a mapping of each pattern or direction, 0 if it is missing.
    """
    name = metric.split(".")[2]
    return {
        key: argument.get(name, 0)
        if isinstance(argument, collections.abc.Mapping)
        else argument
        for key, argument in arguments.items()
    }


def describe_unstated(content: document.Baseline, guest: Raws) -> list[str]:
    """Return a sentence on each tool whose outputs lack some options.

    These options are not compared, because their values are unknown.
    """
    lines = []
    for workload in dict.fromkeys(output.workload for output in guest):
        entries = [
            entry for entry in content.entries if entry.workload == workload
        ]
        if not entries:
            continue
        unstated = _list_unstated(
            workload,
            [entry.arguments for entry in entries if _is_imported(entry)],
        )
        of_bare_metal = list(
            dict.fromkeys((*unstated, *_list_unrecorded(entries)))
        )
        of_guest = _list_unstated(
            workload,
            [
                output.arguments
                for output in guest
                if output.workload == workload
            ],
        )
        sides = {"bare metal": of_bare_metal, "the guest": of_guest}
        if of_bare_metal == of_guest:
            sides = {"both sides": of_guest}
        clauses = [
            f"{', '.join(names)} of {side}"
            for side, names in sides.items()
            if names
        ]
        if clauses:
            lines.append(
                f"Unknown, and not compared: {workload}: "
                f"{' and '.join(clauses)}."
            )
    return lines


def _list_unstated(
    workload: str, stated: collections.abc.Sequence[documents.Arguments]
) -> list[str]:
    """Return the options of a tool that some outputs do not state, a list.

    :param stated: The arguments that each output states.
    """
    table = registry.get_workload(workload).TOOL_OPTIONS
    return [
        name
        for name in dict.fromkeys(table.list_unstated())
        if any(name not in arguments for arguments in stated)
    ]


def _list_unrecorded(
    entries: collections.abc.Iterable[document.BaselineEntry],
) -> list[str]:
    """Return the options of a tool that recorded entries do not contain."""
    names: dict[str, None] = {}
    for entry in entries:
        if _is_imported(entry):
            continue
        table = registry.get_workload(entry.workload).TOOL_OPTIONS
        arguments = [option.argument for option in table.options]
        for metric in entry.metrics:
            known = _complete_arguments(entry, metric.name)
            names |= dict.fromkeys(
                name
                for name in filter(None, (*arguments, "other_options"))
                if name not in known and table.options
            )
    return list(names)


def _list_differences(
    recorded: documents.Arguments, arguments: documents.Arguments
) -> list[str]:
    """Return the arguments that both sides contain and that differ."""
    return [
        key
        for key, argument in arguments.items()
        if key in recorded.keys() - _CHOICES and recorded[key] != argument
    ]


def _describe_differences(
    keys: collections.abc.Iterable[str],
    recorded: documents.Arguments,
    arguments: documents.Arguments,
) -> str:
    """Return the values of arguments on both sides as text."""
    return ", ".join(
        f"{key} is {recorded[key]!r} on bare metal and {arguments[key]!r} in "
        "the guest"
        for key in keys
    )
