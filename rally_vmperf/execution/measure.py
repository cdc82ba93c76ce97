# SPDX-License-Identifier: Apache-2.0
"""Run workloads on stations: once to prepare, then once per repetition."""

import asyncio
import collections.abc
import types
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import barrier
from rally_vmperf.execution import caches
from rally_vmperf.execution import command_log
from rally_vmperf.execution import commands
from rally_vmperf.execution import measured
from rally_vmperf.execution import ports
from rally_vmperf.execution import servers
from rally_vmperf.execution import station_run
from rally_vmperf.execution.stations import clocks
from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import roles
from rally_vmperf.measurement import finding
from rally_vmperf.workloads import base as workloads
from rally_vmperf.workloads import files

#: Called with one line for each notable event.
Progress = t.Callable[[str], None]
#: station name -> directory of a workload -> facts of its preparation
Facts = dict[str, dict[str, dict[str, str]]]


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
    timing = clocks.Clocks()
    log = command_log.CommandLog()
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
    timing: clocks.Clocks,
    log: command_log.CommandLog,
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
        start_barrier = barrier.StartBarrier(
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
