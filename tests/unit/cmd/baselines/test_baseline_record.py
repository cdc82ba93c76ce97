# SPDX-License-Identifier: Apache-2.0
"""Tests of what is measured of bare metal, and what is left out."""

import argparse
import contextlib
import dataclasses
import io
import os
import pathlib
import re
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import main
from rally_vmperf.cmd.baselines import baseline_record
from rally_vmperf.cmd.baselines import coverage
from rally_vmperf.execution import protocols
from rally_vmperf.machines import base
from rally_vmperf.machines import shapes
from tests import signals
from tests.unit.runs import golden

TASK = """\
version: 2
title: Mine
subtasks:
  - title: With {{ baseline }}
    scenario:
      VMPerf.overhead: {workloads: [{name: sysbench}]}
    runner: {serial: {times: {{ repetitions }}}}
    contexts: {vmperf_guests: {image: {name: debian}, flavor: {name: small}}}
    sla:
      vmperf_overhead:
        max_percent: {"cpu.sysbench.rate": 5}
"""


def requested_coverage(copies, required):
    """Return what must be covered, in so many copies."""
    return coverage.Coverage(
        assignments=(),
        shape=document.Shape(1, 512, copies),
        repetitions=3,
        warmup=0,
        required=required,
    )


class TestThatFit(unittest.TestCase):
    """A machine of two CPUs, asked for more and more copies."""

    def setUp(self):
        """Have a machine on which more than two copies are too many."""
        super().setUp()
        patch = mock.patch(
            "rally_vmperf.cmd.baselines.bare_metal.find_too_large_shapes",
            lambda connect, requested: {
                shape: shapes.TooSmall(f"2 CPUs and {shape.copies} copies")
                for shape in requested
                if shape.copies > 2
            },
        )
        patch.start()
        self.addCleanup(patch.stop)
        self.lines = []

    def fitting(self, *requested):
        """Return the copies that are measured."""
        shell = mock.Mock()
        shell.stdout.write = self.lines.append
        command = baseline_record.Record(shell, None)
        fitting = command._select_coverages_that_fit(
            argparse.Namespace(), requested
        )
        return [coverage.shape.copies for coverage in fitting]

    def test_levels_of_a_task_are_left_out(self):
        """It is said which, and why."""
        requested = [requested_coverage(copies, False) for copies in (1, 2, 3)]
        self.assertEqual([1, 2], self.fitting(*requested))
        (line,) = self.lines
        self.assertEqual(
            "skipped: 3 x 1 vCPU with 512 MiB: 2 CPUs and 3 copies\n", line
        )

    def test_what_is_insisted_on_is_refused(self):
        """Before anything is measured."""
        with self.assertRaisesRegex(shapes.TooSmall, "3 copies"):
            self.fitting(
                requested_coverage(1, True), requested_coverage(3, True)
            )

    def test_nothing_left(self):
        """A baseline of nothing is none."""
        with self.assertRaisesRegex(shapes.TooSmall, "4 copies"):
            self.fitting(requested_coverage(4, False))

    def test_a_machine_left_whole_is_not_asked(self):
        """It is held to no shape."""
        whole = protocols.Protocol(shape="whole")
        requested = dataclasses.replace(
            requested_coverage(3, True), protocol=whole
        )
        self.assertEqual([3], self.fitting(requested))


@ddt.ddt
class TestRecord(unittest.TestCase):
    """The command, up to the baseline's file and the exit code."""

    def setUp(self):
        """Have folders, and a machine to connect to."""
        super().setUp()
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        self.config = self.folder / "rally.conf"
        self.config.write_text(
            f"[vmperf]\nbaseline_dir = {self.folder}/baselines\n"
            f"journal_dir = {self.folder}/journal\n"
        )
        self.machine = golden.Machine("metal", virtualisation="none")
        patch = mock.patch(
            "rally_vmperf.cmd.machine_options.connect",
            autospec=True,
            side_effect=lambda parsed: self.machine,
        )
        patch.start()
        self.addCleanup(patch.stop)

    def record(self, *more, repetitions=2):
        """Record sysbench; return the exit code and the output."""
        return self.run_command(
            *("--workload", "sysbench", "--warmup", "0"),
            *("--copies", "1,2", "--repetitions", str(repetitions)),
            *more,
        )

    def run_command(self, *arguments):
        """Run the command; return its exit code and its output."""
        lines = []
        with mock.patch.object(
            baseline_record.Record,
            "print_line",
            lambda self, line: lines.append(line),
        ):
            code = main.main(
                [
                    *("baseline", "record", "metal", "--local"),
                    *("--shape", "whole", "--cpus", "1", "--memory", "512"),
                    *("--config-file", str(self.config)),
                    *arguments,
                ]
            )
        return code, "\n".join(lines)

    def registered(self):
        """Return whether the baseline is registered."""
        return (self.folder / "baselines" / "metal.json").exists()

    def test_all_is_there(self):
        """It is registered, with the recording's session."""
        code, output = self.record()
        self.assertEqual(0, code, output)
        self.assertTrue(self.registered())
        self.assertIn("bare metal as 2 x 1 vCPU", output)

    @ddt.data(
        ("metal", "none", "^next: rally-vmperf run$"),
        (
            *("none", "none"),
            r"baseline: none; .* run --task-args '{baseline: metal}'",
        ),
        ("metal", "kvm", "voids each run: .* set tolerate: .* in vmperf.yaml"),
    )
    @ddt.unpack
    def test_settings_file(self, baseline, virtualisation, pattern):
        """Task and arguments are those in vmperf.yaml.

        The last line states whether run compares guests with this baseline.
        """
        self.machine = golden.Machine("metal", virtualisation=virtualisation)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        pathlib.Path("vmperf.yaml").write_text(
            f"task: mine.yaml\nrepetitions: 4\nbaseline: {baseline}\n"
        )
        pathlib.Path("mine.yaml").write_text(TASK)
        code, output = self.run_command("--measure-anyway")
        self.assertEqual(0, code, output)
        self.assertRegex(output.splitlines()[-1], pattern)
        registry = store.Store(self.folder / "baselines")
        (entry,) = registry.load("metal").entries
        self.assertEqual("sysbench", entry.workload)
        self.assertEqual(4, len(entry.reference.repetitions))

    @ddt.data(
        (
            *("kvm", 0),
            r"The bare metal is itself a guest .* runs under kvm\); record a "
            r"physical machine, or add --measure-anyway and set tolerate: "
            r"\[bare_metal_is_guest\] in the SLA$",
        ),
        (
            *("none", "qemu-system-x86"),
            r"1 QEMU processes run on it\); move guests and services away "
            r"from the machine, or add --measure-anyway and set tolerate: "
            r"\[bare_metal_busy\] in the SLA$",
        ),
    )
    @ddt.unpack
    def test_useless_machine(self, virtualisation, process, pattern):
        """A machine that voids each run is not measured unless requested."""
        self.machine = golden.Machine("metal", virtualisation=virtualisation)
        if process:
            self.machine.process_name = process
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            code, _ = self.record()
        self.assertEqual(1, code)
        (line,) = errors.getvalue().splitlines()
        self.assertRegex(
            line, f"^rally-vmperf: nothing is measured, because .*{pattern}"
        )
        self.assertEqual([], self.machine.jobs)
        self.assertFalse(self.registered())
        code, output = self.record("--measure-anyway")
        self.assertEqual(0, code, output)
        self.assertTrue(self.registered())

    def test_useless_machine_that_the_task_tolerates(self):
        """The task accepts the figures, so they are measured."""
        self.machine = golden.Machine("metal", virtualisation="kvm")
        path = self.folder / "mine.yaml"
        tolerate = "tolerate: [bare_metal_is_guest]"
        path.write_text(f"{TASK}        {tolerate}\n")
        arguments = "{baseline: metal, repetitions: 2}"
        code, output = self.run_command(
            *("--task", str(path), "--task-args", arguments)
        )
        self.assertEqual(0, code, output)
        self.assertTrue(self.registered())

    def test_quick(self):
        """The arguments are those of a short run."""
        path = self.folder / "mine.yaml"
        path.write_text(TASK)
        arguments = "{baseline: metal, repetitions: 9}"
        code, output = self.run_command(
            *("--quick", "--task", str(path), "--task-args", arguments)
        )
        self.assertEqual(0, code, output)
        registry = store.Store(self.folder / "baselines")
        (entry,) = registry.load("metal").entries
        self.assertEqual(3, entry.arguments["time"])
        self.assertEqual(3, len(entry.reference.repetitions))
        code, output = self.run_command(
            *("--quick", "--workload", "sysbench", "--replace")
        )
        self.assertEqual(0, code, output)
        (replaced,) = registry.load("metal").entries
        self.assertEqual(entry.arguments, replaced.arguments)
        self.assertEqual(3, len(replaced.reference.repetitions))

    def test_load_of_a_part_that_is_not_measured(self):
        """Traffic on links does not concern sysbench."""
        self.machine.link_bytes = 1 << 30
        code, output = self.record()
        self.assertEqual(0, code, output)
        self.assertTrue(self.registered())

    def test_void(self):
        """It is registered, and each run with it would be void."""
        self.machine = golden.Machine("metal", virtualisation="kvm")
        code, output = self.record("--measure-anyway")
        self.assertEqual(0, code, output)
        self.assertTrue(self.registered())
        *_, line = output.splitlines()
        self.assertRegex(
            line,
            "^baseline 'metal' voids each run: The bare metal is itself a "
            "guest .*; record it again on an empty host .*, or set "
            r"tolerate: \[bare_metal_is_guest\] in vmperf.yaml or in the SLA$",
        )

    def test_of_a_class(self):
        """The baseline stands for others, which it is asked for by."""
        self.record("--class", "r740")
        registry = store.Store(self.folder / "baselines")
        baseline = registry.find({"class": "r740"})
        self.assertEqual("r740", baseline.machine_class)
        self.record("--replace")
        self.assertEqual("", registry.load("metal").machine_class)
        with self.assertRaises(SystemExit):
            self.record("--class", "../x")

    def test_sessions(self):
        """Another session is added, and other workloads are rejected."""
        self.record()
        code, output = self.record("--append")
        self.assertEqual(0, code, output)
        registry = store.Store(self.folder / "baselines")
        for entry in registry.load("metal").entries:
            self.assertEqual(4, len(entry.reference.repetitions))
            self.assertEqual(2, entry.reference.boot_count)
        measured = len(self.machine.commands)
        for options in (
            ("--append", "--copies", "1"),
            ("--append", "--replace"),
        ):
            code, output = self.record(*options)
            self.assertEqual(1, code, output)
        self.assertEqual(measured, len(self.machine.commands))

    def test_something_is_missing(self):
        """It is said, and the same command goes on from there."""
        outputs = [golden.SYSBENCH] * 5 + ["nothing"] * 3
        self.machine = golden.Machine("metal", outputs, "none")
        code, output = self.record()
        self.assertEqual(2, code, output)
        self.assertFalse(self.registered())
        self.assertRegex(
            output, "missing: 2 x .*: sysbench has 1 of 2 repetitions: copy-"
        )
        (session,) = re.findall("--continue ([0-9a-f]{32})", output)
        self.machine = golden.Machine("metal", virtualisation="none")
        code, output = self.record("--continue", session)
        self.assertEqual(0, code, output)
        self.assertEqual(2, len(self.machine.jobs))
        text = (self.folder / "baselines" / "metal.json").read_text()
        self.assertIn(session, text)

    def test_what_fails_once_is_measured_again(self):
        """At once, and only that."""
        good = [golden.SYSBENCH] * 5
        outputs = [*good, "nothing", *good]
        self.machine = golden.Machine("metal", outputs, "none")
        code, output = self.record()
        self.assertEqual(0, code, output)
        self.assertTrue(self.registered())
        self.assertRegex(output, "retrying: 2 x .*: sysbench has 1 of 2 rep")
        self.assertEqual(6 + 2, len(self.machine.jobs))

    def test_what_fails_each_time_is_not_measured_again(self):
        """It would only fail once more."""
        outputs = [golden.SYSBENCH] * 2 + ["nothing"] * 4
        self.machine = golden.Machine("metal", outputs, "none")
        code, output = self.record()
        self.assertEqual(2, code, output)
        self.assertNotIn("retrying: ", output)
        self.assertEqual(6, len(self.machine.jobs))

    def test_what_fails_twice(self):
        """It is measured again once; then it is said to be missing."""
        outputs = [golden.SYSBENCH] * 5 + ["nothing"] * 40
        self.machine = golden.Machine("metal", outputs, "none")
        code, output = self.record()
        self.assertEqual(2, code, output)
        self.assertEqual(1, output.count("retrying: "))
        self.assertEqual(6 + 2, len(self.machine.jobs))

    def test_what_is_no_recording(self):
        """It would name another file."""
        with self.assertRaisesRegex(SystemExit, "2"):
            self.record("--continue", "../x")

    def test_ctrl_c(self):
        """The samples are kept, and the message says how to continue."""
        signals.heed_ctrl_c(self)
        outputs = [golden.SYSBENCH, golden.interrupt, golden.SYSBENCH]
        self.machine = golden.Machine("metal", outputs, "none")
        code, output = self.record()
        self.assertNotEqual(0, code)
        self.assertRegex(output, "interrupted; .* --continue [0-9a-f]{32}")

    def test_a_machine_that_does_not_answer(self):
        """Nothing was measured, so there is nothing to go on with."""
        self.machine._answers[("sh",)] = [base.Unreachable("metal: away")]
        code, output = self.record()
        self.assertEqual(1, code)
        self.assertNotIn("--continue", output)

    @ddt.data(("f" * 32, 2), ("", 3))
    @ddt.unpack
    def test_what_cannot_be_continued(self, session, repetitions):
        """Another recording, or other arguments."""
        outputs = [golden.SYSBENCH] * 5 + ["nothing"] * 3
        self.machine = golden.Machine("metal", outputs, "none")
        _, output = self.record()
        (known_session,) = re.findall("--continue ([0-9a-f]{32})", output)
        before = len(self.machine.calls)
        code, _ = self.record(
            "--continue", session or known_session, repetitions=repetitions
        )
        self.assertEqual(1, code)
        self.assertEqual(before, len(self.machine.calls))
