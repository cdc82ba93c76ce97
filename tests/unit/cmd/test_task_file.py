# SPDX-License-Identifier: Apache-2.0
"""Tests of the task and the arguments in vmperf.yaml."""

import argparse
import contextlib
import io
import os
import pathlib
import re
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
        parsed = self.parse(*arguments)
        ((workload, _),) = task_file.read_task(task, parsed)
        content = task_file.render(task, parsed)
        return content["title"], workload.times

    def parse(self, *arguments, **others):
        """Return the parsed options of a command."""
        parser = argparse.ArgumentParser()
        task_file.add_arguments(parser)
        parser.set_defaults(config_file=os.devnull, **others)
        return parser.parse_args(arguments)

    def test_task_and_arguments(self):
        """Options take precedence over the file."""
        self.settings.write_text("task: mine.yaml\ntitle: A\ntimes: 4\n")
        self.assertEqual(("A", 4), self.read())
        self.assertEqual(("A", 5), self.read("--task-args", "{times: 5}"))

    def test_repeated_options(self):
        """All of them count, and the last one for the same argument."""
        for number, text in enumerate(("title: B\ntimes: 5", "times: 6")):
            pathlib.Path(f"{number}.yaml").write_text(text)
        files = ("--task-args-file", "0.yaml", "--task-args-file", "1.yaml")
        self.assertEqual(("B", 6), self.read(*files, task="mine.yaml"))
        texts = ("--task-args", "title: C", "--task-args", "times: 7")
        self.assertEqual(("C", 7), self.read(*texts, task="mine.yaml"))
        self.assertEqual(("C", 7), self.read(*files, *texts, task="mine.yaml"))

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

    def test_named_settings(self):
        """They replace vmperf.yaml, and apply to a given task."""
        self.settings.write_text("task: mine.yaml\ntitle: A\ntimes: 4\n")
        pathlib.Path("b.yaml").write_text("task: no.yaml\ntitle: B\n")
        named = ("--settings", "b.yaml", "--task-args", "{times: 3}")
        self.assertEqual(("B", 3), self.read(*named, task="mine.yaml"))
        with self.assertRaisesRegex(
            errors.VMPerfError, "^b.yaml: task 'no.yaml': must be"
        ):
            self.read(*named)
        with self.assertRaisesRegex(errors.VMPerfError, "no.yaml: "):
            self.read("--settings", "no.yaml")

    def test_source(self):
        """It is the path of the task, and the files of its arguments."""
        self.settings.write_text("task: mine.yaml\ntitle: A\ntimes: 4\n")
        for arguments, task, source in (
            ((), None, "mine.yaml with vmperf.yaml"),
            ((), "mine.yaml", "mine.yaml"),
            (
                ("--settings", "vmperf.yaml", "--task-args", "times: 5"),
                None,
                "mine.yaml with vmperf.yaml, --task-args",
            ),
        ):
            parsed = self.parse(*arguments)
            self.assertEqual(source, task_file.describe_source(task, parsed))

    def test_sla_as_an_argument(self):
        """The message names the argument for it, if the task has one."""
        for argument in ("vmperf_overhead", "max_percent", "min_index"):
            with self.assertRaisesRegex(
                errors.VMPerfError,
                f"^--task-args: argument '{argument}': must be an argument of "
                ".*kvm-overhead.yaml; set it in the argument limits, by SLA$",
            ):
                self.read(
                    *("--task-args", f"{argument}: {{}}"),
                    task="kvm-overhead.yaml",
                )

    def read_limits(self, text, *arguments, task="kvm-overhead.yaml"):
        """Return the SLAs of a task with a file of limits, and warnings."""
        pathlib.Path("limits.yaml").write_text(text)
        parsed = self.parse(*arguments, limits="limits.yaml")
        stderr = io.StringIO()
        with contextlib.redirect_stderr(stderr):
            ((workload, _),) = task_file.read_task(task, parsed)
        (subtask,) = task_file.render(task, parsed)["subtasks"]
        self.assertEqual(workload.criteria, subtask["sla"])
        return subtask["sla"], stderr.getvalue()

    def test_limits(self):
        """The SLAs that apply replace those of the task, and no others."""
        text = "vmperf_overhead: {max: {network.*.retransmits: 5}}\n"
        foreign = "vmperf_fairness: {min_index: {cpu.*: 0.9}}\n"
        slas, warnings = self.read_limits(text + foreign)
        self.assertEqual(
            {
                "failure_rate": {"max": 0},
                "vmperf_overhead": {"max": {"network.*.retransmits": 5}},
            },
            slas,
        )
        self.assertEqual(
            "--limits: vmperf_fairness is skipped: it applies to "
            "VMPerf.density\n",
            warnings,
        )
        slas, _ = self.read_limits(foreign, task="kvm-density.yaml")
        self.assertEqual({"cpu.*": 0.9}, slas["vmperf_fairness"]["min_index"])
        self.assertEqual("skip", slas["vmperf_degradation"]["unmeasured"])

    def test_limits_of_neighbours(self):
        """They apply to a task with neighbours only."""
        text = "vmperf_neighbours: {max_percent: {cpu.*: 5}}\n"
        slas, warnings = self.read_limits(text)
        self.assertNotIn("vmperf_neighbours", slas)
        self.assertIn("with neighbours", warnings)
        slas, warnings = self.read_limits(
            text,
            "--task-args",
            "neighbours: {guests: 1, workload: {name: stress_ng}}",
        )
        self.assertIn("vmperf_neighbours", slas)
        self.assertEqual("", warnings)

    def test_limits_that_the_template_does_not_take(self):
        """They are rejected, and not ignored."""
        with self.assertRaisesRegex(
            errors.VMPerfError, "^--limits: argument 'limits': must be an"
        ):
            self.read_limits(
                "vmperf_overhead: {max: {network.*: 5}}\n",
                *("--task-args", "{title: A, times: 4}"),
                task="mine.yaml",
            )

    def test_misspelled_argument(self):
        """It is rejected, because Rally would ignore it."""
        self.settings.write_text("task: mine.yaml\ntitle: A\ntime: 4\n")
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "^vmperf.yaml: argument 'time': must be an argument of .*mine.yaml"
            "; did you mean 'times'",
        ):
            self.read()
        with self.assertRaisesRegex(
            errors.VMPerfError, "^--task-args: argument 'tim': "
        ):
            self.read("--task-args", "{tim: 5}", task="mine.yaml")

    def test_argument_of_another_task(self):
        """A file can be for another task, or of an earlier version."""
        for task, argument, hint in (
            (
                "kvm-density.yaml",
                "guests: 2",
                r"; it belongs to .*kvm-overhead\.yaml.*: use such a task, or "
                "remove it",
            ),
            (
                "kvm-overhead.yaml",
                "hosts: [a]",
                r"; it belongs to .*kvm-density\.yaml.*: use such a task, or "
                r"remove it; did you mean 'host'\?",
            ),
            (
                "kvm-overhead.yaml",
                "disk_mib: 4096",
                "; set arguments of workloads in arguments, by their names, "
                r"such as arguments: \{fio: \{size_mib: 4096\}\}",
            ),
        ):
            self.settings.write_text(f"task: {task}\n{argument}\n")
            name = argument.partition(":")[0]
            with self.assertRaises(errors.VMPerfError) as caught:
                self.read()
            self.assertRegex(
                str(caught.exception),
                f"^vmperf.yaml: argument '{name}': must be an argument of "
                f"\\S+/{task}{hint}$",
            )

    def test_unknown_sla(self):
        """Rally would reject it later, and a plugin may add one."""
        for name, hint in (
            ("vmperf_overhed", "; did you mean 'vmperf_overhead'?"),
            ("failure_rat", "; did you mean 'failure_rate'?"),
            ("xyz", "; use one of failure_rate, "),
        ):
            self.settings.write_text(f"limits: {{{name}: {{}}}}\n")
            with self.assertRaisesRegex(
                errors.VMPerfError,
                f"with vmperf.yaml: sla '{name}': is not an SLA"
                f"{re.escape(hint)}",
            ):
                self.read()
        self.settings.write_text("limits: {max_avg_duration: 60}\n")
        self.assertEqual(7, self.read()[1])

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
            errors.VMPerfError, "no task: .*/vmperf.yaml does not exist; "
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
