# SPDX-License-Identifier: Apache-2.0
"""The recording sessions of a baseline, of which each is of another day."""

import collections.abc
import dataclasses
import itertools

from rally_vmperf import documents
from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.baseline import tool_comparison
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged

#: A workload, its arguments and options of the protocol, and its shape.
Measurement = tuple[str, documents.Arguments, document.Shape | None]


def append_session(
    baseline: document.Baseline, session: document.Baseline
) -> document.Baseline:
    """Return a baseline with the repetitions of a further session.

    The machine and the time are those of the further session.

    :param session: A recording of the same workloads, arguments and shapes.
    :raises BaselineError: If the machines differ, or the workloads.
    """
    _check_same_machine(baseline.machine, session.machine)
    if baseline.peer and session.peer:
        _check_same_machine(baseline.peer, session.peer)
    entries = find_entries(
        baseline,
        [
            (added.workload, added.conditions, added.shape)
            for added in session.entries
        ],
    )
    return dataclasses.replace(
        session,
        name=baseline.name,
        machine_class=session.machine_class or baseline.machine_class,
        entries=tuple(
            _merge_entries(entry, added, baseline.session)
            for entry, added in zip(entries, session.entries, strict=True)
        ),
    )


def find_entries(
    baseline: document.Baseline,
    measurements: collections.abc.Iterable[Measurement],
) -> list[document.BaselineEntry]:
    """Return the entry of each measurement of a further session.

    :raises BaselineError: If a session has other measurements.
    """
    entries = [
        matching.find(baseline, workload, conditions, shape)
        for workload, conditions, shape in measurements
    ]
    others = [
        entry
        for entry in baseline.entries
        if entry.imported or entry not in entries
    ]
    if others:
        names = dict.fromkeys(
            f"{entry.workload} for {entry.describe_shape()}"
            for entry in others
        )
        raise document.BaselineError(
            f"--append: the session would have no {', '.join(names)} of "
            f"baseline {baseline.name!r}; use the task and the options of the "
            "first session"
        )
    return entries


def _check_same_machine(
    recorded: document.BaselineMachine, machine: document.BaselineMachine
) -> None:
    """Reject another machine, or one that has changed.

    :raises BaselineError: If a property or a tool differs.
    """
    findings = (
        comparability.same_peer(recorded.fingerprint, machine.fingerprint)
        + comparability.compare_machines(
            recorded.fingerprint, machine.fingerprint, "now"
        )
        + tool_comparison.compare_tools(recorded.tools, machine.tools, "now")
    )
    if findings:
        raise document.BaselineError(
            f"--append: {machine.name} is not the machine of the earlier "
            f"sessions, or has changed ({findings[0].kind}): "
            f"{findings[0].detail}; record another baseline"
        )


def _merge_entries(
    entry: document.BaselineEntry, added: document.BaselineEntry, session: str
) -> document.BaselineEntry:
    """Return an entry with the samples of both sessions.

    :param session: The identifier of the first session, for repetitions
        without a boot.
    """
    first, second = entry.reference, added.reference
    distributions = (first.distributions, second.distributions)
    time_series = (first.time_series, second.time_series)
    number = len(first.repetitions)
    percentiles = tuple(
        itertools.islice(
            itertools.chain(first.percentiles, itertools.repeat({})), number
        )
    )
    return dataclasses.replace(
        added,
        flows=tuple(dict.fromkeys((*entry.flows, *added.flows))),
        facts={**entry.facts, **added.facts},
        findings=tuple(dict.fromkeys((*entry.findings, *added.findings))),
        reference=repetition.Reference(
            repetitions=(*first.repetitions, *second.repetitions),
            boots=(*(first.boots or (session,) * number), *second.boots),
            percentiles=(*percentiles, *second.percentiles),
            command_usage=cpu_seconds.total(
                (*first.command_usage, *second.command_usage)
            ),
            distributions=merged.merge_distributions(distributions),
            time_series=merged.merge_time_series(time_series),
        ),
    )
