# SPDX-License-Identifier: Apache-2.0
"""The differences between runs, and whether these can be compared."""

import collections.abc
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import tool_comparison
from rally_vmperf.judging.results import changes
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions import compared_run

#: A difference that a user can allow.
Aspect = t.Literal["arguments", "machines", "shape"]

ValueT = t.TypeVar("ValueT")
Runs = collections.abc.Sequence[compared_run.ComparedRun]


def check_comparable(
    runs: Runs,
    allowed: collections.abc.Container[str] = (),
) -> None:
    """Reject runs with other settings than the first, or without machines.

    :param allowed: The aspects in which the runs may differ.
    :raises VMPerfError: If runs cannot be compared; with the first
        difference.
    """
    for run in runs:
        if run.machines_error and "machines" not in allowed:
            raise errors.VMPerfError(
                f"the machines of {run.name} are unknown: "
                f"{run.machines_error}; copy the file next to the journal, "
                "or use --allow machines"
            )
    first, *others = [run for run in runs if run.setting] or runs
    for other in others:
        for aspect in first.setting:
            lines = list_differences(
                first, other, first.setting[aspect], other.setting[aspect]
            )
            if lines and aspect not in allowed:
                way_out = (
                    f"use --allow {aspect}"
                    if aspect in t.get_args(Aspect)
                    else "compare runs of one question"
                )
                more = len(lines) - 1
                rest = f", and {units.number_of('more difference', more)}"
                raise errors.VMPerfError(
                    f"{other.name} cannot be compared with {first.name}: "
                    f"{lines[0]}{rest if more else ''}; {way_out}"
                )


def list_differences(
    first: compared_run.ComparedRun,
    other: compared_run.ComparedRun,
    facts: documents.Facts,
    other_facts: documents.Facts,
) -> list[str]:
    """Return one line for each fact that differs between two runs."""
    return [
        f"{key}: {facts.get(key, '-')} in {first.name}, "
        f"{other_facts.get(key, '-')} in {other.name}"
        for key in dict.fromkeys([*facts, *other_facts])
        if facts.get(key) != other_facts.get(key)
    ]


def describe_differences(
    runs: Runs,
) -> list[str]:
    """Return how settings, machines and tools differ from the first run.

    Machines of a role are compared in their order. Properties that are
    unknown on one side are not compared.
    """
    first, *others = runs
    lines: dict[str, None] = {}
    for other in others:
        aspects = [first.facts, *first.setting.values()]
        other_aspects = [other.facts, *other.setting.values()]
        if first.setting.keys() == other.setting.keys():
            for facts, other_facts in zip(aspects, other_aspects, strict=True):
                lines |= dict.fromkeys(
                    list_differences(first, other, facts, other_facts)
                )
        lines |= dict.fromkeys(_compare_machines(first, other))
    return list(lines)


def _compare_machines(
    first: compared_run.ComparedRun, other: compared_run.ComparedRun
) -> collections.abc.Iterator[str]:
    """Yield a line for each difference between machines of two runs."""
    for roles in (("guest", "copy"), ("peer",), ("control",)):
        sides = [
            [machine for machine in run.machines if machine.role in roles]
            for run in (first, other)
        ]
        for machine, other_machine in zip(*sides, strict=False):
            names = [
                f"{machine.name} of {first.name}",
                f"{other_machine.name} of {other.name}",
            ]
            differences = comparability.compare_machines(
                machine.fingerprint,
                other_machine.fingerprint,
                names[1],
                reference=names[0],
            ) + tool_comparison.compare_tools(
                machine.tools,
                other_machine.tools,
                names[1],
                reference=names[0],
            )
            for difference in differences:
                yield f"{difference.kind}: {difference.detail}"


def join(
    workloads: collections.abc.Sequence[Runs],
) -> collections.abc.Sequence[changes.RunSamples]:
    """Return runs with the samples of all their workloads.

    Of several workloads, the condition begins with the workload's number.

    :param workloads: The runs of each workload, in the same order.
    """
    if len(workloads) == 1:
        return workloads[0]
    return [
        changes.RunSamples(
            name=parts[0].name,
            samples=_number([part.samples for part in parts]),
            absences=_number([part.absences for part in parts]),
            limits=_number([part.limits for part in parts]),
            missing=_join_sentences([part.missing for part in parts]),
            omitted=_join_sentences([part.omitted for part in parts]),
        )
        for parts in zip(*workloads, strict=True)
    ]


def _join_sentences(sentences: collections.abc.Iterable[str]) -> str:
    """Return the sentences of workloads as one, with their numbers."""
    return "; ".join(
        f"workload {number}: {sentence}"
        for number, sentence in enumerate(sentences, start=1)
        if sentence
    )


def _number(
    parts: collections.abc.Iterable[
        collections.abc.Mapping[changes.Key, ValueT]
    ],
) -> dict[changes.Key, ValueT]:
    """Return the values of workloads, whose conditions are numbered."""
    return {
        (", ".join(filter(None, (f"workload {number}", title))), metric): value
        for number, part in enumerate(parts, start=1)
        for (title, metric), value in part.items()
    }
