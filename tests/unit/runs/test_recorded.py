"""Tests of recordings: what was measured is kept, what is missing is said."""

import dataclasses
import tempfile
import unittest

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.machines import base
from rally_vmperf.records import files
from rally_vmperf.records import journal
from rally_vmperf.runs import recorded
from rally_vmperf.runs import recording
from rally_vmperf.runs import reference
from tests.unit.runs import golden

SHAPE = matching.Shape(1, 512, 2)


def plan(**changes):
    """Return a plan for two counted repetitions of two workloads."""
    made = recording.Plan(
        baseline="metal",
        session="s" * 32,
        assignments=assignment.assign(
            [
                {"name": "sysbench", "arguments": {"time": 2}},
                {
                    "name": "sysbench",
                    "label": "long",
                    "arguments": {"time": 4},
                },
            ]
        ),
        shape=SHAPE,
        repetitions=2,
        warmup=1,
        folder="/var/tmp",
        held=False,
        options={"repetitions": 2},
    )
    return dataclasses.replace(made, **changes)


class PartTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.lines = []

    def part(self, **changes):
        """Return the part as a new process finds it."""
        kept = journal.Journal(self.folder, "s" * 32 + "-1")
        return recording.Part(plan(**changes), kept)

    def measure(self, part, machine):
        """Measure what is missing on a machine."""
        part.measure(
            lambda: machine, None, self.lines.append, self.lines.append
        )
        return part

    def test_a_whole_recording(self):
        machine = golden.Machine("metal", virtualisation="none")
        part = self.measure(self.part(), machine)
        self.assertEqual([], part.missing())
        self.assertTrue(machine.closed)
        content = document.check(recorded.baseline([part]), "it")
        self.assertEqual("s" * 32, content["session"])
        self.assertEqual("compute1", content["machine"]["name"])
        short, long = content["entries"]
        self.assertEqual(4, long["arguments"]["time"])
        for entry in (short, long):
            self.assertEqual(
                [{"cpu.sysbench.rate": [8958.2, 8958.2]}] * 2,
                [
                    {"cpu.sysbench.rate": one["cpu.sysbench.rate"]}
                    for one in entry["repetitions"]
                ],
            )
            self.assertEqual("whole", entry["held"])
            self.assertEqual(
                ["shape_whole"], [f["kind"] for f in entry["findings"]]
            )

    def test_it_is_journalled_like_a_run_of_guests(self):
        machine = golden.Machine("metal")
        self.measure(self.part(), machine)
        kept = journal.Journal(self.folder, "s" * 32 + "-1")
        records = kept.read()
        self.assertEqual([False, True, True], [r["counted"] for r in records])
        for record in records:
            self.assertEqual("recording", record["question"])
            self.assertEqual(
                {("copy", "compute1", "s" * 32)},
                {
                    (one["role"], one["host"], one["boot"])
                    for one in record["machines"]
                },
            )
            raw = files.read(kept.folder, record["files"]["raw"])
            self.assertEqual(
                [golden.SYSBENCH] * 4,
                [one["stdout"] for one in raw["outputs"]],
            )
            self.assertEqual(
                {"copy-1", "copy-2"}, {one["machine"] for one in raw["runs"]}
            )

    def broken(self):
        """Return a machine whose last job breaks: of copy 2, rate long."""
        good = [golden.SYSBENCH] * 11
        return golden.Machine("metal", [*good, "no figure", golden.SYSBENCH])

    def test_what_is_missing_is_said(self):
        part = self.measure(self.part(), self.broken())
        (line,) = part.missing()
        self.assertRegex(
            line,
            "^2 x 1 vCPU with 512 MiB: sysbench-long has 1 of 2 repetitions: "
            "copy-[12]: ",
        )
        (read,) = self.part().missing()
        self.assertEqual(line, read)

    def test_only_that_is_measured_then(self):
        self.measure(self.part(), self.broken())
        machine = golden.Machine("metal")
        part = self.measure(self.part(), machine)
        # A warm-up and one repetition of one workload in two copies.
        self.assertEqual(4, len(machine.jobs))
        self.assertEqual({"--time=4"}, {argv[3] for argv in machine.jobs})
        self.assertEqual([], part.missing())
        self.assertEqual(
            [1, 2, 3, 4, 5], [one["repetition"] for one in part.records]
        )
        content = document.check(recorded.baseline([part]), "it")
        self.assertEqual(
            [2, 2], [len(one["repetitions"]) for one in content["entries"]]
        )
        again = golden.Machine("metal")
        self.measure(self.part(), again)
        self.assertEqual([], again.calls)

    def test_cpu_seconds_of_all_copies_and_repetitions(self):
        part = self.measure(self.part(), golden.Machine("metal"))
        content = document.check(recorded.baseline([part]), "it")
        for entry in content["entries"]:
            self.assertEqual(
                [["sysbench", 4, 8, 4, 0.4, None, ""]],
                entry["commands"],
            )
        document_, _ = reference.reference(
            content, part.plan.assignments, [SHAPE]
        )
        (copies,) = document_["copies"]
        self.assertEqual(
            ["sysbench", "sysbench-long"],
            list(copies["commands"]),
        )

    def test_ctrl_c_loses_nothing_that_was_measured(self):
        good = [golden.SYSBENCH] * 8
        machine = golden.Machine(
            "metal", [*good, golden.interrupt, golden.SYSBENCH]
        )
        with self.assertRaises(KeyboardInterrupt):
            self.measure(self.part(), machine)
        self.assertTrue(machine.closed)
        part = self.part()
        self.assertEqual("interrupted", part.records[-1]["state"])
        self.assertRegex(
            part.missing()[-1],
            "sysbench-long has 1 of 2 .*: interrupted by its user",
        )
        self.measure(part, golden.Machine("metal"))
        self.assertEqual([], part.missing())

    def test_a_machine_that_cannot_be_made_ready(self):
        machine = golden.Machine("metal")
        machine._answers[("sh",)] = [base.Unreachable("metal: away")]
        part = self.part()
        with self.assertRaisesRegex(base.Unreachable, "away"):
            self.measure(part, machine)
        self.assertTrue(machine.closed)
        self.assertEqual([], part.records)
        self.assertIn("it was not measured", part.missing()[0])

    def test_other_arguments_are_refused(self):
        self.measure(self.part(), self.broken())
        with self.assertRaisesRegex(
            document.BaselineError, "begun with repetitions 2, not 3"
        ):
            self.part(options={"repetitions": 3})

    def test_another_machine_is_refused(self):
        self.measure(self.part(), self.broken())
        other = golden.Machine("another")
        with self.assertRaisesRegex(recording.OtherMachine, "machine-id"):
            self.measure(self.part(), other)
        self.assertEqual([], other.jobs)
        self.assertTrue(other.closed)
