# SPDX-License-Identifier: Apache-2.0
"""Results of workloads: samples, runs of commands, missing metrics."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import command_result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import guest_metrics
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample

#: Called with the run of each command, with its output, when it has ended.
KeepRaw = t.Callable[[command_result.CommandRun], None]


def keep_none(run: command_result.CommandRun) -> None:
    """Discard a raw output."""


@dataclasses.dataclass(kw_only=True)
class Measured:
    """The results of workloads, collected while they run.

    :param readings: The distributions and series, each with its machine.
    :param runs: The runs of commands, without their output.
    :param cpu_times: The CPU time of each guest.
    :param phase: The rates of each machine around an event.
    :param control: The indicator of the control machine over time.
    :param keep_raw: A function that stores a raw output and does not raise.
    :param shortfalls: The offered rates that were not achieved.
    :param unreached: The metrics that are missing because their machine did
        not answer, each with the machine.
    """

    observations: list[sample.Observation] = dataclasses.field(
        default_factory=list
    )
    readings: list[tuple[str, sample.Distribution | sample.Series]] = (
        dataclasses.field(default_factory=list)
    )
    runs: list[command_result.CommandRun] = dataclasses.field(
        default_factory=list
    )
    missing: list[repetition.Missing] = dataclasses.field(default_factory=list)
    starts: list[repetition.Synchronisation] = dataclasses.field(
        default_factory=list
    )
    cpu_times: dict[str, guest_metrics.CpuTime] = dataclasses.field(
        default_factory=lambda: collections.defaultdict(guest_metrics.CpuTime)
    )
    shortfalls: list[finding.Finding] = dataclasses.field(default_factory=list)
    phase: phases.Phase | None = None
    control: phases.Line | None = None
    keep_raw: KeepRaw = keep_none
    unreached: set[tuple[str, str]] = dataclasses.field(default_factory=set)

    def extend(self, other: "Measured") -> None:
        """Add other results after these."""
        self.observations += other.observations
        self.readings += other.readings
        self.runs += other.runs
        self.missing += other.missing
        self.unreached |= other.unreached
        self.starts += other.starts
        self.shortfalls += other.shortfalls
        for name, cpu_time in other.cpu_times.items():
            self.cpu_times[name] += cpu_time

    def miss(self, name: str, machine: str, reason: str) -> None:
        """Note a metric that was not measured, and the reason."""
        self.missing.append(
            repetition.Missing(name=name, machine=machine, reason=reason)
        )

    def explain_unreached(
        self, reasons: collections.abc.Mapping[str, str]
    ) -> None:
        """Replace the reasons why machines did not answer.

        :param reasons: The new reasons by machine.
        """
        self.missing = [
            dataclasses.replace(missing, reason=reasons[missing.machine])
            if missing.machine in reasons
            and (missing.name, missing.machine) in self.unreached
            else missing
            for missing in self.missing
        ]
