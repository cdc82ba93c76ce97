# SPDX-License-Identifier: Apache-2.0
"""Tests of the process that controls a run."""

import dataclasses
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.machines import controller


@ddt.ddt
class ProcessTest(unittest.TestCase):
    def test_this_runs(self):
        self.assertEqual("running", controller.get_current_process().state())

    def test_ended(self):
        child = subprocess.Popen(["true"])
        child.wait()
        process = dataclasses.replace(
            controller.get_current_process(), pid=child.pid
        )
        self.assertEqual("killed", process.state())

    def test_same_number_of_another_process(self):
        self.assertEqual(
            "killed",
            dataclasses.replace(
                controller.get_current_process(), started=1
            ).state(),
        )

    @ddt.data(
        ("0123", 0, "killed"), ("0123", 1, "unknown"), ("", 0, "unknown")
    )
    @ddt.unpack
    def test_before_the_boot(self, machine_id, offset, expected):
        """Only a host with an identifier is known to be the same one."""
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        path = path / "machine-id"
        path.write_text(machine_id)
        self.enterContext(mock.patch.object(controller, "_MACHINE_ID", path))
        current = controller.get_current_process()
        self.enterContext(
            mock.patch.object(
                controller, "_HOST_NAMESPACE", current.namespace + offset
            )
        )
        process = dataclasses.replace(current, boot="other")
        self.assertEqual(expected, process.state())

    @ddt.data({"machine": "other"}, {"machine_id": "other"}, {"namespace": 1})
    def test_elsewhere(self, other):
        """A process with this number proves nothing about the other one."""
        current = controller.get_current_process()
        for fields in ({}, {"started": 1}):
            process = dataclasses.replace(current, **fields, **other)
            self.assertEqual("unknown", process.state())

    def test_earlier_versions(self):
        current = controller.get_current_process()
        old = controller.Process(
            machine=current.machine,
            boot=current.boot,
            pid=current.pid,
            started=1,
        )
        self.assertEqual("unknown", old.state())
        text = f"{old.machine} {old.boot} {old.pid} {old.started}"
        self.assertIsNone(controller.Process.parse(text))

    def test_text(self):
        process = controller.get_current_process()
        self.assertEqual(process, controller.Process.parse(str(process)))

    @ddt.data("", "h", "h 0 1 2", "a b none 0123456789abcdef 1 2 3", "\n")
    def test_foreign_text(self, text):
        self.assertIsNone(controller.Process.parse(text))
