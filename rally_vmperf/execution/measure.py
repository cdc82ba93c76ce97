"""Run workloads on stations: once to prepare, then once per repetition."""

import collections.abc
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import barrier
from rally_vmperf.execution import clocks as clocks_
from rally_vmperf.execution import command as commands
from rally_vmperf.execution import command_log
from rally_vmperf.execution import concurrency
from rally_vmperf.execution import measured
from rally_vmperf.execution import station as stations
from rally_vmperf.execution import turn
from rally_vmperf.measurement import finding
from rally_vmperf.workloads import base as workloads
from rally_vmperf.workloads import files
from rally_vmperf.workloads import outputs

#: Called with one line whenever something worth watching has happened.
Progress = t.Callable[[str], None]
#: station name -> workload title -> what preparing it said
Facts = dict[str, dict[str, dict[str, str]]]


async def prepare(
    assignments: collections.abc.Iterable[assignment.Assignment],
    places: collections.abc.Sequence[stations.Station],
    progress: Progress,
) -> Facts:
    """Bring scripts and data to all stations at once.

    Workloads' folders are made by what first needs them.

    :raises MachineError: when a machine cannot be prepared, naming it
    :raises WorkloadError: when a workload's preparation fails
    """
    facts: Facts = {place.name: {} for place in places}
    for one in assignments:
        progress(f"preparing {one.title} on {_names(places)}")
        brought = {
            file: files.read(file)
            for file in one.workload.files(one.arguments)
        }
        await concurrency.wait_for_all(
            _prepare(one, place, brought, facts) for place in places
        )
    return facts


async def repetition(
    assignments: collections.abc.Iterable[assignment.Assignment],
    places: collections.abc.Sequence[stations.Station],
    peer: stations.Station | None,
    progress: Progress,
    result: measured.Measured,
    lost: collections.abc.Iterable[str] = (),
) -> list[finding.Finding]:
    """Run every workload once, on all stations at once, into ``result``.

    Each command begins on all stations at one instant, when all have done
    the one before, so that machines which run together do the same work.
    One that fails does not stop the others; what it did not measure is noted
    as missing.

    :param lost: names of machines that do not answer and are left out
    :returns: what kept the stations from working together
    """
    gone = {name: f"{name} answers no more" for name in lost}
    clocks = clocks_.Clocks()
    together_ = command_log.CommandLog()
    mark = command_log.Mark.of(result)
    try:
        await clocks.begin([p for p in places if p.name not in gone])
        gone |= {name: str(error) for name, error in clocks.refused.items()}
        for one in assignments:
            progress(f"{one.title} on {_names(places)}")
            turns = [turn.begin(one, p, peer, result, gone) for p in places]
            await _run(one, turns, clocks, together_)
            for each in turns:
                each.note_missing()
                if each.lost:
                    name = each.place.name
                    gone.setdefault(name, f"{name} answers no more")
        await clocks.end([p for p in places if p.name not in gone])
    finally:
        found = together_.settle(clocks, result, mark)
    return found


async def _run(
    one: assignment.Assignment,
    turns: collections.abc.Sequence[turn.Turn],
    clocks: clocks_.Clocks,
    together_: command_log.CommandLog,
) -> None:
    """Run the commands of one workload, each of them on all who owe it."""
    for name in dict.fromkeys(name for each in turns for name in each.steps):
        own = [each for each in turns if each.owes(name)]
        if len(own) < 2:
            for each in own:
                await each.step(name)
            continue
        meeting = barrier.Meeting(each.place.name for each in own)
        taken = [
            each.part(name, meeting, clocks.ahead(each.place.name))
            for each in own
        ]
        await concurrency.wait_for_all(
            each.step_together(part)
            for each, part in zip(own, taken, strict=True)
        )
        given = [each.given.get(name, set()) for each in own]
        together_.note(one.title, set().union(*given), taken)


async def _prepare(
    one: assignment.Assignment,
    place: stations.Station,
    brought: collections.abc.Mapping[workloads.File, bytes],
    facts: Facts,
) -> None:
    folder = place.folder_of(one.title)
    own = facts[place.name][one.title] = {}
    for file, content in brought.items():
        await place.machine.put(content, f"{folder}/{file.name}", file.mode)
        if not file.package:
            own[f"{file.name}_sha256"] = files.checksum(content)
    outcomes = {}
    for step in one.workload.prepare(one.arguments):
        outcome = await commands.run(place, step, folder, None)
        try:
            outputs.taken({step.name: outcome}, step.name)
        except workloads.WorkloadError as error:
            raise workloads.WorkloadError(
                f"{place.name}: preparing {one.title}: {error}"
            ) from error
        outcomes[step.name] = outcome
    own |= one.workload.facts(one.arguments, outcomes)


def _names(places: collections.abc.Sequence[stations.Station]) -> str:
    if len(places) == 1:
        return places[0].name
    return f"{places[0].name} to {places[-1].name}"
