# SPDX-License-Identifier: Apache-2.0
"""The commands of one workload on one station."""

import asyncio
import collections.abc
import contextlib
import dataclasses
import math
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import caches
from rally_vmperf.execution import commands
from rally_vmperf.execution import measured
from rally_vmperf.execution import servers as servers_
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.workloads import base as workloads

#: The share of an offered rate by which the achieved rate may be smaller.
MAX_SHORTFALL = 0.05
#: The standard deviations by which a number of random arrivals may be smaller.
_DEVIATIONS = 3


@dataclasses.dataclass(kw_only=True)
class StationRun:
    """A run of one workload on one station, with its results.

    :param steps: The commands by name.
    :ivar metrics_by_command: The names of the metrics with a sample, by
        command.
    :ivar reasons: The reasons why other metrics have no sample.
    :ivar late: The names of metrics that say nothing at the achieved rate.
    :ivar lost: Whether the machine no longer answers.
    """

    assigned: assignment.Assignment
    station: roles.Station
    servers: servers_.Servers
    result: measured.Measured
    steps: dict[str, workloads.Command]

    def __post_init__(self) -> None:
        self.metrics_by_command: dict[str, set[str]] = {}
        self.reasons: list[str] = []
        self.late: set[str] = set()
        self.lost = False

    def owes(self, name: str) -> bool:
        """Return whether the station can and must run a command."""
        return not self.lost and name in self.steps

    def seconds(self) -> float:
        """Return the maximum duration of synchronised commands in seconds."""
        before = self.assigned.cooldown
        if self.assigned.drop_caches:
            before += caches.TIMEOUT
        return sum(
            before + 2 * (command.timeout + commands.PATIENCE)
            for command in self.steps.values()
        )

    async def step(self, name: str) -> None:
        """Run one command alone, and add its samples; note an error."""
        await self._run_until_return(name, self._step(name))

    async def _step(self, name: str) -> None:
        """Run one command alone, and add its samples; note an error."""
        with self._note_errors(name):
            command = self.steps[name]
            folder = self.station.folder_of(self.assigned.directory)
            self._add_outcome(
                await self.servers.serve(
                    self.station,
                    command,
                    lambda: commands.run(self.station, command, folder),
                )
            )

    def synchronise(
        self,
        name: str,
        start_barrier: commands.StartBarrier,
        clock_offset: float,
    ) -> commands.SynchronisedCommand:
        """Return a command that this station runs with other stations.

        :param clock_offset: The seconds by which the clock of the station is
            ahead of the controller's.
        """
        return commands.SynchronisedCommand(
            station=self.station,
            command=self.steps[name],
            folder=self.station.folder_of(self.assigned.directory),
            servers=self.servers,
            start_barrier=start_barrier,
            clock_offset=clock_offset,
        )

    async def step_with_others(
        self, synchronised_command: commands.SynchronisedCommand
    ) -> None:
        """Run a synchronised command, and parse its output."""
        await self._run_until_return(
            synchronised_command.command.name,
            self._step_with_others(synchronised_command),
        )

    async def _run_until_return(
        self, name: str, running: collections.abc.Coroutine[t.Any, t.Any, None]
    ) -> None:
        """Run a command; run it again alone if the station was stopped.

        The results of the first run are lost with the station.
        """
        wait_for_return = self.station.wait_for_return
        if wait_for_return is None:
            await running
            return
        command = asyncio.ensure_future(running)
        returning = asyncio.ensure_future(wait_for_return())
        try:
            await asyncio.wait(
                {command, returning}, return_when=asyncio.FIRST_COMPLETED
            )
            if (command.done() and not self.reasons) or not await returning:
                await command
                return
            command.cancel()
            await asyncio.wait({command})
            self.reasons.clear()
            self.lost = False
            with self._note_errors(name):
                if self.station.attach_again is not None:
                    await self.station.attach_again()
                await self._step(name)
        finally:
            for task in (command, returning):
                task.cancel()
            await asyncio.gather(command, returning, return_exceptions=True)

    async def _step_with_others(
        self, synchronised_command: commands.SynchronisedCommand
    ) -> None:
        """Run a synchronised command, and parse its output."""
        with self._note_errors(synchronised_command.command.name):
            try:
                outcome = await synchronised_command.run()
                self._add_outcome(outcome)
                synchronised_command.progress = self._parse_progress(outcome)
            finally:
                await synchronised_command.finish()

    @contextlib.contextmanager
    def _note_errors(self, name: str) -> collections.abc.Iterator[None]:
        """Note errors in the block, and whether the machine is lost."""
        try:
            yield
        except (base.MachineError, workloads.WorkloadError) as error:
            intruders = self.servers.intruders.get((self.station.name, name))
            reasons = [f"{name}: {error}", intruders]
            self.reasons.append("; ".join(filter(None, reasons)))
            self.lost = isinstance(error, base.Unreachable)

    def omit(self, name: str, error: base.MachineError) -> None:
        """Skip a command for which the machine is not ready."""
        del self.steps[name]
        with self._note_errors(name):
            raise error

    def _add_outcome(self, outcome: command_result.CommandResult) -> None:
        """Store a command's run and raw output, and add its samples."""
        bounds = self.assigned.workload.OUTPUT_BOUNDS
        is_excessive = bool(bounds.describe_excess(outcome))
        work = None if is_excessive else self._parse_work(outcome)
        run = command_result.CommandRun(
            workload=self.assigned.title,
            machine=self.station.name,
            result=outcome,
            work=work.amount if work else None,
            work_unit=work.unit if work else "",
        )
        self.result.keep_raw(run)
        self.result.runs.append(
            dataclasses.replace(run, result=outcome.without_output())
        )
        self._parse(outcome)

    def note_missing(self) -> None:
        """Note every expected metric that was not measured."""
        reason = "; ".join(self.reasons) or "the tool did not report it"
        reported = set().union(*self.metrics_by_command.values())
        for metric in self.assigned.metrics():
            is_expected = not metric.optional and metric.name not in self.late
            if metric.name not in reported and is_expected:
                self.result.miss(metric.name, self.station.name, reason[:500])
                if self.lost:
                    self.result.unreached.add((metric.name, self.station.name))

    def _parse_progress(
        self, outcome: command_result.CommandResult
    ) -> curves.ProgressCurve | None:
        """Return a command's progress over time, labelled, or None.

        Without it, the samples remain valid.
        """
        with contextlib.suppress(workloads.WorkloadError, ValueError):
            progress = self.assigned.workload.progress(
                self.assigned.arguments, outcome
            )
            if progress is not None:
                names = map(self.assigned.rename, progress.metrics)
                return dataclasses.replace(progress, metrics=frozenset(names))
        return None

    def _parse_work(
        self, outcome: command_result.CommandResult
    ) -> workloads.Work | None:
        """Return the amount of work of a command; None if not reported."""
        with contextlib.suppress(workloads.WorkloadError, ValueError):
            work = self.assigned.workload.work_done(
                self.assigned.arguments, outcome
            )
            if work is not None and 0 < work.amount < math.inf:
                return work
        return None

    def _parse(self, outcome: command_result.CommandResult) -> None:
        """Add the samples of one command to the results.

        :raises WorkloadError: If the command failed or its output is not
            valid.
        """
        try:
            readings = self.assigned.workload.parse_all(
                self.assigned.arguments, {outcome.name: outcome}
            )
        except ValueError as error:
            raise workloads.WorkloadError(str(error)) from error
        metric_names = self.metrics_by_command.setdefault(outcome.name, set())
        for reading in self._drop_late(outcome, readings):
            labelled = dataclasses.replace(
                reading, metric=self.assigned.relabel(reading.metric)
            )
            samples = [labelled] if isinstance(labelled, sample.Sample) else []
            if isinstance(labelled, sample.Distribution):
                samples = labelled.samples()
                # Several machines together can have more percentiles than one.
                metric_names |= {
                    metric.name
                    for metric in sample.percentiles(labelled.metric)
                }
            if not isinstance(labelled, sample.Sample):
                self.result.readings.append((self.station.name, labelled))
            metric_names |= {
                labelled_sample.metric.name for labelled_sample in samples
            }
            self.result.observations += [
                sample.Observation(self.station.name, labelled_sample)
                for labelled_sample in samples
            ]

    def _drop_late(
        self,
        outcome: command_result.CommandResult,
        readings: collections.abc.Sequence[sample.Reading],
    ) -> collections.abc.Sequence[sample.Reading]:
        """Return the readings that are valid at the achieved rate.

        Times that begin when a request is issued, and not when it was due,
        lack the wait of requests that were issued late.
        """
        valid = [*readings]
        for offer in self.assigned.workload.offers(self.assigned.arguments):
            if offer.command != outcome.name or offer.rate is None:
                continue
            shortfall = _describe_shortfall(offer, readings, outcome.seconds)
            if not shortfall:
                continue
            self.late |= {*map(self.assigned.rename, offer.late)}
            names = {offer.metric, *offer.late}
            self.result.shortfalls.append(
                finding.Finding(
                    kind="offered_rate_not_reached",
                    subject=self.station.name,
                    detail=f"{self.assigned.title} {outcome.name}: "
                    f"{shortfall}",
                    metrics=tuple(sorted(map(self.assigned.rename, names))),
                )
            )
            valid = [each for each in valid if not _is_late(offer, each)]
        return valid


def _describe_shortfall(
    offer: workloads.Offer,
    readings: collections.abc.Sequence[sample.Reading],
    seconds: float,
) -> str:
    """Return how far a rate is below the offered one, or "" if it is not.

    The number n of random arrivals varies by sqrt(n).

    :param seconds: The duration of the command in seconds.
    """
    offered = t.cast(float, offer.rate)
    tolerance = MAX_SHORTFALL
    if offer.is_random:
        tolerance += _DEVIATIONS / math.sqrt(max(1.0, offered * seconds))
    for reading in readings:
        if (
            isinstance(reading, sample.Sample)
            and reading.metric.name == offer.metric
            and reading.value < offered * (1 - tolerance)
        ):
            unit = reading.metric.unit
            return (
                f"{units.show(reading.value, unit)} of "
                f"{units.show(offered, unit)} were achieved"
            )
    return ""


def _is_late(offer: workloads.Offer, reading: sample.Reading) -> bool:
    """Return whether a reading or a percentile of it begins late."""
    metrics = [reading.metric]
    if isinstance(reading, sample.Distribution):
        metrics += sample.percentiles(reading.metric)
    return any(metric.name in offer.late for metric in metrics)


def create(
    assignment: assignment.Assignment,
    station: roles.Station,
    endpoints: workloads.Endpoints,
    servers: servers_.Servers,
    result: measured.Measured,
    lost: collections.abc.Mapping[str, str],
) -> StationRun:
    """Return the run of a workload on a station, not started yet.

    :param lost: The reasons why machines are skipped, by name.
    """
    assigned = assignment.for_endpoints(endpoints)
    station_run = StationRun(
        assigned=assigned,
        station=station,
        servers=servers,
        result=result,
        steps={
            step.name: step
            for step in assigned.workload.commands(
                assigned.arguments, endpoints
            )
        },
    )
    if station.name in lost:
        station_run.lost = True
        station_run.reasons.append(lost[station.name])
    return station_run
