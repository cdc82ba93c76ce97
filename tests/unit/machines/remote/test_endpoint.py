# SPDX-License-Identifier: Apache-2.0
import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf.machines import base
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import ssh
from tests.unit.machines import sshd

SECRET = "correct horse"


@ddt.ddt
class PasswordTestCase(unittest.IsolatedAsyncioTestCase):
    def file(self, content):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = pathlib.Path(folder, "password")
        path.write_bytes(content)
        return str(path)

    def machine(self, server, content):
        machine = ssh.Ssh(
            server.endpoint(client_key=None, password_file=self.file(content))
        )
        self.addAsyncCleanup(machine.close)
        return machine

    @ddt.data(b"correct horse", b"correct horse\n", b"correct horse\r\nx\n")
    async def test_the_first_line_lets_the_user_in(self, content):
        async with sshd.Sshd(password=SECRET) as server:
            machine = self.machine(server, content)
            self.assertEqual(0, (await machine.run(["true"])).exit_status)

    async def test_a_wrong_one_is_reported_without_its_text(self):
        async with sshd.Sshd(password=SECRET) as server:
            machine = self.machine(server, b"battery staple\n")
            with self.assertRaisesRegex(
                base.Denied, "rejects the password; .*PasswordAuthentication"
            ) as caught:
                await machine.run(["true"])
            self.assertNotIn("battery", str(caught.exception))

    @ddt.data(
        (b"", "its first line is empty"),
        (b"\nx\n", "its first line is empty"),
        (b"\xff\n", "it is not a text file"),
    )
    @ddt.unpack
    def test_no_password(self, content, reason):
        with self.assertRaisesRegex(base.MachineError, f"^g1: .*{reason}"):
            endpoint.password("g1", self.file(content))

    def test_no_file(self):
        with self.assertRaisesRegex(base.MachineError, "No such file"):
            endpoint.password("g1", "/proc/nowhere/password")
