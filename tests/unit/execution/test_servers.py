# SPDX-License-Identifier: Apache-2.0
"""Tests of the other ends of commands, by processes on this computer."""

import asyncio
import contextlib
import dataclasses
import os
import pathlib
import random
import socket
import sys
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.execution import ports
from rally_vmperf.execution import servers
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base as machines
from rally_vmperf.machines import job
from rally_vmperf.machines import local
from rally_vmperf.measurement import command_result
from rally_vmperf.workloads import base
from rally_vmperf.workloads.network import iperf3
from tests import skips
from tests.unit.execution import test_measure
from tests.unit.machines import folders

#: Answers every connection with how many there were, and notes its start.
SERVER = """
import os, pathlib, socket, sys
kind = socket.SOCK_DGRAM if sys.argv[2] == "udp" else socket.SOCK_STREAM
with open(os.environ["STARTS"], "a") as log:
    log.write(pathlib.Path("greeting-" + sys.argv[1]).read_text())
server = socket.socket(socket.AF_INET, kind)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", int(sys.argv[1])))
for number in range(1, 1000):
    if sys.argv[2] == "udp":
        _, who = server.recvfrom(9)
        server.sendto(b"%d" % number, who)
        continue
    server.listen()
    one, _ = server.accept()
    one.sendall(b"%d" % number)
    one.close()
"""
CLIENT = """
import socket, sys
kind = socket.SOCK_DGRAM if sys.argv[2] == "udp" else socket.SOCK_STREAM
client = socket.socket(socket.AF_INET, kind)
client.connect(("127.0.0.1", int(sys.argv[1])))
if sys.argv[2] == "udp":
    client.send(b"x")
print(client.recv(9).decode())
"""


class Asking(test_measure.Echo):
    """Both commands ask a server at the peer for their figure."""

    def __init__(self, lifetime, clients, transport="tcp"):
        super().__init__()
        self.lifetime, self.clients = lifetime, clients
        self.transport = transport

    def needs(self, arguments):
        """Return the peer."""
        return frozenset({"peer"})

    def ports(self, arguments):
        """Return one port, shared by all or not."""
        if self.clients == "many":
            return base.Ports(shared=1)
        return base.Ports(own=1)

    def prepare_peer(self, arguments):
        """Leave a file that the server reads."""
        argv = ("sh", "-c", "echo ready >prepared")
        return (base.Command(name="lay", argv=argv, timeout=10),)

    def commands(self, arguments, endpoints):
        """Return both commands with their server."""
        (port,) = (*endpoints.own_ports, *endpoints.shared_ports)
        server_arguments = (str(port), self.transport)
        server = base.Server(
            on="peer",
            # Its user cannot enter the home directory of a developer.
            argv=("/usr/bin/python3", "-c", SERVER, *server_arguments),
            port=port,
            transport=self.transport,
            lifetime=self.lifetime,
            clients=self.clients,
            files={f"greeting-{port}": f"{port}\n"},
        )
        argv = (sys.executable, "-c", CLIENT, *server_arguments)
        return tuple(
            base.Command(name=name, argv=argv, timeout=10, server=server)
            for name in ("rate", "size")
        )


def free_ports():
    """Return a number from which on ten ports are free.

    They are below those that Linux gives to clients.
    """
    while True:
        first = random.randrange(20000, 30000)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + 10):
                listener = stack.enter_context(socket.socket())
                listener.bind(("", port))
            return first


@ddt.ddt
@skips.requires("ss")
class ServersTestCase(unittest.IsolatedAsyncioTestCase):
    """Two stations and a peer on this computer."""

    def setUp(self):
        """Give each a folder of its own."""
        super().setUp()
        self.folder = pathlib.Path(folders.made(self))
        self.stations, self.peer = [], None
        for name in ("c1", "c2", "peer"):
            (self.folder / name).mkdir()
            station = roles.Station(
                name=name,
                machine=local.Local(name),
                role="peer" if name == "peer" else "copy",
                folder=str(self.folder / name),
                address="127.0.0.1",
            )
            self.stations.append(station)
        self.peer = self.stations.pop()
        self.log = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory()), "starts"
        )
        self.log.parent.chmod(0o711)
        self.log.touch()
        self.log.chmod(0o622)
        self.enterContext(mock.patch.dict(os.environ, STARTS=str(self.log)))
        self.first = free_ports()
        self.enterContext(mock.patch.object(ports, "FIRST", self.first))
        self.enterContext(mock.patch.object(ports, "LAST", self.first + 9))

    @skips.requires("iperf3")
    async def test_a_server_that_is_held(self):
        """It listens for every client until all servers are ended."""
        (assigned,) = assignment.assign([{"name": "iperf3"}])
        endpoints = base.Endpoints(
            peer="127.0.0.1",
            partner="",
            own_ports=range(self.first, self.first + 3),
        )
        command, _ = assigned.workload.commands(assigned.arguments, endpoints)
        held_servers = servers.Servers(title="iperf3", peer=self.peer)
        await held_servers.hold(self.stations[0], command, 60)
        for _ in range(2):
            await self.connect()
        await held_servers.close()
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.1", self.first), 10)

    async def connect(self):
        """Connect to the server, which is deaf while it turns to the next."""
        async with asyncio.timeout(20):
            while True:
                with contextlib.suppress(ConnectionError):
                    socket.create_connection(
                        ("127.0.0.1", self.first), 10
                    ).close()
                    return
                await asyncio.sleep(0.05)

    async def measure(self, workload, arguments=None):
        """Prepare and measure once."""
        assigned = assignment.Assignment(workload, arguments or {})
        self.result = measured.Measured()
        await measure.prepare(
            [assigned], self.stations, self.peer, lambda line: 0
        )
        await measure.repetition(
            [assigned], self.stations, self.peer, lambda line: 0, self.result
        )

    def figures(self):
        """Return the progress of each station, in order."""
        return sorted(
            (
                observation.source,
                observation.sample.metric.name.rpartition(".")[2],
                int(observation.sample.value),
            )
            for observation in self.result.observations
        )

    def starts(self):
        """Return the ports of the servers, as they were started."""
        text = self.log.read_text()
        return sorted(int(line) - self.first for line in text.split())

    @ddt.data("tcp", "udp")
    async def test_one_client_and_one_command(self, transport):
        await self.measure(Asking("command", "one", transport))
        self.assertEqual([], self.result.missing)
        self.assertEqual({1}, {number for *_, number in self.figures()})
        self.assertEqual([0, 0, 1, 1], self.starts())

    async def test_one_client_for_the_repetition(self):
        await self.measure(Asking("repetition", "one"))
        self.assertEqual(
            [
                *(("c1", "rate", 1), ("c1", "size", 2)),
                *(("c2", "rate", 1), ("c2", "size", 2)),
            ],
            self.figures(),
        )
        self.assertEqual([0, 1], self.starts())

    async def test_many_clients_for_one_command(self):
        await self.measure(Asking("command", "many"))
        for name in ("rate", "size"):
            numbers = [n for _, metric, n in self.figures() if metric == name]
            self.assertEqual([1, 2], sorted(numbers))
        self.assertEqual([0, 0], self.starts())

    async def test_many_clients_for_the_repetition(self):
        """It has ended when the repetition has; its peer was prepared."""
        await self.measure(Asking("repetition", "many"))
        self.assertEqual(
            [1, 2, 3, 4], sorted(number for *_, number in self.figures())
        )
        self.assertEqual([0], self.starts())
        with self.assertRaises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", self.first)
        prepared = self.folder / "peer/echo/prepared"
        self.assertEqual("ready\n", prepared.read_text())
        self.assertFalse((self.folder / "c1/echo/prepared").exists())

    async def test_a_server_of_one_client_has_no_second(self):
        workload = Asking("repetition", "many")
        workload.clients = "one"
        workload.ports = lambda arguments: base.Ports(shared=1)
        await self.measure(workload)
        reasons = {gap.reason for gap in self.result.missing}
        self.assertRegex(
            " ".join(reasons), "two machines use .* clients: many"
        )

    async def test_many_machines_start_their_servers_in_turns(self):
        """No more than a few at once ask the peer."""
        place = self.stations[0]
        here = self.most = 0

        class Still:
            async def give_up(self):
                """End at once."""

        async def start(*_):
            nonlocal here
            here += 1
            self.most = max(self.most, here)
            await asyncio.sleep(0)
            here -= 1
            return Still()

        async def work():
            return command_result.CommandResult(
                name="x",
                exit_status=0,
                seconds=1,
                started=0,
                ended=1,
                stdout="",
                stderr="",
            )

        many = servers.Servers(title="echo", peer=self.peer)
        commands = [
            base.Command(
                name="x",
                argv=("x",),
                timeout=1,
                server=base.Server(on="peer", argv=("y",), port=port),
            )
            for port in range(1, 101)
        ]
        many._start = start
        await asyncio.gather(
            *(many.serve(place, command, work) for command in commands)
        )
        self.assertEqual(servers.AT_ONCE, self.most)

    async def test_a_port_that_is_taken(self):
        """One server failed, and the other machine waits for no other."""
        with socket.create_server(("127.0.0.1", self.first)):
            await self.measure(Asking("repetition", "many"))
        reasons = {gap.reason for gap in self.result.missing}
        self.assertEqual(4, len(self.result.missing))
        for reason in reasons:
            self.assertIn(f"TCP port {self.first} is used", reason)

    async def refused(self, *argv):
        """Return why a server of this command line did not start."""
        held_servers = servers.Servers(title="echo", peer=self.peer)
        server = base.Server(on="peer", argv=argv, port=self.first)
        command = base.Command(
            name="x", argv=("x",), timeout=10, server=server
        )
        (self.folder / "peer/echo").mkdir()
        with self.assertRaises(machines.MachineError) as caught:
            await held_servers.hold(self.stations[0], command, 10)
        return str(caught.exception)

    @ddt.data(
        (("sh", "-c", "echo bind: in use >&2; exit 1"), "bind: in use"),
        (("missing-tool", "-s"), "missing-tool"),
    )
    @ddt.unpack
    async def test_a_server_that_ends_at_once(self, argv, text):
        """The run does not wait for it, and reports its last output."""
        with mock.patch.object(servers, "LISTEN_TIMEOUT", 600.0):
            message = await self.refused(*argv)
        self.assertIn(
            f"no server listens on TCP port {self.first} and the server "
            "ended; check whether the port is in use or the tool is missing; "
            "its last output: ",
            message,
        )
        self.assertIn(text, message)
        self.assertNotIn("\n", message)

    async def test_a_server_that_never_listens(self):
        """It is asked about once a second at most."""
        probe = mock.Mock()
        running = job.Job.running

        async def ask(started):
            probe()
            return await running(started)

        with (
            mock.patch.object(job.Job, "running", ask),
            mock.patch.object(servers, "LISTEN_TIMEOUT", 2.4),
            mock.patch.object(servers, "_ENDING", 0.1),
        ):
            message = await self.refused("sleep", "60")
        self.assertIn("after 2 s; check", message)
        self.assertIn("its last output: none, it is still running", message)
        self.assertLess(probe.call_count, 3)

    @skips.requires("iperf3")
    async def test_somebody_else_is_connected_to_an_iperf3_server(self):
        """The message names the first client, which is silent."""
        del self.stations[1]
        workload = iperf3.Iperf3()
        arguments = workload.complete(
            {"directions": ["to_peer"], "time": 1, "omit": 0}
        )
        listening = servers._listening

        async def intrude(started, server):
            await listening(started, server)
            *_, writer = await asyncio.open_connection(
                "127.0.0.1", server.port, local_addr=("127.0.0.77", 0)
            )
            self.addCleanup(writer.close)

        commands = workload.commands

        def hasty(*args):
            return tuple(
                dataclasses.replace(command, timeout=3)
                for command in commands(*args)
            )

        with (
            mock.patch.object(servers, "_listening", intrude),
            mock.patch.object(workload, "commands", hasty),
        ):
            await self.measure(workload, arguments)
        reason = self.result.missing[0].reason
        self.assertIn("did not end within 3 s", reason)
        self.assertIn(f"port {self.first} of peer, which", reason)
        self.assertIn("is used from 127.0.0.77; block", reason)

    def squatting(self, times):
        """Connect a silent client before the first measurement."""
        look = servers._check_listening
        self.came = 0

        async def squat(machine, server):
            listens, endpoints = await look(machine, server)
            if not listens or endpoints or self.came == times:
                return listens, endpoints
            self.came += 1
            *_, writer = await asyncio.open_connection(
                "127.0.0.1", server.port, local_addr=("127.0.0.77", 0)
            )
            self.addCleanup(writer.close)
            return await look(machine, server)

        return mock.patch.object(servers, "_check_listening", squat)

    @skips.requires("iperf3", root=True)
    async def test_who_comes_before_the_client_is_sent_away(self):
        """A real iperf3 then serves its own client."""
        del self.stations[1]
        workload = iperf3.Iperf3()
        arguments = workload.complete({"time": 1, "omit": 0})
        with self.squatting(2):
            await self.measure(workload, arguments)
        self.assertEqual(2, self.came)
        self.assertEqual([], self.result.missing)

    @skips.requires("iperf3")
    async def test_who_comes_again_and_again_is_named(self):
        """Nothing is measured at a server that another one has."""
        del self.stations[1]
        workload = iperf3.Iperf3()
        arguments = workload.complete(
            {"directions": ["to_peer"], "time": 1, "omit": 0}
        )
        with self.squatting(100):
            await self.measure(workload, arguments)
        reason = self.result.missing[0].reason
        self.assertIn("is used from 127.0.0.77; block", reason)

    @skips.requires("iperf3")
    async def test_an_iperf3_server_goes_on_after_another_client(self):
        """A client that disconnects does not affect a measurement."""
        del self.stations[1]
        workload = iperf3.Iperf3()
        arguments = workload.complete(
            {"directions": ["to_peer"], "time": 1, "omit": 0}
        )
        listening = servers._listening

        async def knock(started, server):
            await listening(started, server)
            *_, writer = await asyncio.open_connection(
                "127.0.0.1", server.port
            )
            writer.close()
            await asyncio.sleep(1)

        with mock.patch.object(servers, "_listening", knock):
            await self.measure(workload, arguments)
        self.assertEqual([], self.result.missing)
