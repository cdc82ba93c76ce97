# SPDX-License-Identifier: Apache-2.0
import asyncio
import getpass
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest
from unittest import mock

from rally_vmperf.machines import base
from rally_vmperf.machines.remote import hostkey
from rally_vmperf.machines.remote import jump
from rally_vmperf.machines.remote import ssh
from rally_vmperf.machines.remote import target
from tests.unit.machines import folders
from tests.unit.machines import sshd

OPENSSH = "/usr/sbin/sshd"
RUN = "/run/sshd"


class Case(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(dir=folders.PLAIN))
        )

    async def serve(self, **arguments):
        server = sshd.Sshd(**arguments)
        await server.start()
        self.addAsyncCleanup(server.stop)
        return server

    def hop(self, server, **changes):
        """Return a jump host as a task names it."""
        key = self.folder / f"key-{server.port}"
        key.write_text(server.client_pair.private)
        known_hosts = self.folder / f"known-{server.port}"
        public = changes.pop("host_key", server.host_pair.public)
        known_hosts.write_text(f"[{server.host}]:{server.port} {public}\n")
        options = {
            "address": server.host,
            "port": server.port,
            "user": "rally",
            "key_file": str(key),
            "known_hosts": str(known_hosts),
        }
        return target.JumpHost(**options | changes)

    def machine(self, server, way, name="g1", **arguments):
        machine = ssh.Ssh(server.endpoint(name, **{"way": way, **arguments}))
        self.addAsyncCleanup(machine.close)
        return machine


class JumpTestCase(Case):
    async def asyncSetUp(self):
        self.guest = await self.serve()
        self.host = await self.serve(forwards=True)

    def reach(self, **changes):
        way = jump.create_route([self.hop(self.host, **changes)])
        return self.machine(self.guest, way)

    async def test_the_guest_is_reached_through_it(self):
        machine = self.reach()
        await machine.wait_ready(60)
        completed = await machine.run(["echo", "there"])
        self.assertEqual("there\n", completed.stdout)
        self.assertEqual(
            [(self.guest.host, self.guest.port)], self.host.forwarded
        )
        self.assertEqual(
            f"debian@127.0.0.1:{self.guest.port} through "
            f"rally@127.0.0.1:{self.host.port}",
            machine.address,
        )

    async def test_two_in_order(self):
        first = await self.serve(forwards=True)
        way = jump.create_route([self.hop(first), self.hop(self.host)])
        machine = self.machine(self.guest, way)
        self.assertEqual(0, (await machine.run(["true"])).exit_status)
        self.assertEqual([(self.host.host, self.host.port)], first.forwarded)
        self.assertIn(
            f"through rally@127.0.0.1:{self.host.port} through "
            f"rally@127.0.0.1:{first.port}",
            machine.address,
        )

    async def test_all_share_one_connection_until_the_last_one_goes(self):
        way = jump.create_route([self.hop(self.host)])
        machines = [self.machine(self.guest, way, f"g{n}") for n in range(20)]
        await asyncio.gather(*(machine.run(["true"]) for machine in machines))
        self.assertEqual(20, len(self.host.forwarded))
        (shared,) = self.host.connections
        for machine in machines[1:]:
            await machine.close()
        self.assertEqual(0, (await machines[0].run(["true"])).exit_status)
        self.assertEqual([shared], self.host.connections)
        await machines[0].close()
        await asyncio.wait_for(shared.wait_closed(), 10)
        self.assertEqual(0, (await machines[0].run(["true"])).exit_status)

    async def test_another_host_key_is_refused_at_once(self):
        machine = self.reach(host_key=hostkey.generate("other").public)
        with self.assertRaisesRegex(
            base.JumpRefused,
            f"^jump host: rally@127.0.0.1:{self.host.port} shows a host key",
        ):
            await machine.wait_ready(60)
        self.assertEqual([], self.host.forwarded)

    async def test_an_unknown_host_key_is_refused_at_once(self):
        empty = self.folder / "empty"
        empty.touch()
        machine = self.reach(known_hosts=str(empty))
        with self.assertRaisesRegex(base.JumpRefused, "key that is unknown"):
            await machine.wait_ready(60)

    async def test_the_guests_key_is_still_checked(self):
        machine = self.machine(
            self.guest,
            jump.create_route([self.hop(self.host)]),
            host_key=hostkey.generate("other").public,
        )
        with self.assertRaisesRegex(base.MachineError, "^g1: .* host key"):
            await machine.wait_ready(60)

    async def test_a_key_that_the_jump_denies_is_not_tried_again(self):
        stranger = self.folder / "stranger"
        stranger.write_text(hostkey.generate("stranger").private)
        machine = self.reach(key_file=str(stranger))
        with self.assertRaisesRegex(
            base.JumpRefused, "^jump host: .*rejects the key"
        ):
            await machine.wait_ready(60)
        self.assertEqual(1, len(self.host.connections))

    async def test_rejected_forwarding_is_reported_in_one_line(self):
        self.host.forwards = False
        with self.assertRaisesRegex(
            base.JumpRefused,
            f"^jump host: forwarding to 127.0.0.1 port {self.guest.port} "
            "through rally@.* is refused: open failed; .*AllowTcpForwarding",
        ):
            await self.reach().wait_ready(60)

    async def test_an_absent_guest_is_blamed_itself(self):
        await self.guest.stop()
        with self.assertRaisesRegex(
            base.Unreachable,
            f"^g1: no SSH at debian@127.0.0.1:{self.guest.port} through "
            f"rally@127.0.0.1:{self.host.port}: .*[Cc]onnect",
        ) as caught:
            await self.reach().run(["true"])
        self.assertNotIsInstance(caught.exception, base.JumpUnreachable)

    async def test_an_absent_jump_is_blamed_itself(self):
        await self.host.stop()
        machine = self.reach()
        with self.assertRaisesRegex(
            base.JumpUnreachable,
            f"^jump host: no SSH at rally@127.0.0.1:{self.host.port}: ",
        ):
            await machine.run(["true"])
        with self.assertRaises(base.JumpUnreachable) as caught:
            await machine.wait_ready(0.1)
        self.assertNotIn("console", str(caught.exception))

    async def test_the_guest_is_waited_for(self):
        await self.guest.stop()
        machine = self.reach()
        reasons = []
        waiting = asyncio.create_task(
            machine.wait_ready(60, on_wait=reasons.append)
        )
        while not reasons:
            await asyncio.sleep(0.01)
        await self.guest.start()
        await waiting
        self.assertEqual(1, len(self.host.connections))

    async def test_one_that_dies_and_comes_back(self):
        machine = self.reach()
        running = asyncio.create_task(machine.run(["sleep", "20"]))
        while not self.guest.commands:
            await asyncio.sleep(0.01)
        await self.host.stop()
        with self.assertRaisesRegex(base.Unreachable, "command sleep"):
            await running
        with self.assertRaises(base.JumpUnreachable):
            await machine.run(["true"])
        await self.host.start()
        self.assertEqual(0, (await machine.run(["true"])).exit_status)

    async def test_one_that_dies_while_it_forwards(self):
        self.host.released.clear()
        running = asyncio.create_task(self.reach().run(["true"]))
        while not self.host.forwarded:
            await asyncio.sleep(0.01)
        self.host.drop()
        with self.assertRaisesRegex(base.JumpUnreachable, "was lost"):
            await running

    async def test_a_late_connection_is_closed(self):
        """The guest counts open connections without a login."""
        self.host.released.clear()
        machine = self.reach()
        with (
            mock.patch.object(jump, "_FORWARD", 0.1),
            self.assertRaisesRegex(base.Unreachable, "no answer within 0.1 s"),
        ):
            await machine.run(["true"])
        self.host.released.set()
        self.assertEqual(0, (await machine.run(["true"])).exit_status)
        self.assertEqual(2, len(self.host.forwarded))
        while len(self.guest.connections) < 2:
            await asyncio.sleep(0.01)
        await asyncio.wait_for(self.guest.connections[0].wait_closed(), 10)
        self.assertEqual(0, (await machine.run(["true"])).exit_status)

    async def test_one_that_is_given_up_while_it_forwards(self):
        self.host.released.clear()
        machine = self.reach()
        running = asyncio.create_task(machine.run(["true"]))
        while not self.host.forwarded:
            await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await machine.close()
        self.assertEqual([], self.guest.connections)


@unittest.skipUnless(
    os.path.exists(OPENSSH) and (os.path.isdir(RUN) or os.geteuid() == 0),
    f"OpenSSH's server is not here, or its folder {RUN}",
)
class OpenSshTestCase(Case):
    """Messages and counters of OpenSSH itself."""

    async def asyncSetUp(self):
        # Where nothing starts services at boot nobody has made it.
        os.makedirs(RUN, mode=0o755, exist_ok=True)
        self.guest = await self.serve()

    async def jump(self, *options):
        """Start an sshd that knows our key; return it as a hop."""
        host, client = hostkey.generate("host"), hostkey.generate("client")
        files = {
            "host": host.private,
            "authorized": client.public,
            "client": client.private,
        }
        for name, content in files.items():
            path = self.folder / name
            path.write_text(content)
            path.chmod(0o600)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        known_hosts = self.folder / "known"
        known_hosts.write_text(f"[127.0.0.1]:{port} {host.public}\n")
        settings = [
            f"HostKey={self.folder}/host",
            f"AuthorizedKeysFile={self.folder}/authorized",
            "ListenAddress=127.0.0.1",
            "StrictModes=no",
            "UsePAM=no",
            "PidFile=none",
            "PermitRootLogin=yes",
            *options,
        ]
        arguments = [word for setting in settings for word in ("-o", setting)]
        process = subprocess.Popen(
            [OPENSSH, "-D", "-f", "/dev/null", "-p", str(port), *arguments],
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return target.JumpHost(
            address="127.0.0.1",
            port=port,
            user=getpass.getuser(),
            key_file=str(self.folder / "client"),
            known_hosts=str(known_hosts),
        )

    async def test_forwarding_needs_no_session(self):
        """One connection is enough for all, with any MaxSessions."""
        way = jump.create_route([await self.jump("MaxSessions=0")])
        machines = [self.machine(self.guest, way, f"g{n}") for n in range(15)]
        await machines[0].wait_ready(60)
        all_completed = await asyncio.gather(
            *(machine.run(["true"]) for machine in machines)
        )
        self.assertEqual(
            [0] * 15, [completed.exit_status for completed in all_completed]
        )

    async def test_forwarding_switched_off(self):
        way = jump.create_route([await self.jump("AllowTcpForwarding=no")])
        with self.assertRaisesRegex(base.JumpRefused, "is refused: open"):
            await self.machine(self.guest, way).wait_ready(60)

    async def test_an_absent_guest(self):
        way = jump.create_route([await self.jump()])
        machine = self.machine(self.guest, way)
        await machine.wait_ready(60)
        await self.guest.stop()
        with self.assertRaisesRegex(
            base.Unreachable, "^g1: no SSH at .*Connection refused"
        ):
            await machine.run(["true"])
