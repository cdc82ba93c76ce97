# SPDX-License-Identifier: Apache-2.0
"""Run workloads on stations: once to prepare, then once per repetition.

Commands that several machines started together are logged, because the clocks
that correct their times are read at the end.
"""

import asyncio
import collections.abc
import dataclasses
import time
import types
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import caches
from rally_vmperf.execution import commands
from rally_vmperf.execution import measured
from rally_vmperf.execution import ports
from rally_vmperf.execution import servers
from rally_vmperf.execution import station_run
from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import clock
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.density import overlap
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base as workloads
from rally_vmperf.workloads import files
from rally_vmperf.workloads import outputs

#: Maximum error of a clock: seconds, and share of the shortest run.
MAX_CLOCK_ERROR = 0.5
CLOCK_ERROR_SHARE = 0.1
#: Called with one line for each notable event.
Progress = t.Callable[[str], None]
#: station name -> directory of a workload -> facts of its preparation
Facts = dict[str, dict[str, dict[str, str]]]


class Clocks:
    """The offsets of the clocks of stations; each machine is read once.

    A clock is assumed to drift evenly between the first and the last reading.

    :ivar refused: The errors of clocks that could not be read, by station
        name.
    """

    def __init__(self) -> None:
        self.refused: dict[str, base.MachineError] = {}
        self._first: dict[str, clock.Reading] = {}
        self._last: dict[str, clock.Reading] = {}
        self._from = self._until = 0.0

    async def begin(
        self, stations: collections.abc.Sequence[roles.Station]
    ) -> None:
        """Read the clocks; a machine without a clock cannot be synchronised.

        Commands of a single station need no clock.
        """
        if len(stations) > 1:
            self._first, self.refused = await _read(stations)
            self._from = time.time()

    async def end(
        self, stations: collections.abc.Sequence[roles.Station]
    ) -> None:
        """Read the clocks again; a lost machine keeps its first reading."""
        if len(stations) > 1:
            self._last, _ = await _read(stations)
            self._until = time.time()

    def offset(self, name: str) -> float:
        """Return the first offset of a station's clock in seconds."""
        return self._first[name].offset

    def at(self, name: str, moment: float) -> clock.Reading | None:
        """Return a station's clock reading for a time, or None."""
        first = self._first.get(name)
        last = self._last.get(name)
        if first is None or last is None:
            return first
        passed = moment - first.offset - self._from
        share = min(max(passed / max(self._until - self._from, 1e-6), 0), 1)
        return clock.Reading(
            offset=first.offset + (last.offset - first.offset) * share,
            error=max(first.error, last.error),
        )

    def findings(
        self, shortest: collections.abc.Mapping[str, float]
    ) -> list[finding.Finding]:
        """Return findings on clocks whose error is too large.

        :param shortest: The duration of the shortest run of each station in
            seconds, by name.
        """
        findings = []
        for name, seconds in shortest.items():
            first = self._first.get(name)
            last = self._last.get(name, first)
            if first is None or last is None:
                continue
            error = max(first.error, last.error)
            drift = last.offset - first.offset
            allowed = min(MAX_CLOCK_ERROR, CLOCK_ERROR_SHARE * seconds)
            if max(error, abs(drift)) > allowed:
                findings.append(
                    finding.Finding(
                        kind="clock_not_correctable",
                        subject=name,
                        detail=f"the clock of {name} is known to "
                        f"{error * 1000:.1f} ms and moved by "
                        f"{drift * 1000:+.1f} ms; with runs of {seconds:.1f} "
                        f"s it must be <= {allowed * 1000:.1f} ms",
                    )
                )
        return findings


async def _read(
    stations: collections.abc.Sequence[roles.Station],
) -> tuple[dict[str, clock.Reading], dict[str, base.MachineError]]:
    """Return clock readings, and errors, each by the names of stations.

    Copies on one machine share its clock, so their relative error is 0.
    """
    machines = {id(station.machine): station.machine for station in stations}
    answers = dict(
        zip(machines, await clock.read_all(machines.values()), strict=True)
    )
    readings = {}
    refused = {}
    for station in stations:
        reading = answers[id(station.machine)]
        if isinstance(reading, base.MachineError):
            refused[station.name] = reading
        elif len(machines) == 1:
            readings[station.name] = dataclasses.replace(reading, error=0.0)
        else:
            readings[station.name] = reading
    return readings, refused


async def prepare(
    assignments: collections.abc.Iterable[assignment.Assignment],
    stations: collections.abc.Sequence[roles.Station],
    peer: roles.Station | None,
    progress: Progress,
) -> Facts:
    """Copy files and data to all stations; return facts by station.

    The directory of a workload is created when it is first used.

    :raises MachineError: If a machine cannot be prepared; with its name.
    :raises WorkloadError: If the preparation of a workload fails.
    """
    facts: Facts = {
        station.name: {} for station in (*stations, *([peer] if peer else []))
    }
    if peer:
        peer.listen_address = await servers.find_listen_address(peer)
    for assigned in assignment.merge_loads(assignments):
        progress(f"preparing {assigned.title} on {_format_names(stations)}")
        serving = (
            [peer]
            if peer and assigned.workload.needs(assigned.arguments)
            else []
        )
        contents = assigned.read_files()
        await concurrency.wait_for_all(
            _prepare(assigned, station, contents, facts)
            for station in (*stations, *serving)
        )
    return facts


async def repetition(
    assignments: collections.abc.Sequence[assignment.Assignment],
    stations: collections.abc.Sequence[roles.Station],
    peer: roles.Station | None,
    progress: Progress,
    result: measured.Measured,
    lost: collections.abc.Mapping[str, str] = types.MappingProxyType({}),
    page_caches: caches.Caches | None = None,
) -> list[finding.Finding]:
    """Run every workload once on all stations, and return the findings.

    When all stations have finished a command, they start the next one at the
    same time, so that concurrent machines do the same work. If a command
    fails, the other commands continue, and its metrics are noted as missing.

    :param result: The results, which this function extends.
    :param lost: The reasons why machines are skipped, by name.
    :param page_caches: The caches to drop if a workload requires it.
    :returns: The findings on synchronisation.
    """
    gone = {**lost}
    timing = Clocks()
    log = CommandLog()
    # The clocks of this call apply to its own results only.
    current_result = measured.Measured(keep_raw=result.keep_raw)
    try:
        await timing.begin([p for p in stations if p.name not in gone])
        gone |= {name: str(error) for name, error in timing.refused.items()}
        for assigned, allotment in zip(
            assignments, ports.allocate(assignments), strict=True
        ):
            progress(f"{assigned.title} on {_format_names(stations)}")
            peer_servers = servers.Servers(title=assigned.directory, peer=peer)
            station_runs = [
                station_run.create(
                    assigned,
                    station,
                    allotment.connect(position, peer, station.partner),
                    peer_servers,
                    current_result,
                    gone,
                )
                for position, station in enumerate(stations)
            ]
            peer_servers.seconds = max(run.seconds() for run in station_runs)
            try:
                await _run(assigned, station_runs, timing, log, page_caches)
            finally:
                await peer_servers.close()
            for run in station_runs:
                run.note_missing()
                if run.lost:
                    name = run.station.name
                    gone.setdefault(name, f"{name} no longer answers")
        await timing.end([p for p in stations if p.name not in gone])
    finally:
        findings = log.evaluate(timing, current_result)
        result.extend(current_result)
    return findings


async def _run(
    assignment: assignment.Assignment,
    station_runs: collections.abc.Sequence[station_run.StationRun],
    timing: Clocks,
    log: "CommandLog",
    page_caches: caches.Caches | None,
) -> None:
    """Run commands in turn, on all stations at once; add the results."""
    for name in dict.fromkeys(
        name for run in station_runs for name in run.steps
    ):
        await asyncio.sleep(assignment.cooldown)
        participants = [run for run in station_runs if run.owes(name)]
        if assignment.drop_caches:
            dropped = page_caches or caches.Caches()
            refused = await dropped.drop(run.station for run in participants)
            for run in participants:
                if run.station.name in refused:
                    run.omit(name, refused[run.station.name])
            participants = [run for run in participants if run.owes(name)]
        if len(participants) < 2:
            for run in participants:
                await run.step(name)
            continue
        start_barrier = commands.StartBarrier(
            run.station.name for run in participants
        )
        synchronised_commands = [
            run.synchronise(
                name, start_barrier, timing.offset(run.station.name)
            )
            for run in participants
        ]
        await concurrency.wait_for_all(
            run.step_with_others(synchronised_command)
            for run, synchronised_command in zip(
                participants, synchronised_commands, strict=True
            )
        )
        metric_names = [
            run.metrics_by_command.get(name, set()) for run in participants
        ]
        log.note(
            assignment.title, set().union(*metric_names), synchronised_commands
        )


async def _prepare(
    assignment: assignment.Assignment,
    station: roles.Station,
    contents: collections.abc.Mapping[workloads.File, bytes],
    facts: Facts,
) -> None:
    """Copy files to a station, run the preparation, and store the facts."""
    folder = station.folder_of(assignment.title)
    workload_facts = facts[station.name][assignment.title] = {}
    for file, content in contents.items():
        await station.machine.put(content, f"{folder}/{file.name}", file.mode)
        if not file.package:
            workload_facts[f"{file.name}_sha256"] = files.checksum(content)
    outcomes = {}
    steps = (
        assignment.workload.prepare_peer
        if station.role == "peer"
        else assignment.workload.prepare
    )
    for step in steps(assignment.arguments):
        outcome = await commands.run(station, step, folder)
        try:
            workloads.check_exit_status(outcome)
        except workloads.WorkloadError as error:
            raise workloads.WorkloadError(
                f"{station.name}: preparing {assignment.title}: {error}"
            ) from error
        outcomes[step.name] = outcome
    if station.role != "peer":
        workload_facts |= assignment.workload.facts(
            assignment.arguments, outcomes
        )


def _format_names(stations: collections.abc.Sequence[roles.Station]) -> str:
    """Return the name of one station, or the first and the last one."""
    if len(stations) == 1:
        return stations[0].name
    return f"{stations[0].name} to {stations[-1].name}"


class CommandLog:
    """The commands that several machines started together, in order."""

    def __init__(self) -> None:
        self._commands: list[
            tuple[str, set[str], list[commands.SynchronisedCommand]]
        ] = []

    def note(
        self,
        title: str,
        metrics: collections.abc.Iterable[str],
        commands: collections.abc.Iterable[commands.SynchronisedCommand],
    ) -> None:
        """Add a command, without the machines that did not finish it.

        :param title: The title of the workload.
        :param metrics: The names of the metrics that the command reported.
        """
        finished = [
            command
            for command in commands
            if command.outcome is not None and not command.outcome.exit_status
        ]
        self._commands.append((title, set(metrics), finished))

    def evaluate(
        self, timing: Clocks, result: measured.Measured
    ) -> list[finding.Finding]:
        """Compute start skew and overlap; return findings on starts.

        If a command reports its progress, its samples are limited to the time
        in which all machines were running it.

        :param result: The results since these clocks apply.
        :returns: The findings on starts and clocks.
        """
        result.runs[:] = [_correct_times(run, timing) for run in result.runs]
        shortest: dict[str, float] = {}
        for run in result.runs:
            if not run.result.exit_status:
                seconds = run.result.seconds
                shortest[run.machine] = min(
                    seconds, shortest.get(run.machine, seconds)
                )
        starts = []
        paces: _Paces = {}
        for title, metrics, synchronised in self._commands:
            if synchronised:
                spans = _compute_spans(synchronised, timing)
                command = synchronised[0].command
                start = overlap.compute_synchronisation(
                    title,
                    command.name,
                    command.bound,
                    [span for _, span in spans],
                    metrics,
                )
                starts.append(start)
                paces |= _compute_paces(spans)
        result.starts += starts
        observations, result.observations = result.observations, []
        for observation in observations:
            try:
                result.observations.append(
                    _limit_to_overlap(observation, paces)
                )
            except workloads.WorkloadError as error:
                result.miss(
                    observation.sample.metric.name,
                    observation.source,
                    str(error),
                )
        return timing.findings(shortest) + overlap.findings(starts)


#: Station and metric -> ratio of the rate in the window to that of the run.
_Paces = dict[tuple[str, str], float]


def _compute_spans(
    commands: collections.abc.Iterable[commands.SynchronisedCommand],
    timing: Clocks,
) -> list[tuple[commands.SynchronisedCommand, overlap.Span]]:
    """Return each command with its run time, if the clock is known.

    The times are corrected for the clocks of the stations.
    """
    spans = []
    for command in commands:
        if (outcome := command.outcome) is None:
            continue
        reading = timing.at(command.station.name, outcome.started)
        if reading is None:
            continue
        kept_up_until = command.kept_up_until
        span = overlap.Span(
            machine=command.station.name,
            started=outcome.started - reading.offset,
            ended=outcome.ended - reading.offset,
            kept_up_until=None
            if kept_up_until is None
            else kept_up_until - reading.offset,
            error=reading.error,
        )
        spans.append((command, span))
    return spans


def _compute_paces(
    spans: collections.abc.Sequence[
        tuple[commands.SynchronisedCommand, overlap.Span]
    ],
) -> _Paces:
    """Return rate ratios (window / run) by station and metric."""
    paces: _Paces = {}
    window = overlap.common_window([span for _, span in spans])
    if window is None:
        return paces
    for command, span in spans:
        if command.progress is None or command.outcome is None:
            continue
        offset = command.outcome.started - span.started
        pace = command.progress.relative_rate(
            window[0] + offset, window[1] + offset
        )
        for metric in command.progress.metrics:
            paces[command.station.name, metric] = pace
    return paces


def _limit_to_overlap(
    observation: sample.Observation, paces: _Paces
) -> sample.Observation:
    """Return the observation, limited to the time in which all machines ran.

    :raises WorkloadError: If the value is not plausible.
    """
    metric = observation.sample.metric
    pace = paces.get((observation.source, metric.name))
    if pace is None:
        return observation
    value = outputs.create_sample(metric, observation.sample.value * pace)
    return dataclasses.replace(observation, sample=value)


def _correct_times(
    run: command_result.CommandRun, timing: Clocks
) -> command_result.CommandRun:
    """Return the run with its clock offset; unchanged if that is unknown."""
    reading = timing.at(run.machine, run.result.started)
    if reading is None:
        return run
    return dataclasses.replace(
        run, clock_offset=reading.offset, clock_error=reading.error
    )
