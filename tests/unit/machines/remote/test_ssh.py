# SPDX-License-Identifier: Apache-2.0
import asyncio
import contextlib
import dataclasses
import mmap
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import psutil

from rally_vmperf.machines import base
from rally_vmperf.machines import job
from rally_vmperf.machines import local
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import hostkey
from rally_vmperf.machines.remote import routes
from rally_vmperf.machines.remote import ssh
from tests.unit.machines import folders
from tests.unit.machines import jobs
from tests.unit.machines import sshd


class SshTestCase(unittest.IsolatedAsyncioTestCase):
    async def serve(self, **arguments):
        server = sshd.Sshd(**arguments)
        await server.start()
        self.addAsyncCleanup(server.stop)
        return server

    def machine(self, server, **arguments):
        machine = ssh.Ssh(server.endpoint(**arguments))
        self.addAsyncCleanup(machine.close)
        return machine

    def folder(self):
        return self.enterContext(tempfile.TemporaryDirectory())

    async def test_arguments_and_output_arrive_unchanged(self):
        machine = self.machine(await self.serve())
        arguments = ["a b", "it's", '"', "*", "$HOME", "a\nb", "", "é", "`x`"]
        result = await machine.run(["printf", "%s|", *arguments])
        self.assertEqual(
            "".join(f"{word}|" for word in arguments), result.stdout
        )
        self.assertEqual(0, result.exit_status)

    async def test_exit_status_stderr_and_locale(self):
        machine = self.machine(await self.serve())
        result = await machine.run(
            ["sh", "-c", "echo $LC_ALL; echo bad >&2; exit 7"]
        )
        self.assertEqual(
            base.Completed(exit_status=7, stdout="C\n", stderr="bad\n"), result
        )

    async def test_a_command_that_is_not_there(self):
        machine = self.machine(await self.serve())
        result = await machine.run(["no-such-command"])
        self.assertEqual(127, result.exit_status)
        self.assertIn("no-such-command", result.stderr)

    async def test_ipv6(self):
        try:
            server = await self.serve(host="::1")
        except OSError as error:
            self.skipTest(f"no IPv6 loopback: {error}")
        machine = self.machine(server)
        self.assertEqual(f"debian@[::1]:{server.port}", machine.address)
        result = await machine.run(["echo", "six"])
        self.assertEqual("six\n", result.stdout)

    async def test_another_host_key_is_refused_at_once(self):
        server = await self.serve()
        machine = self.machine(
            server, host_key=hostkey.generate("other").public
        )
        with self.assertRaisesRegex(base.MachineError, "known_hosts"):
            await machine.wait_ready(60)
        self.assertEqual([], server.commands)

    async def test_unknown_hosts_are_refused(self):
        server = await self.serve()
        empty = pathlib.Path(self.folder(), "known_hosts")
        empty.touch()
        machine = self.machine(server, host_key=None, known_hosts=str(empty))
        with self.assertRaisesRegex(
            base.MachineError,
            f"has a host key that is unknown: {empty} has none of it; .*"
            f"ssh-keyscan -p {server.port} {server.host} >> {empty}$",
        ):
            await machine.run(["true"])
        empty.write_text(
            f"[{server.host}]:{server.port} {hostkey.generate('x').public}\n"
        )
        with self.assertRaisesRegex(base.MachineError, "shows a host key"):
            await machine.run(["true"])

    async def test_known_hosts_file(self):
        server = await self.serve()
        path = pathlib.Path(self.folder(), "known_hosts")
        path.write_text(
            f"[{server.host}]:{server.port} {server.host_pair.public}\n"
        )
        machine = self.machine(server, host_key=None, known_hosts=str(path))
        self.assertEqual(0, (await machine.run(["true"])).exit_status)

    async def test_key_file(self):
        server = await self.serve()
        path = pathlib.Path(self.folder(), "key")
        path.write_text(server.client_pair.private)
        machine = self.machine(server, client_key=None, key_file=str(path))
        self.assertEqual(0, (await machine.run(["true"])).exit_status)

    async def test_bad_keys_are_named(self):
        common = {"host": "::1", "user": "u"}
        with self.assertRaisesRegex(base.MachineError, "ssh_host_ed25519"):
            ssh.Ssh(endpoint.Endpoint("g1", host_key="rubbish", **common))
        server = await self.serve()
        machine = self.machine(server, client_key="rubbish")
        with self.assertRaisesRegex(base.MachineError, "g1: client key"):
            await machine.run(["true"])

    async def test_waits_for_a_port_to_open(self):
        server = await self.serve()
        await server.stop()
        machine = self.machine(server)
        reasons = []
        waiting = asyncio.create_task(
            machine.wait_ready(60, on_wait=reasons.append)
        )
        while not reasons:
            await asyncio.sleep(0.01)
        await server.start()
        await waiting
        self.assertIn("no SSH at debian@127.0.0.1", reasons[0])

    async def test_waits_for_cloud_init_to_put_the_key(self):
        server = await self.serve(refuse_logins=1)
        reasons = []
        with mock.patch.object(ssh, "_DENIED_POLL", 0.01):
            await self.machine(server).wait_ready(60, on_wait=reasons.append)
        self.assertEqual(1, len(reasons))
        self.assertIn("rejects the key", reasons[0])

    async def test_reports_at_the_deadline_that_the_key_was_rejected(self):
        server = await self.serve()
        stranger = hostkey.generate("stranger").private
        machine = self.machine(server, client_key=stranger)
        with (
            mock.patch.object(ssh, "_DENIED_POLL", 0.01),
            self.assertRaisesRegex(
                base.Unreachable, "authorized_keys .*waited 0.1 s"
            ),
        ):
            await machine.wait_ready(0.1)

    async def test_unreachable_names_the_address(self):
        server = await self.serve()
        await server.stop()
        with self.assertRaisesRegex(
            base.Unreachable, f"g1: no SSH at debian@127.0.0.1:{server.port}"
        ):
            await self.machine(server).run(["true"])

    async def test_the_time_out_covers_getting_a_connection(self):
        machine = self.machine(await self.serve())

        async def hang(*_):
            await asyncio.Event().wait()

        # Without a time-out, nothing would end this wait.
        with mock.patch.object(routes, "connect_socket", hang):
            answers = await asyncio.gather(
                *(machine.run(["true"], timeout=0.3) for _ in range(3)),
                return_exceptions=True,
            )
        for error in answers:
            self.assertIsInstance(error, base.Unreachable)
            self.assertRegex(str(error), "g1: no SSH at .* within 0.3 s")
            self.assertGreater(error.silent, 0)
        self.assertEqual(0, (await machine.run(["true"])).exit_status)

    async def test_callers_that_wait_for_a_dial_share_its_failure(self):
        machine = self.machine(await self.serve())
        dials = []

        async def refuse(*_):
            dials.append(1)
            await asyncio.sleep(0.1)
            raise ConnectionRefusedError("refused")

        with mock.patch.object(routes, "connect_socket", refuse):
            answers = await asyncio.gather(
                *(machine.run(["true"]) for _ in range(5)),
                return_exceptions=True,
            )
            self.assertEqual(1, len(dials))
            with self.assertRaises(base.Unreachable):
                await machine.run(["true"])
        self.assertEqual(2, len(dials))
        self.assertEqual({base.Unreachable}, set(map(type, answers)))

    async def test_silence_is_reported_with_the_loss(self):
        server = await self.serve()
        machine = self.machine(server, keepalive=0.1)
        running = asyncio.create_task(machine.run(["sleep", "20"]))
        while not server.commands:
            await asyncio.sleep(0.01)
        server.silence()
        with self.assertRaisesRegex(base.Unreachable, "keepalive") as caught:
            await running
        self.assertAlmostEqual(0.4, caught.exception.silent)

    async def test_time_out_ends_the_command(self):
        machine = self.machine(await self.serve())
        path = pathlib.Path(self.folder(), "pid")
        with self.assertRaisesRegex(base.TimedOut, "g1: command sh .* 2 s"):
            await machine.run(
                ["sh", "-c", 'echo $$ >"$1"; exec sleep 600', "sh", str(path)],
                timeout=2,
            )
        self.assertEqual(0, (await machine.run(["true"])).exit_status)
        async with asyncio.timeout(60):
            while psutil.pid_exists(int(path.read_text())):
                await asyncio.sleep(0.05)

    async def test_endless_output_is_cut(self):
        machine = self.machine(await self.serve())
        with self.assertRaisesRegex(base.OutputTooLong, "1000 bytes"):
            await machine.run(["yes"], output_limit=1000)
        with self.assertRaises(base.OutputTooLong):
            await machine.run(["sh", "-c", "yes >&2"])
        self.assertEqual(0, (await machine.run(["true"])).exit_status)

    async def test_output_of_exactly_the_limit_is_whole(self):
        machine = self.machine(await self.serve())
        result = await machine.run(
            ["head", "-c", "300000", "/dev/zero"], output_limit=300000
        )
        self.assertEqual(300000, len(result.stdout))

    async def test_characters_at_the_edges_of_buffers_and_garbage(self):
        machine = self.machine(await self.serve())
        content = b"x" + "é€😀".encode() * 50_000 + b"\xff\xfe\x00\xc3"
        result = await machine.run(
            ["cat"], input_bytes=content, output_limit=1 << 20
        )
        self.assertEqual(content.decode("utf-8", "replace"), result.stdout)

    async def test_input_that_is_not_read(self):
        machine = self.machine(await self.serve())
        result = await machine.run(["true"], input_bytes=b"x" * 5_000_000)
        self.assertEqual(0, result.exit_status)

    async def test_put(self):
        machine = self.machine(await self.serve())
        path = pathlib.Path(self.folder(), "a b", "it's")
        content = bytes(range(256)) * 1000
        await machine.put(content, str(path), 0o640)
        self.assertEqual(content, path.read_bytes())
        self.assertEqual(0o640, path.stat().st_mode & 0o777)
        with self.assertRaisesRegex(base.MachineError, "g1: cannot write"):
            await machine.put(b"", f"{path}/below-a-file")

    async def test_put_a_mapped_file(self):
        """It arrives as it is, without having been read before."""
        machine = self.machine(await self.serve())
        folder = pathlib.Path(self.folder())
        source = folder / "source"
        source.write_bytes(os.urandom(3_000_001))
        with (
            source.open("rb") as stream,
            mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            target = str(folder / "target")
            await machine.put(content, target)
        self.assertEqual(source.read_bytes(), (folder / "target").read_bytes())

    async def test_many_commands_at_once_share_few_connections(self):
        server = await self.serve()
        machine = self.machine(server)
        results = await asyncio.gather(
            *(machine.run(["echo", str(n)]) for n in range(20))
        )
        self.assertEqual(
            [f"{n}\n" for n in range(20)],
            [result.stdout for result in results],
        )
        self.assertLessEqual(len(server.connections), 3)

    async def test_a_dropped_connection_is_replaced(self):
        server = await self.serve()
        machine = self.machine(server)
        await machine.run(["true"])
        server.drop()
        result = await machine.run(["echo", "again"])
        self.assertEqual("again\n", result.stdout)

    async def test_a_command_under_way_is_not_run_twice(self):
        server = await self.serve()
        machine = self.machine(server)
        running = asyncio.create_task(machine.run(["sleep", "20"]))
        while not server.commands:
            await asyncio.sleep(0.01)
        server.drop()
        with self.assertRaisesRegex(base.Unreachable, "command sleep"):
            await running
        self.assertEqual(1, len(server.commands))

    async def test_cancelling_leaves_the_machine_usable(self):
        server = await self.serve()
        machine = self.machine(server)
        running = asyncio.create_task(machine.run(["sleep", "20"]))
        while not server.commands:
            await asyncio.sleep(0.01)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        self.assertEqual(0, (await machine.run(["true"])).exit_status)

    async def test_a_job_survives_a_dropped_connection(self):
        server = await self.serve()
        machine = self.machine(server)
        script = 'echo one; sleep 1; echo two; echo "$1" >&2; exit 4'
        handle = await jobs.start(
            machine,
            str(folders.below(self)),
            "fio",
            ["sh", "-c", script, "sh", "a *"],
            timeout=60,
        )
        finishing = asyncio.create_task(handle.finish())
        while len(server.commands) < 2:
            await asyncio.sleep(0.01)
        server.drop()
        result = await finishing
        self.assertEqual("one\ntwo\n", result.stdout)
        self.assertEqual("a *\n", result.stderr)
        self.assertEqual(4, result.exit_status)
        self.assertGreater(result.ended, result.started)

    async def test_one_request_that_is_dropped_is_continued(self):
        """The command runs once, however often it is requested."""
        server = await self.serve()
        machine = self.machine(server)
        folder = str(folders.below(self))
        script = "echo began >>began; sleep 1; cat began"
        running = asyncio.create_task(
            jobs.run(
                machine, folder, "fio", ["sh", "-c", script],
                timeout=60, finished=[],
            )
        )  # fmt: skip
        while not os.path.exists(f"{folder}/began"):
            await asyncio.sleep(0.01)
        server.drop()
        result = await running
        self.assertEqual("began\n", result.stdout)
        self.assertGreater(result.ended, result.started)

    async def test_a_job_on_a_machine_that_falls_silent_is_given_up(self):
        server = await self.serve()
        machine = self.machine(server, keepalive=0.2)
        handle = await jobs.start(
            machine,
            str(folders.below(self)),
            "fio",
            ["sleep", "20"],
            timeout=9000,
        )
        here = dataclasses.replace(handle, machine=local.Local("g1"))
        self.addAsyncCleanup(here.cancel)
        finishing = asyncio.create_task(handle.finish())
        while len(server.commands) < 2:
            await asyncio.sleep(0.01)
        server.silence()
        with (
            mock.patch.object(job, "_AWAY", 0.5),
            self.assertRaisesRegex(base.Unreachable, "lost 1 s ago .* fio"),
        ):
            await finishing
