"""Tests of the task and the arguments in vmperf.yaml."""

import argparse
import os
import pathlib
import tempfile
import unittest

from rally_vmperf import errors
from rally_vmperf.cmd import task_file

TASK = """\
version: 2
title: {{ title | tojson }}
subtasks:
  - title: One
    scenario:
      VMPerf.overhead:
        workloads: [{name: fio}]
    runner: {serial: {times: {{ times }}}}
"""


class SettingsTest(unittest.TestCase):
    """The file in the current directory is the default."""

    def setUp(self):
        """Work in a directory of the test."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder)
        pathlib.Path("mine.yaml").write_text(TASK)
        self.settings = pathlib.Path("vmperf.yaml")

    def read(self, *arguments, task=None):
        """Return the title and the times of the rendered task."""
        parser = argparse.ArgumentParser()
        task_file.add_arguments(parser)
        parser.set_defaults(config_file=os.devnull)
        ((workload, _),) = task_file.read_task(
            task, parser.parse_args(arguments)
        )
        content = task_file.render(task, parser.parse_args(arguments))
        return content["title"], workload.times

    def test_task_and_arguments(self):
        """Options take precedence over the file."""
        self.settings.write_text("task: mine.yaml\ntitle: A\ntimes: 4\n")
        self.assertEqual(("A", 4), self.read())
        self.assertEqual(("A", 5), self.read("--task-args", "{times: 5}"))

    def test_given_task(self):
        """The file does not apply to another task."""
        self.settings.write_text("task: other.yaml\ntitle: A\ntimes: 4\n")
        arguments = ("--task-args", "{title: B, times: 6}")
        self.assertEqual(("B", 6), self.read(*arguments, task="mine.yaml"))

    def test_as_file_of_arguments(self):
        """Its key of the task is not an argument, as for Rally."""
        self.settings.write_text("task: mine.yaml\ntitle: A\ntimes: 4\n")
        for path in ("vmperf.yaml", str(self.settings.resolve())):
            file = ("--task-args-file", path)
            for task in (None, "mine.yaml"):
                with self.subTest(path=path, task=task):
                    self.assertEqual(("A", 4), self.read(*file, task=task))
                    got = self.read(*file, "--task-args", "times: 5")
                    self.assertEqual(("A", 5), got)

    def test_other_file_of_arguments(self):
        """It is merged with the file, and its arguments take precedence."""
        self.settings.write_text("task: mine.yaml\ntitle: A\ntimes: 4\n")
        pathlib.Path("more.yaml").write_text("times: 5\n")
        self.assertEqual(("A", 5), self.read("--task-args-file", "more.yaml"))
        with self.assertRaisesRegex(
            errors.VMPerfError, "^--task-args: argument 'task': must be"
        ):
            self.read("--task-args", "{task: mine.yaml}")

    def test_value_of_an_argument(self):
        """A message has the file of the value next to that of the task."""
        self.settings.write_text("task: mine.yaml\ntitle: A\ntimes: 0\n")
        with self.assertRaisesRegex(
            errors.VMPerfError, "^mine.yaml with vmperf.yaml: .*minimum"
        ):
            self.read()
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "^mine.yaml with vmperf.yaml, --task-args: .*'x'",
        ):
            self.read("--task-args", "times: x")

    def test_unused_sla(self):
        """The message names the file that has its limits."""
        self.settings.write_text(
            "task: mine.yaml\ntitle: A\ntimes: 4\n"
            "vmperf_overhead: {max_percent: {cpu.*: 5}}\n"
        )
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "^vmperf.yaml: SLA vmperf_overhead: the template does not use it; "
            "add it to the section sla of mine.yaml$",
        ):
            self.read()

    def test_misspelled_argument(self):
        """It is rejected, because Rally would ignore it."""
        self.settings.write_text("task: mine.yaml\ntitle: A\ntime: 4\n")
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "^vmperf.yaml: argument 'time': must be an argument of .*mine.yaml"
            " or an SLA; did you mean 'times'",
        ):
            self.read()
        with self.assertRaisesRegex(
            errors.VMPerfError, "^--task-args: argument 'tim': "
        ):
            self.read("--task-args", "{tim: 5}", task="mine.yaml")

    def test_task_of_the_package(self):
        """Its name is sufficient, and it is the default."""
        for text in ("task: kvm-density.yaml\n", "flavors: [m1.large]\n"):
            self.settings.write_text(text)
            path, _ = task_file.read_settings()
            self.assertTrue(pathlib.Path(path).is_file())

    def test_given_task_of_the_package(self):
        """It is found by its name, and a file goes before it."""
        title, times = self.read(
            "--task-args", "baseline: none", task="kvm-overhead.yaml"
        )
        self.assertEqual(("Overhead of KVM guests", 7), (title[:22], times))
        pathlib.Path("kvm-overhead.yaml").write_text(TASK)
        arguments = ("--task-args", "{title: B, times: 6}")
        self.assertEqual(
            ("B", 6), self.read(*arguments, task="kvm-overhead.yaml")
        )

    def test_missing(self):
        """The message names the command that writes the file."""
        with self.assertRaisesRegex(
            errors.VMPerfError, "no task: .* rally-vmperf init writes"
        ):
            self.read()
        with self.assertRaisesRegex(
            errors.VMPerfError, "^task 'nope.yaml': must be a file, or"
        ):
            self.read(task="nope.yaml")
        self.settings.write_text("task: nope.yaml\n")
        with self.assertRaisesRegex(
            errors.VMPerfError, "vmperf.yaml: task 'nope.yaml': must be"
        ):
            self.read()
