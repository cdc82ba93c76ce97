# SPDX-License-Identifier: Apache-2.0
"""Servers: the endpoints of a workload's commands."""

import asyncio
import collections.abc
import dataclasses
import ipaddress
import re

from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import job
from rally_vmperf.machines import scripts
from rally_vmperf.measurement import command_result
from rally_vmperf.workloads import base as workloads

#: Maximum seconds until a server listens.
LISTEN_TIMEOUT = 30.0

#: Seconds between two checks whether a server that does not listen is still
#: running.
_ASK_AGAIN = 1.0

#: Seconds to read the output of a server that ended by itself.
_ENDING = 5

#: How often connections from other clients are closed, which requires root.
_SENT_AWAY = 5

#: Number of servers that are started concurrently, to limit the sessions on
#: the peer of hundreds of machines.
AT_ONCE = 8

#: The user ID of a server on the peer is this number plus its port. No range
#: of a distribution, of subordinate IDs or of directory services contains it.
FIRST_UID = 2_100_000_000

_ADDRESS = re.compile(r"\[?(?:::ffff:)?([0-9A-Fa-f:.]{2,45}?)(?:%\S+)?\]?")


@dataclasses.dataclass
class _Running:
    """A server on a station with the number of its current users."""

    station: roles.Station
    lock: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)
    process: job.Job | None = None
    users: int = 0
    error: str = ""


@dataclasses.dataclass(kw_only=True)
class Servers:
    """The servers of a workload in one repetition, each while it is used.

    :param title: The title of the workload, in whose directory they run.
    :param seconds: The maximum duration of all commands of a repetition.
    :ivar intruders: A message about foreign clients of the server of a failed
        command, by the names of station and command.
    """

    title: str
    peer: roles.Station | None
    seconds: float = 0

    def __post_init__(self) -> None:
        self.intruders: dict[tuple[str, str], str] = {}
        self._starting = asyncio.Semaphore(AT_ONCE)
        self._running: dict[tuple[str, int], _Running] = {}

    async def serve(
        self,
        station: roles.Station,
        command: workloads.Command,
        work: collections.abc.Callable[
            [], collections.abc.Awaitable[command_result.CommandResult]
        ],
        patience: float = 0,
    ) -> command_result.CommandResult:
        """Run a command while its server listens; return its result.

        :param work: A function that runs the command.
        :param patience: The seconds for which the server waits in addition to
            the time of the command.
        :raises MachineError: If the server cannot be started.
        """
        server = command.server
        if server is None:
            return await work()
        running = await self._begin(station, command, server, patience)
        failed = True
        try:
            outcome = await work()
            failed = outcome.exit_status != 0
            return outcome
        finally:
            running.users -= 1
            if failed:
                key = station.name, command.name
                self.intruders[key] = await _describe_late_clients(
                    running.station, server
                )
            if server.lifetime == "command" and not running.users:
                await self._end(running.station.name, server.port)

    async def hold(
        self,
        station: roles.Station,
        command: workloads.Command,
        patience: float,
    ) -> None:
        """Start the server of a command, which listens until ``close``.

        :param patience: The seconds after which it ends by itself.
        :raises MachineError: If the server cannot be started.
        """
        if command.server is not None:
            await self._begin(station, command, command.server, patience)

    async def close(self) -> None:
        """End the servers that still listen."""
        for name, port in list(self._running):
            await self._end(name, port)

    async def _end(self, name: str, port: int) -> None:
        """Remove a server from the running ones, and end its process."""
        running = self._running.pop((name, port))
        if running.process is not None:
            async with self._starting:
                await running.process.give_up()

    async def _begin(
        self,
        station: roles.Station,
        command: workloads.Command,
        server: workloads.Server,
        patience: float,
    ) -> _Running:
        """Return the server of a command, started if it is the first one.

        :raises MachineError: If the server cannot be started; never
            Unreachable, which refers to stations only.
        """
        other = self.peer if server.on == "peer" else station.partner
        if other is None:
            raise base.MachineError(
                f"{station.name}: {command.name} requires a {server.on}, "
                "which does not exist"
            )
        key = (other.name, server.port)
        running = self._running.setdefault(key, _Running(other))
        async with running.lock:
            if running.users and server.clients == "one":
                raise workloads.WorkloadError(
                    f"two machines use the server on port {server.port} of "
                    f"{other.name}; the workload must allot a port to each "
                    "machine, or set clients: many"
                )
            if running.process is None and not running.error:
                try:
                    async with self._starting:
                        running.process = await self._start(
                            other, station, command, server, patience
                        )
                except base.MachineError as error:
                    running.error = str(error)
                    self._running.pop(key)
            if running.error:
                raise base.MachineError(running.error)
            running.users += 1
        return running

    async def _start(
        self,
        other: roles.Station,
        station: roles.Station,
        command: workloads.Command,
        server: workloads.Server,
        patience: float,
    ) -> job.Job:
        """Start a server, wait until it listens, and return its job."""
        folder = other.folder_of(self.title)
        seconds = command.timeout
        if server.lifetime == "repetition":
            seconds = self.seconds
        started = job.Job(
            machine=other.machine,
            folder=folder,
            name=f"{command.name}-for-{station.name}",
            argv=server.argv,
            timeout=seconds + LISTEN_TIMEOUT + patience,
            output_limit=command.output_limit,
            prefix=other.tools,
        )
        is_taken, _ = await _check_listening(other.machine, server)
        if is_taken:
            raise base.MachineError(
                f"{other.name}: {server.transport.upper()} port {server.port} "
                "is used by another program; end it, or wait for the end of "
                "the other run"
            )
        for name, text in server.files.items():
            await other.machine.put(text.encode(), f"{folder}/{name}")
        if server.on == "peer" and not server.as_root:
            started.argv = _confine_server(server, f"{started.path}/server")
        await started.start()
        try:
            await _listening(started, server)
        except base.MachineError as error:
            raise base.MachineError(
                f"{error}; its last output: {await _read_last_output(started)}"
            ) from error
        except BaseException:
            await started.give_up()
            raise
        return started


async def find_listen_address(peer: roles.Station) -> str:
    """Return the address to which servers on a peer are bound, or "".

    Guests may use an address that no interface of the peer has, such as a
    floating IP, and may resolve a host name to another address. The servers
    then listen on all addresses.

    :raises MachineError: If the peer does not answer.
    """
    try:
        ipaddress.ip_address(peer.address)
    except ValueError:
        return ""
    route = await peer.machine.run(["ip", "-o", "route", "get", peer.address])
    return peer.address if route.stdout.startswith("local ") else ""


def _confine_server(server: workloads.Server, directory: str) -> list[str]:
    """Return the command line of a server without the rights of root.

    :param directory: The path of the directory that is created for it.
    """
    names = (*server.files, *server.prepared_files)
    uid = FIRST_UID + server.port
    arguments = (str(uid), directory, str(len(names)), *names, *server.argv)
    return scripts.argv("serve.bash", *arguments)


async def _listening(started: job.Job, server: workloads.Server) -> None:
    """Wait until a server listens and has no foreign clients, or raise.

    :raises MachineError: If it does not listen in time, or has ended.
    """
    machine, clock = started.machine, asyncio.get_running_loop().time
    deadline, ask_again = clock() + LISTEN_TIMEOUT, clock() + _ASK_AGAIN
    ended, sent_away = False, 0
    where = f"{server.transport.upper()} port {server.port}"
    while True:
        listens, clients = await _check_listening(machine, server)
        if listens and not clients:
            return
        if sent_away >= _SENT_AWAY:
            raise base.MachineError(
                _describe_clients(machine.name, server, clients)
            )
        if clients:
            sent_away += 1
            await machine.run(["ss", "-K", *_build_filter(server)], timeout=20)
        if ended or clock() > deadline:
            since = f"after {LISTEN_TIMEOUT:.0f} s"
            if ended:
                since = "and the server ended"
            raise base.MachineError(
                f"{machine.name}: no server listens on {where} {since}; check "
                "whether the port is in use or the tool is missing"
            )
        if clock() > ask_again:
            # A server that listened just before its end is checked once more.
            ended = not await started.running()
            ask_again = clock() + _ASK_AGAIN
        else:
            await asyncio.sleep(0.2)


async def _read_last_output(server: job.Job) -> str:
    """End a server that does not listen, and return its last output line."""
    try:
        async with asyncio.timeout(_ENDING):
            result = await server.finish()
    except TimeoutError:
        await server.give_up()
        return "none, it is still running"
    except base.MachineError as error:
        await server.give_up()
        return str(error)
    return base.last_line(result.stderr or result.stdout)


async def _check_listening(
    machine: base.Machine, server: workloads.Server
) -> tuple[bool, list[str]]:
    """Return whether a server listens, and its foreign clients' addresses.

    :returns: Whether it listens, and the addresses of connected clients if the
        server accepts only one.
    """
    option = "-Htan" if server.transport == "tcp" else "-Huan"
    answer = await machine.run(
        ["ss", option, "sport", "=", f":{server.port}"], timeout=20
    )
    lines = [line.split() for line in answer.stdout.splitlines()]
    listens = any(line[:1] in (["LISTEN"], ["UNCONN"]) for line in lines)
    alone = server.clients == "one" and server.transport == "tcp"
    return listens, [line[4] for line in lines if alone and line[0] == "ESTAB"]


def _build_filter(server: workloads.Server) -> tuple[str, ...]:
    """Return the arguments of ss that select a server's connections."""
    return ("-Htn", "state", "established", "sport", "=", f":{server.port}")


async def _describe_late_clients(
    other: roles.Station, server: workloads.Server
) -> str:
    """Return a message about foreign clients of an unused server, or "".

    A silent client that connects first blocks the server's own client.
    """
    try:
        _, clients = await _check_listening(other.machine, server)
    except base.MachineError:
        return ""
    return _describe_clients(other.name, server, clients) if clients else ""


def _describe_clients(
    name: str,
    server: workloads.Server,
    endpoints: collections.abc.Iterable[str],
) -> str:
    """Return a message that names foreign clients of a reserved port."""
    addresses = {
        match[1]
        for endpoint in endpoints
        if (match := _ADDRESS.fullmatch(endpoint.rpartition(":")[0]))
    }
    return (
        f"port {server.port} of {name}, which is reserved for one machine, "
        f"is used from {', '.join(sorted(addresses)[:4])}; block these "
        "addresses"
    )
