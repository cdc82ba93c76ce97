"""One command of a workload on one station, with its other end."""

import asyncio
import contextlib
import dataclasses
import typing as t

from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.machines import job
from rally_vmperf.machines import job_result
from rally_vmperf.workloads import base as workloads

#: Seconds that a server may take until it listens.
LISTEN_TIMEOUT = 30.0


async def run(
    place: stations.Station,
    command: workloads.Command,
    folder: str,
    peer: stations.Station | None,
) -> workloads.Outcome:
    """Run a command to its end and return what it left.

    :param folder: the workload's folder on the station
    :raises MachineError: when a machine cannot do it
    """
    async with serving(place, command, peer):
        return outcome(await job_of(place, command, folder).run(place.spent))


def job_of(
    place: stations.Station, command: workloads.Command, folder: str
) -> job.Job:
    """Return the job of a command, which is not begun."""
    return job.Job(
        machine=place.machine,
        folder=folder,
        name=command.name,
        argv=command.argv,
        timeout=command.timeout,
        output_limit=command.output_limit,
        prefix=place.prefix,
    )


def outcome(result: job_result.JobResult) -> workloads.Outcome:
    """Return what a command's job left, as workloads read it."""
    return workloads.Outcome(**dataclasses.asdict(result))


@contextlib.asynccontextmanager
async def serving(
    place: stations.Station,
    command: workloads.Command,
    peer: stations.Station | None,
    patience: float = 0,
) -> t.AsyncIterator[None]:
    """Have the other end listen while the command runs.

    :param patience: seconds that it waits for the command beyond its time
    """
    if command.server is None:
        yield
        return
    other = peer if command.server.on == "peer" else place.partner
    if other is None:
        raise base.MachineError(
            f"{place.name}: {command.name} needs a {command.server.on} and "
            "there is none"
        )
    server = await _serve(other, place, command, command.server, patience)
    try:
        yield
    finally:
        await server.give_up()


async def _serve(
    other: stations.Station,
    place: stations.Station,
    command: workloads.Command,
    server: workloads.Server,
    patience: float,
) -> job.Job:
    """Return the server of a command, which listens by then.

    :raises MachineError: never Unreachable, which is said of stations only
    """
    started = job.Job(
        machine=other.machine,
        folder=other.folder,
        name=f"{command.name}-for-{place.name}",
        argv=server.argv,
        timeout=command.timeout + LISTEN_TIMEOUT + patience,
        output_limit=command.output_limit,
    )
    try:
        if await _listens(other.machine, server.port):
            raise base.MachineError(
                f"{other.name}: TCP port {server.port} is taken by another "
                "program; end it, or wait for the other run to end"
            )
        await started.start()
        try:
            await _listening(other.machine, server.port)
        except BaseException:
            await started.give_up()
            raise
    except base.Unreachable as error:
        raise base.MachineError(str(error)) from error
    return started


async def _listening(machine: base.Machine, port: int) -> None:
    """Wait until a TCP port of a machine is open.

    :raises MachineError: when it is not in time
    """
    deadline = asyncio.get_running_loop().time() + LISTEN_TIMEOUT
    while not await _listens(machine, port):
        if asyncio.get_running_loop().time() > deadline:
            raise base.MachineError(
                f"{machine.name}: nothing listens on TCP port {port} after "
                f"{LISTEN_TIMEOUT:.0f} s; is the port taken or the tool "
                "missing there?"
            )
        await asyncio.sleep(0.2)


async def _listens(machine: base.Machine, port: int) -> bool:
    answer = await machine.run(
        ["ss", "-Hltn", "sport", "=", f":{port}"], timeout=20
    )
    return bool(answer.stdout.strip())
