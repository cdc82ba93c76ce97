"""Servers: the other ends of a workload's commands."""

import asyncio
import collections.abc
import dataclasses
import re

from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.machines import base
from rally_vmperf.machines import job
from rally_vmperf.workloads import base as workloads

#: Seconds that a server may take until it listens.
LISTEN_TIMEOUT = 30.0

#: Seconds between two questions whether a server that does not listen is
#: still at work.
_ASK_AGAIN = 1.0

#: Seconds to read the output of a server that ended by itself.
_ENDING = 5

#: How often connections that precede a server's own client are closed, which
#: takes root.
_SENT_AWAY = 5

#: Servers that are started at once, so that hundreds of machines do not need
#: hundreds of sessions at their peer.
AT_ONCE = 8

_ADDRESS = re.compile(r"\[?(?:::ffff:)?([0-9A-Fa-f:.]{2,45}?)(?:%\S+)?\]?")


@dataclasses.dataclass
class _Running:
    """A server, with how many commands use it now."""

    lock: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)
    process: job.Job | None = None
    users: int = 0
    trouble: str = ""


@dataclasses.dataclass(kw_only=True)
class Servers:
    """The servers of a workload in one repetition, each while it is needed.

    :param title: of the workload, in whose folder they run
    :param seconds: that all commands of a repetition take at most
    :ivar intruders: who else was connected to the server of a command that
        failed, in words, by the names of station and command
    """

    title: str
    peer: stations_.Station | None
    seconds: float = 0
    intruders: dict[tuple[str, str], str] = dataclasses.field(
        default_factory=dict
    )
    _starting: asyncio.Semaphore = dataclasses.field(
        default_factory=lambda: asyncio.Semaphore(AT_ONCE)
    )
    _running: dict[tuple[str, int], _Running] = dataclasses.field(
        default_factory=dict
    )

    async def serve(
        self,
        station: stations_.Station,
        command: workloads.Command,
        work: collections.abc.Callable[
            [], collections.abc.Awaitable[workloads.Outcome]
        ],
        patience: float = 0,
    ) -> workloads.Outcome:
        """Do the work of a command while its server listens.

        :param patience: seconds that the server waits for the command beyond
            its time
        :raises MachineError: when the server cannot be started
        """
        server = command.server
        if server is None:
            return await work()
        other = self._other(station, command, server)
        running = await self._begin(other, station, command, server, patience)
        failed = True
        try:
            outcome = await work()
            failed = outcome.exit_status != 0
            return outcome
        finally:
            running.users -= 1
            if failed:
                key = station.name, command.name
                self.intruders[key] = await _others(other, server)
            if server.lifetime == "command" and not running.users:
                await self._end(other.name, server.port)

    async def hold(
        self,
        station: stations_.Station,
        command: workloads.Command,
        patience: float,
    ) -> None:
        """Have the server of a command listen until ``close``.

        :param patience: seconds after which it ends by itself
        :raises MachineError: when the server cannot be started
        """
        if (server := command.server) is not None:
            other = self._other(station, command, server)
            await self._begin(other, station, command, server, patience)

    def _other(
        self,
        station: stations_.Station,
        command: workloads.Command,
        server: workloads.Server,
    ) -> stations_.Station:
        other = self.peer if server.on == "peer" else station.partner
        if other is None:
            raise base.MachineError(
                f"{station.name}: {command.name} needs a {server.on} and "
                "there is none"
            )
        return other

    async def close(self) -> None:
        """End the servers that still listen."""
        for name, port in list(self._running):
            await self._end(name, port)

    async def _end(self, name: str, port: int) -> None:
        running = self._running.pop((name, port))
        if running.process is not None:
            async with self._starting:
                await running.process.give_up()

    async def _begin(
        self,
        other: stations_.Station,
        station: stations_.Station,
        command: workloads.Command,
        server: workloads.Server,
        patience: float,
    ) -> _Running:
        """Return the server of a command, started if it is the first one.

        :raises MachineError: never Unreachable, which is said of stations only
        """
        key = (other.name, server.port)
        running = self._running.setdefault(key, _Running())
        async with running.lock:
            if running.users and server.clients == "one":
                raise workloads.WorkloadError(
                    f"two machines use the server at port {server.port} of "
                    f"{other.name}; the workload has to give each a port of "
                    "its own, or say clients: many"
                )
            if running.process is None and not running.trouble:
                try:
                    async with self._starting:
                        running.process = await self._start(
                            other, station, command, server, patience
                        )
                except base.MachineError as error:
                    running.trouble = str(error)
                    self._running.pop(key)
            if running.trouble:
                raise base.MachineError(running.trouble)
            running.users += 1
        return running

    async def _start(
        self,
        other: stations_.Station,
        station: stations_.Station,
        command: workloads.Command,
        server: workloads.Server,
        patience: float,
    ) -> job.Job:
        """Start a server and wait until it listens."""
        whole = server.lifetime == "repetition"
        folder = other.folder_of(self.title)
        started = job.Job(
            machine=other.machine,
            folder=folder,
            name=f"{command.name}-for-{station.name}",
            argv=server.argv,
            timeout=(self.seconds if whole else command.timeout)
            + LISTEN_TIMEOUT
            + patience,
            output_limit=command.output_limit,
            prefix=other.tools,
        )
        taken, _ = await _look(other.machine, server)
        if taken:
            raise base.MachineError(
                f"{other.name}: {server.transport.upper()} port {server.port} "
                "is taken by another program; end it, or wait for the other "
                "run to end"
            )
        for name, text in server.files.items():
            await other.machine.put(text.encode(), f"{folder}/{name}")
        await started.start()
        try:
            await _listening(started, server)
        except base.MachineError as error:
            raise base.MachineError(
                f"{error}; it said: {await _last_output(started)}"
            ) from error
        except BaseException:
            await started.give_up()
            raise
        return started


async def _listening(started: job.Job, server: workloads.Server) -> None:
    """Wait until a server listens, and nobody is connected before its client.

    :raises MachineError: when that is not in time, or the server has ended
    """
    machine, clock = started.machine, asyncio.get_running_loop().time
    deadline, ask_again = clock() + LISTEN_TIMEOUT, clock() + _ASK_AGAIN
    ended, sent_away = False, 0
    where = f"{server.transport.upper()} port {server.port}"
    while True:
        listens, ends = await _look(machine, server)
        if listens and not ends:
            return
        if sent_away >= _SENT_AWAY:
            raise base.MachineError(_used_from(machine.name, server, ends))
        if ends:
            sent_away += 1
            await machine.run(["ss", "-K", *_established(server)], timeout=20)
        if ended or clock() > deadline:
            since = (
                "and the server ended"
                if ended
                else f"after {LISTEN_TIMEOUT:.0f} s"
            )
            raise base.MachineError(
                f"{machine.name}: nothing listens on {where} {since}; is "
                "the port taken or the tool missing there?"
            )
        if clock() > ask_again:
            # One that listened just before its end is looked at once more.
            ended = not await started.running()
            ask_again = clock() + _ASK_AGAIN
        else:
            await asyncio.sleep(0.2)


async def _last_output(server: job.Job) -> str:
    """End a server that does not listen; return its last line of output."""
    try:
        async with asyncio.timeout(_ENDING):
            result = await server.finish()
    except TimeoutError:
        await server.give_up()
        return "nothing, it is still at work"
    except base.MachineError as error:
        await server.give_up()
        return str(error)
    return base.last_line(result.stderr or result.stdout)


async def _look(
    machine: base.Machine, server: workloads.Server
) -> tuple[bool, list[str]]:
    """Return whether a server listens, and who is connected but may not be.

    :returns: the other ends of connections, of a server of one client
    """
    option = "-Htan" if server.transport == "tcp" else "-Huan"
    answer = await machine.run(
        ["ss", option, "sport", "=", f":{server.port}"], timeout=20
    )
    lines = [line.split() for line in answer.stdout.splitlines()]
    listens = any(line[:1] in (["LISTEN"], ["UNCONN"]) for line in lines)
    alone = server.clients == "one" and server.transport == "tcp"
    return listens, [line[4] for line in lines if alone and line[0] == "ESTAB"]


def _established(server: workloads.Server) -> tuple[str, ...]:
    """Return the options of ss that find all connections to a server."""
    return ("-Htn", "state", "established", "sport", "=", f":{server.port}")


async def _others(other: stations_.Station, server: workloads.Server) -> str:
    """Say who is connected to the server of a client that has ended.

    One that came first and is silent keeps a server from its own client.
    """
    try:
        _, ends = await _look(other.machine, server)
    except base.MachineError:
        return ""
    return _used_from(other.name, server, ends) if ends else ""


def _used_from(
    name: str, server: workloads.Server, ends: collections.abc.Iterable[str]
) -> str:
    found = {
        told[1]
        for end in ends
        if (told := _ADDRESS.fullmatch(end.rpartition(":")[0]))
    }
    return (
        f"port {server.port} of {name}, which belongs to one machine alone, "
        f"is used from {', '.join(sorted(found)[:4])}; keep others away "
        "from it"
    )
