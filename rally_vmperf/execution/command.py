"""One command of a workload on one station, with its other end."""

import asyncio
import contextlib
import typing as t

from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.machines import job
from rally_vmperf.machines import job_handle
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
        result = await job.run(
            place.machine,
            folder,
            command.name,
            command.argv,
            timeout=command.timeout,
            output_limit=command.output_limit,
            prefix=place.prefix,
            spent=place.spent,
        )
    return outcome(command, result)


def outcome(
    command: workloads.Command, result: job_result.JobResult
) -> workloads.Outcome:
    """Return what a command's job left, as workloads read it."""
    return workloads.Outcome(
        name=command.name,
        exit_status=result.exit_status,
        seconds=result.seconds,
        started=result.started,
        ended=result.ended,
        stdout=result.stdout,
        stderr=result.stderr,
    )


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
    handle = await _serve(other, place, command, command.server, patience)
    try:
        yield
    finally:
        await _give_up(other.machine, handle)


async def _serve(
    other: stations.Station,
    place: stations.Station,
    command: workloads.Command,
    server: workloads.Server,
    patience: float,
) -> job_handle.Handle:
    """Return the server of a command, which listens by then.

    :raises MachineError: never Unreachable, which is said of stations only
    """
    try:
        if await _listens(other.machine, server.port):
            raise base.MachineError(
                f"{other.name}: TCP port {server.port} is taken by another "
                "program; end it, or wait for the other run to end"
            )
        handle = await job.start(
            other.machine,
            other.folder,
            f"{command.name}-for-{place.name}",
            server.argv,
            timeout=command.timeout + LISTEN_TIMEOUT + patience,
            output_limit=command.output_limit,
        )
        try:
            await _listening(other.machine, server.port)
        except BaseException:
            await _give_up(other.machine, handle)
            raise
    except base.Unreachable as error:
        raise base.MachineError(str(error)) from error
    return handle


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


async def _give_up(machine: base.Machine, handle: job_handle.Handle) -> None:
    """End a job whatever happens around it; a machine gone is no matter."""
    with contextlib.suppress(base.MachineError):
        await asyncio.shield(job.cancel(machine, handle))
