# SPDX-License-Identifier: Apache-2.0
"""Tests of what real servers on the peer may do, and where they listen."""

import contextlib
import functools
import os
import pathlib
import socket
import subprocess
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
from rally_vmperf.machines import local
from rally_vmperf.machines import workfolder
from rally_vmperf.workloads import base
from tests import skips
from tests.unit.execution import test_servers
from tests.unit.machines import folders

#: An address of the loopback interface that no other server has.
ADDRESS = "127.0.0.5"

#: Server -> workload, its arguments, its client.
SERVERS = {
    "iperf3": ("iperf3", {"directions": ["to_peer"], "time": 1}, "iperf3"),
    "iperf": ("iperf2", {"time": 1}, "iperf"),
    "sockperf": ("sockperf", {"time": 2, "protocol": "udp"}, "sockperf"),
    "nginx": ("wget", {"size_mib": 1}, "wget"),
    "nginx ": (
        "h2load",
        {"users": 2, "think_time": 0.5, "time": 2},
        "h2load",
    ),
}
#: Started by root; its sessions have other users.
FTP = {"vsftpd": ("wget", {"size_mib": 1, "protocols": ["ftp"]}, "wget")}


class Nobody(local.Local):
    """This machine with a login as an unprivileged user."""

    async def run(self, argv, **limits):
        """Run a command as the user 65534."""
        prefix = "setpriv --reuid 65534 --regid 65534 --clear-groups --"
        return await super().run([*prefix.split(), *argv], **limits)


@ddt.ddt
@skips.requires(root=True)
class RightsTestCase(unittest.IsolatedAsyncioTestCase):
    """This machine as a guest and as the peer, with a login as root."""

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(folders.made(self))
        stations = []
        for role in ("guest", "peer"):
            (folder / role).mkdir()
            station = roles.Station(
                name=role,
                machine=local.Local(role),
                role=role,
                folder=str(folder / role),
                address=ADDRESS,
            )
            stations.append(station)
        self.guest, self.peer = stations
        self.first = test_servers.free_ports()

    async def prepare(self, program):
        """Return the prepared workload whose server is a program."""
        workload, arguments, client = {**SERVERS, **FTP}[program]
        skips.require(self, program.strip(), client)
        (assigned,) = assignment.assign(
            [{"name": workload, "arguments": arguments}]
        )
        await measure.prepare([assigned], [self.guest], self.peer, str)
        return assigned

    @contextlib.asynccontextmanager
    async def serve(self, assigned):
        """Yield the port of the running server of a workload."""
        (allotment,) = ports.allocate([assigned], self.first)
        ends = allotment.endpoints(
            0, ADDRESS, listen_address=self.peer.listen_address
        )
        command, *_ = assigned.workload.commands(assigned.arguments, ends)
        running = servers.Servers(title=assigned.title, peer=self.peer)
        await running.hold(self.guest, command, 60)
        try:
            yield command.server.port
        finally:
            await running.close()

    @ddt.data(*SERVERS)
    async def test_a_user_of_its_own(self, program):
        """It has no right of root, and no other server has its user."""
        assigned = await self.prepare(program)
        async with self.serve(assigned) as port:
            ((_, pid),) = list_listeners(port)
            status = dict(
                line.split(":", 1)
                for line in pathlib.Path(f"/proc/{pid}/status")
                .read_text()
                .splitlines()
            )
            cwd = os.readlink(f"/proc/{pid}/cwd")
        uid = str(servers.FIRST_UID + port)
        for key in ("Uid", "Gid"):
            self.assertEqual([uid] * 4, status[key].split())
        self.assertEqual([], status["Groups"].split())
        for key in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(0, int(status[key], 16))
        self.assertEqual("1", status["NoNewPrivs"].strip())
        self.assertTrue(cwd.startswith(self.peer.folder_of(assigned.title)))
        self.assertFalse(os.path.exists(cwd), "removed with its job")

    @ddt.data(*SERVERS, *FTP)
    async def test_the_address_of_the_peer(self, program):
        """It listens where guests look for it, and nowhere else."""
        assigned = await self.prepare(program)
        async with self.serve(assigned) as port:
            ((address, _),) = list_listeners(port)
        self.assertEqual(f"{ADDRESS}:{port}", address)

    @ddt.data(
        ("192.0.2.1", "iperf3", "*"),
        ("localhost", "iperf3", "*"),
        ("192.0.2.1", "nginx", "0.0.0.0"),
        ("192.0.2.1", "vsftpd", "0.0.0.0"),
    )
    @ddt.unpack
    async def test_all_addresses(self, address, program, expected):
        """No interface has the address, such as a floating IP."""
        self.peer.address = address
        assigned = await self.prepare(program)
        async with self.serve(assigned) as port:
            ((listening, _),) = list_listeners(port)
            with socket.create_connection(("127.0.0.77", port), 10):
                pass
        self.assertEqual(f"{expected}:{port}", listening)

    async def test_a_login_that_is_not_root(self):
        """The server runs as the user of the login."""
        machine = self.peer.machine = Nobody("peer")
        created = await workfolder.create(machine, "/tmp")
        folder = self.peer.folder = created.path
        self.addAsyncCleanup(workfolder.remove, machine, folder)
        assigned = await self.prepare("nginx")
        async with self.serve(assigned) as port:
            ((address, pid),) = list_listeners(port)
            self.assertEqual(65534, os.stat(f"/proc/{pid}").st_uid)
        self.assertEqual(f"{ADDRESS}:{port}", address)

    @ddt.data(*SERVERS, *FTP)
    async def test_measured(self, program):
        """Its rights are sufficient for the measurement."""
        assigned = await self.prepare(program)
        result = measured.Measured()
        # Tests that run at the same time use other ports.
        allocate = functools.partial(ports.allocate, begin=self.first)
        with mock.patch.object(ports, "allocate", allocate):
            await measure.repetition(
                [assigned], [self.guest], self.peer, str, result
            )
        self.assertEqual([], result.missing)
        self.assertNotEqual([], result.observations)

    async def test_closed_directories(self):
        """A server reads its own files, and nothing else of the run."""
        secret = pathlib.Path(self.peer.folder_of("echo"), "secret")
        secret.parent.mkdir()
        secret.write_text("secret")
        attempts = (
            *("cat ../../secret", "cat ../status", "ls ..", "ls /root"),
            *("echo changed >config", "cat config", "touch new"),
        )
        argv = (
            *("bash", "-c"),
            'for attempt; do eval "$attempt"; echo -n $? >&3; done '
            "3>&1 >/dev/null 2>&1; exit 1",
            *("attempts", *attempts),
        )
        command = base.Command(
            name="x",
            argv=("x",),
            timeout=10,
            server=base.Server(
                on="peer", argv=argv, port=self.first, files={"config": "x"}
            ),
        )
        running = servers.Servers(title="echo", peer=self.peer)
        with self.assertRaisesRegex(
            machines.MachineError, "its last output: 1122100$"
        ):
            await running.hold(self.guest, command, 10)


def list_listeners(port):
    """Return the addresses and processes that listen on a port, as pairs."""
    process = subprocess.run(
        ["ss", "-Hlntup", "sport", "=", f":{port}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return [
        (fields[4], fields[6].partition("pid=")[2].partition(",")[0])
        for fields in map(str.split, process.stdout.splitlines())
    ]
