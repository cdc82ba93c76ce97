# SPDX-License-Identifier: Apache-2.0
"""Tests of the tasks that the benchmark runs."""

import argparse
import json
import unittest

import ddt

from rally_vmperf.cmd import task_file
from tests.bench import __main__ as bench
from tests.unit import task_arguments

ARGUMENTS = bench.list_arguments(bench.parse_options([]))


@ddt.ddt
class TasksTest(unittest.TestCase):
    """Each template is rendered with the arguments that it is run with."""

    @ddt.data(*ARGUMENTS)
    def test_arguments_of_a_task(self, path):
        """All of them are used, and none is missing."""
        arguments = ARGUMENTS[path]
        self.assertEqual([], task_arguments.list_unused(path, arguments))
        self.assertIn("subtasks", task_arguments.render(path, arguments))

    def test_a_baseline_can_be_recorded(self):
        """The task has a workload of this package, as the command reads it."""
        parsed = argparse.Namespace(
            task_args=[json.dumps(ARGUMENTS[bench.OURS])],
            task_args_file=None,
            config_file=None,
            settings=None,
        )
        ((task, question),) = task_file.read_task(str(bench.OURS), parsed)
        self.assertEqual("overhead", question.name)
        self.assertEqual(3, task.times)
