"""Run workloads on stations: once to prepare, then once per repetition."""

import asyncio
import collections.abc
import importlib.resources
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import command as commands
from rally_vmperf.execution import measured
from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.measurement import sample
from rally_vmperf.workloads import base as workloads
from rally_vmperf.workloads import outputs

#: Called with one line whenever something worth watching has happened.
Progress = t.Callable[[str], None]
#: station name -> workload title -> what preparing it said
Facts = dict[str, dict[str, dict[str, str]]]


async def prepare(
    assignments: collections.abc.Iterable[assignment.Assignment],
    places: collections.abc.Sequence[stations.Station],
    peer: stations.Station | None,
    progress: Progress,
) -> Facts:
    """Make folders, bring scripts and data, on all stations at once.

    :raises MachineError: when a machine cannot be prepared, naming it
    :raises WorkloadError: when a workload's preparation fails
    """
    facts: Facts = {place.name: {} for place in places}
    for one in assignments:
        progress(f"preparing {one.title} on {_names(places)}")
        await asyncio.gather(*(_prepare(one, p, facts) for p in places))
    return facts


async def repetition(
    assignments: collections.abc.Iterable[assignment.Assignment],
    places: collections.abc.Sequence[stations.Station],
    peer: stations.Station | None,
    progress: Progress,
    result: measured.Measured,
) -> None:
    """Run every workload once, on all stations at once, into ``result``.

    A machine that fails does not stop the others; what it did not measure is
    noted as missing.
    """
    for one in assignments:
        progress(f"{one.title} on {_names(places)}")
        await asyncio.gather(*(_measure(one, p, peer, result) for p in places))


async def _prepare(
    one: assignment.Assignment, place: stations.Station, facts: Facts
) -> None:
    folder = _folder(place, one)
    await place.machine.run(["mkdir", "-p", folder])
    for script in one.workload.SCRIPTS:
        content = (
            importlib.resources.files("rally_vmperf.workloads")
            .joinpath("scripts", script)
            .read_bytes()
        )
        await place.machine.put(content, f"{folder}/{script}", 0o755)
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
    facts[place.name][one.title] = one.workload.facts(one.arguments, outcomes)


async def _measure(
    one: assignment.Assignment,
    place: stations.Station,
    peer: stations.Station | None,
    result: measured.Measured,
) -> None:
    ends = workloads.Ends(
        peer=peer.address if peer else "",
        partner=place.partner.address if place.partner else "",
        port=place.port,
    )
    one = one.narrowed(ends)
    reasons: list[str] = []
    taken: set[str] = set()
    for step in one.workload.commands(one.arguments, ends):
        try:
            outcome = await commands.run(
                place, step, _folder(place, one), peer
            )
            _keep(one, place, outcome, result)
            taken |= _parse(one, place, outcome, result)
        except (base.MachineError, workloads.WorkloadError) as error:
            reasons.append(f"{step.name}: {error}")
    _note_missing(one, place, taken, reasons, result)


def _keep(
    one: assignment.Assignment,
    place: stations.Station,
    outcome: workloads.Outcome,
    result: measured.Measured,
) -> None:
    run = measured.Run(
        workload=one.title,
        command=outcome.name,
        machine=place.name,
        started=outcome.started,
        ended=outcome.ended,
        seconds=outcome.seconds,
        exit_status=outcome.exit_status,
    )
    result.runs.append(run)
    result.raw.append(
        {
            "workload": one.title,
            "command": outcome.name,
            "machine": place.name,
            "stdout": outcome.stdout,
            "stderr": outcome.stderr,
        }
    )


def _parse(
    one: assignment.Assignment,
    place: stations.Station,
    outcome: workloads.Outcome,
    result: measured.Measured,
) -> set[str]:
    """Put the samples of one command into ``result``; return their names.

    :raises WorkloadError: when the command failed or cannot be read
    """
    try:
        samples = one.workload.parse(one.arguments, {outcome.name: outcome})
    except ValueError as error:
        raise workloads.WorkloadError(str(error)) from error
    taken = set()
    for value in samples:
        labelled = sample.Sample(
            metric=one.relabel(value.metric), value=value.value
        )
        taken.add(labelled.metric.name)
        result.observations.append(
            sample.Observation(source=place.name, sample=labelled)
        )
    return taken


def _note_missing(
    one: assignment.Assignment,
    place: stations.Station,
    taken: set[str],
    reasons: list[str],
    result: measured.Measured,
) -> None:
    owed = {metric.name for metric in one.metrics()}
    for name in sorted(owed - taken):
        reason = "; ".join(reasons) or "the tool did not report it"
        result.miss(name, place.name, reason[:500])


def _folder(place: stations.Station, one: assignment.Assignment) -> str:
    return f"{place.folder}/{one.title}"


def _names(places: collections.abc.Sequence[stations.Station]) -> str:
    if len(places) == 1:
        return places[0].name
    return f"{places[0].name} to {places[-1].name}"
