# SPDX-License-Identifier: Apache-2.0
"""Tests of short measurements."""

import copy
import unittest

import ddt

from rally_vmperf import errors
from rally_vmperf.cmd import quick
from rally_vmperf.workloads import registry

TASK = {
    "version": 2,
    "title": "T",
    "subtasks": [
        {
            "title": "Overhead of m1.small",
            "scenario": {
                "VMPerf.overhead": {
                    "warmup": 2,
                    "reboot": "auto",
                    "workloads": [
                        {"name": "sysbench", "arguments": {"time": 10}},
                        {"name": "mbw"},
                        {"name": "fio", "arguments": {"size_mib": 64}},
                        {
                            "name": "fio",
                            "label": "db",
                            "arguments": {"runtime": 300, "depth": 4},
                        },
                        {"name": "unixbench"},
                    ],
                    "arguments": {"sysbench": {"threads": 2, "time": 60}},
                }
            },
            "runner": {"serial": {"times": 8}},
        },
        {
            "title": "Another",
            "scenario": {"Dummy.dummy": {"sleep": 1}},
            "runner": {"serial": {"times": 8}},
        },
    ],
}


@ddt.ddt
class QuickTest(unittest.TestCase):
    """A task with short arguments, three repetitions and a mark."""

    def setUp(self):
        """Shorten the task."""
        super().setUp()
        self.task = copy.deepcopy(TASK)
        quick.shorten_task(self.task)
        self.subtask, self.other = self.task["subtasks"]
        self.arguments = self.subtask["scenario"]["VMPerf.overhead"]

    def test_repetitions(self):
        """One is not counted, and three are."""
        self.assertEqual({"serial": {"times": 4}}, self.subtask["runner"])
        self.assertEqual(1, self.arguments["warmup"])
        self.assertEqual("never", self.arguments["reboot"])

    def test_arguments(self):
        """Numbers are reduced, and never increased."""
        self.assertEqual(
            {
                "sysbench": {"threads": 2, "time": 3},
                "mbw": {"runs": 3},
                "fio": {"size_mib": 64, "runtime": 5, "ramp_time": 1},
                "db": {"size_mib": 256, "runtime": 5, "ramp_time": 1},
            },
            self.arguments["arguments"],
        )

    def test_title(self):
        """It is marked, within the limit of Rally."""
        self.assertEqual(
            "Overhead of m1.small (quick: short measurements)",
            self.subtask["title"],
        )
        task = copy.deepcopy(TASK)
        task["subtasks"][0]["title"] = "x" * 128
        quick.shorten_task(task)
        self.assertEqual(128, len(task["subtasks"][0]["title"]))
        self.assertTrue(task["subtasks"][0]["title"].endswith(quick.MARK))

    def test_other_scenarios(self):
        """They are not changed."""
        self.assertEqual(TASK["subtasks"][1], self.other)

    def test_times_that_are_shorter(self):
        """A task without warm-up has none."""
        task = copy.deepcopy(TASK)
        arguments = task["subtasks"][0]["scenario"]["VMPerf.overhead"]
        del arguments["warmup"]
        arguments["reboot"] = "between_repetitions"
        quick.shorten_task(task)
        self.assertEqual(3, task["subtasks"][0]["runner"]["serial"]["times"])
        self.assertEqual("between_repetitions", arguments["reboot"])

    def test_first_version(self):
        """The line names the option."""
        with self.assertRaisesRegex(errors.VMPerfError, "^--quick: the task"):
            quick.shorten_task({"VMPerf.overhead": [{"args": {}}]})

    @ddt.data(*registry.workload_names())
    def test_workload(self, name):
        """Its short arguments are valid, and not longer than the default."""
        workload = registry.get_workload(name)
        default = workload.complete({})
        short = quick.shorten_arguments(name, {})
        self.assertEqual(workload.QUICK, short)
        for key, number in short.items():
            self.assertLessEqual(number, default[key])
        self.assertEqual(
            {}, quick.shorten_arguments(name, {"unknown argument": 1})
        )
