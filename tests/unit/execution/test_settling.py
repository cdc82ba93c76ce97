# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.execution.stations import arrival
from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import scripts
from rally_vmperf.machines import testing
from tests.unit.machines import folders


@ddt.ddt
class ScriptTestCase(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        folder = self.enterContext(
            tempfile.TemporaryDirectory(dir=folders.PLAIN)
        )
        self.folder = pathlib.Path(folder)
        (self.folder / "bin").mkdir()

    def touch(self, *names):
        for name in names:
            path = self.folder / "run" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def systemctl(self, *states):
        """Put a systemctl into the path that gives one state after another."""
        program = self.folder / "bin" / "systemctl"
        states_file = self.folder / "states"
        states_file.write_text("".join(f"{state}\n" for state in states))
        program.write_text(
            f"#!/bin/sh\nhead -n 1 {states_file}\n"
            f"[ $(wc -l < {states_file}) -eq 1 ] || sed -i 1d {states_file}\n"
        )
        program.chmod(0o755)
        self.touch("systemd/system/unit")

    async def run_script(self, seconds=0):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        with mock.patch.dict(os.environ, {"PATH": path}):
            done = await local.Local("h").run(
                scripts.argv("settle.sh", str(seconds), f"{self.folder}/run")
            )
        self.assertEqual("", done.stdout + done.stderr)
        return done.exit_status

    async def test_neither_cloud_init_nor_systemd(self):
        self.assertEqual(0, await self.run_script())

    @ddt.data(
        ((), 3),
        (("status.json",), 3),
        (("status.json", "result.json"), 0),
        (("disabled",), 0),
    )
    @ddt.unpack
    async def test_cloud_init(self, names, expected):
        self.touch("cloud-init/enabled", *(f"cloud-init/{n}" for n in names))
        self.assertEqual(expected, await self.run_script())

    @ddt.data(
        ("initializing", 4),
        ("starting", 4),
        ("running", 0),
        ("degraded", 0),
        ("", 0),
    )
    @ddt.unpack
    async def test_systemd(self, state, expected):
        self.systemctl(state)
        self.assertEqual(expected, await self.run_script())

    async def test_it_waits(self):
        self.systemctl("initializing", "starting", "running")
        self.assertEqual(0, await self.run_script(30))


class SettleTestCase(unittest.IsolatedAsyncioTestCase):
    async def test_answers(self):
        for status, expected in (
            (0, None),
            (3, "cloud-init"),
            (4, "systemd"),
            (127, None),
        ):
            answer = base.Completed(
                exit_status=status, stdout="\x1b[2J<b>", stderr=""
            )
            machine = testing.FakeMachine("g1", {"sh": answer})
            self.assertEqual(
                expected, await arrival.wait_for_boot(machine, 9.2)
            )
            (call,) = machine.calls
            self.assertEqual("10", call.argv[-1])
            self.assertGreater(call.timeout, 9.2)

    async def test_no_time_left(self):
        machine = testing.FakeMachine("g1", {"sh": ""})
        await arrival.wait_for_boot(machine, -3)
        self.assertEqual("0", machine.calls[0].argv[-1])
