"""Tests of the process that controls a run."""

import dataclasses
import subprocess
import unittest

import ddt

from rally_vmperf.machines import controller


@ddt.ddt
class ProcessTest(unittest.TestCase):
    def test_this_runs(self):
        self.assertEqual("running", controller.get_current_process().state())

    def test_ended(self):
        child = subprocess.Popen(["true"])
        child.wait()
        one = dataclasses.replace(
            controller.get_current_process(), pid=child.pid
        )
        self.assertEqual("killed", one.state())

    def test_same_number_of_another_process(self):
        self.assertEqual(
            "killed",
            dataclasses.replace(
                controller.get_current_process(), started=1
            ).state(),
        )

    def test_before_the_boot(self):
        one = dataclasses.replace(
            controller.get_current_process(), boot="other"
        )
        self.assertEqual("killed", one.state())

    def test_elsewhere(self):
        one = dataclasses.replace(
            controller.get_current_process(), machine="other"
        )
        self.assertEqual("unknown", one.state())

    def test_text(self):
        process = controller.get_current_process()
        self.assertEqual(process, controller.Process.parse(str(process)))

    @ddt.data("", "h", "h 0 1 2", "a b 0123456789abcdef 1 2", "\n")
    def test_foreign_text(self, text):
        self.assertIsNone(controller.Process.parse(text))
