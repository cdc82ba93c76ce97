"""Run workloads on stations: once to prepare, then once per repetition."""

import asyncio
import collections.abc
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import barrier
from rally_vmperf.execution import caches as caches_
from rally_vmperf.execution import command as commands
from rally_vmperf.execution import command_log
from rally_vmperf.execution import measured
from rally_vmperf.execution import ports
from rally_vmperf.execution import servers as servers_
from rally_vmperf.execution import turn
from rally_vmperf.execution.stations import clocks as clocks_
from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.measurement import finding
from rally_vmperf.workloads import base as workloads
from rally_vmperf.workloads import files

#: Called with one line whenever something worth watching has happened.
Progress = t.Callable[[str], None]
#: station name -> workload title -> what preparing it said
Facts = dict[str, dict[str, dict[str, str]]]


async def prepare(
    assignments: collections.abc.Iterable[assignment.Assignment],
    stations: collections.abc.Sequence[stations_.Station],
    peer: stations_.Station | None,
    progress: Progress,
) -> Facts:
    """Bring files and data to all stations at once, and to the peer.

    Workloads' folders are made by what first needs them.

    :raises MachineError: when a machine cannot be prepared, naming it
    :raises WorkloadError: when a workload's preparation fails
    """
    facts: Facts = {
        station.name: {} for station in (*stations, *([peer] if peer else []))
    }
    for one in assignments:
        progress(f"preparing {one.title} on {_names(stations)}")
        serving = [peer] if peer and one.workload.needs(one.arguments) else []
        brought = one.read_files()
        await concurrency.wait_for_all(
            _prepare(one, station, brought, facts)
            for station in (*stations, *serving)
        )
    return facts


async def repetition(
    assignments: collections.abc.Sequence[assignment.Assignment],
    stations: collections.abc.Sequence[stations_.Station],
    peer: stations_.Station | None,
    progress: Progress,
    result: measured.Measured,
    lost: collections.abc.Iterable[str] = (),
    caches: caches_.Caches | None = None,
) -> list[finding.Finding]:
    """Run every workload once, on all stations at once, into ``result``.

    Each command begins on all stations at one instant, when all have done
    the one before, so that machines which run together do the same work.
    One that fails does not stop the others; what it did not measure is noted
    as missing.

    :param lost: names of machines that do not answer and are left out
    :param caches: drops them before commands of workloads that ask for it
    :returns: what kept the stations from working together
    """
    gone = {name: f"{name} no longer answers" for name in lost}
    clocks = clocks_.Clocks()
    log = command_log.CommandLog()
    mark = command_log.Mark.of(result)
    try:
        await clocks.begin([p for p in stations if p.name not in gone])
        gone |= {name: str(error) for name, error in clocks.refused.items()}
        for one, allotment in zip(
            assignments, ports.allot(assignments), strict=True
        ):
            progress(f"{one.title} on {_names(stations)}")
            servers = servers_.Servers(title=one.title, peer=peer)
            turns = [
                turn.begin(one, station, ends, servers, result, gone)
                for station, ends in _ends(stations, peer, allotment)
            ]
            servers.seconds = max(each.seconds() for each in turns)
            try:
                await _run(one, turns, clocks, log, caches)
            finally:
                await servers.close()
            for each in turns:
                each.note_missing()
                if each.lost:
                    name = each.station.name
                    gone.setdefault(name, f"{name} no longer answers")
        await clocks.end([p for p in stations if p.name not in gone])
    finally:
        found = log.settle(clocks, result, mark)
    return found


def _ends(
    stations: collections.abc.Iterable[stations_.Station],
    peer: stations_.Station | None,
    allotment: ports.Allotment,
) -> collections.abc.Iterator[tuple[stations_.Station, workloads.Ends]]:
    """Yield each station with the other ends that it sees."""
    for position, station in enumerate(stations):
        ends = workloads.Ends(
            peer=peer.address if peer else "",
            partner=station.partner.address if station.partner else "",
            own_ports=allotment.own(position),
            shared_ports=allotment.shared,
        )
        yield station, ends


async def _run(
    one: assignment.Assignment,
    turns: collections.abc.Sequence[turn.Turn],
    clocks: clocks_.Clocks,
    log: command_log.CommandLog,
    caches: caches_.Caches | None,
) -> None:
    """Run one workload's commands, each on all stations that have it."""
    for name in dict.fromkeys(name for each in turns for name in each.steps):
        await asyncio.sleep(one.cooldown)
        own = [each for each in turns if each.owes(name)]
        if one.drop_caches:
            dropped = caches or caches_.Caches()
            refused = await dropped.drop(each.station for each in own)
            for each in own:
                if each.station.name in refused:
                    each.omit(name, refused[each.station.name])
            own = [each for each in own if each.owes(name)]
        if len(own) < 2:
            for each in own:
                await each.step(name)
            continue
        meeting = barrier.Meeting(each.station.name for each in own)
        taken = [
            each.part(name, meeting, clocks.offset(each.station.name))
            for each in own
        ]
        await concurrency.wait_for_all(
            each.step_with_others(part)
            for each, part in zip(own, taken, strict=True)
        )
        given = [each.given.get(name, set()) for each in own]
        log.note(one.title, set().union(*given), taken)


async def _prepare(
    one: assignment.Assignment,
    station: stations_.Station,
    brought: collections.abc.Mapping[workloads.File, bytes],
    facts: Facts,
) -> None:
    folder = station.folder_of(one.title)
    own = facts[station.name][one.title] = {}
    for file, content in brought.items():
        await station.machine.put(content, f"{folder}/{file.name}", file.mode)
        if not file.package:
            own[f"{file.name}_sha256"] = files.checksum(content)
    outcomes = {}
    steps = (
        one.workload.prepare_peer
        if station.role == "peer"
        else one.workload.prepare
    )
    for step in steps(one.arguments):
        outcome = await commands.run(station, step, folder)
        try:
            outcome.checked()
        except workloads.WorkloadError as error:
            raise workloads.WorkloadError(
                f"{station.name}: preparing {one.title}: {error}"
            ) from error
        outcomes[step.name] = outcome
    if station.role != "peer":
        own |= one.workload.facts(one.arguments, outcomes)


def _names(stations: collections.abc.Sequence[stations_.Station]) -> str:
    if len(stations) == 1:
        return stations[0].name
    return f"{stations[0].name} to {stations[-1].name}"
