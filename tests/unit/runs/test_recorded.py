# SPDX-License-Identifier: Apache-2.0
"""Tests of recordings: samples are kept, missing ones are reported."""

import dataclasses
import tempfile
import unittest
from unittest import mock

from rally_vmperf import errors
from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.machines import base
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import files
from rally_vmperf.records import journal
from rally_vmperf.records import model
from rally_vmperf.runs import recorded
from rally_vmperf.runs import recording
from rally_vmperf.runs import reference
from rally_vmperf.workloads.cpu import sysbench
from tests import signals
from tests.unit import made
from tests.unit.runs import golden

SHAPE = document.Shape(1, 512, 2)


def plan(**changes):
    """Return a plan for two counted repetitions of two workloads."""
    made = recording.RecordingPlan(
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
        directory="/var/tmp",
        is_limited=False,
        options={"repetitions": 2},
        accepted=frozenset(finding.KINDS),
    )
    return dataclasses.replace(made, **changes)


#: As the output of fio that machines tell was asked for.
FIO = {
    "patterns": ["randread"],
    "runtime": 2,
    "ramp_time": 1,
    "size_mib": 64,
    "depth": 8,
}


class PartTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.lines = []

    def open_recording(self, **changes):
        """Return the recording as a new process finds it."""
        run_journal = journal.Journal(self.directory, "s" * 32 + "-1")
        return recording.ShapeRecording(plan(**changes), run_journal)

    def measure(self, shape_recording, machine):
        """Measure what is missing on a machine."""
        shape_recording.measure(
            lambda: machine, None, self.lines.append, self.lines.append
        )
        return shape_recording

    def test_a_whole_recording(self):
        machine = golden.Machine("metal", virtualisation="none")
        shape_recording = self.measure(self.open_recording(), machine)
        self.assertEqual([], shape_recording.describe_missing())
        self.assertTrue(machine.closed)
        content = recorded.build_baseline([shape_recording])
        self.assertEqual("s" * 32, content.session)
        self.assertEqual("compute1", content.machine.name)
        short, long = content.entries
        self.assertEqual(4, long.arguments["time"])
        for entry in (short, long):
            self.assertEqual(("s" * 32,) * 2, entry.reference.boots)
            values = {
                metric.name: values
                for metric, values in entry.collect_values().items()
            }
            self.assertEqual([[8958.2] * 2] * 2, values["cpu.sysbench.rate"])
            self.assertEqual("none", entry.limited_by)
            self.assertEqual(((), ()), (entry.cpus, entry.numa_nodes))
            self.assertEqual(
                ["bare_metal_unrestricted"],
                [finding.kind for finding in entry.findings],
            )

    def test_flows(self):
        """A workload has flows to the ends that it needs, each once."""
        both = tuple(
            repetition.Flow(
                target=target,
                hosts="other",
                path="link",
                floating_ip=False,
                machines=2,
            )
            for target in ("peer", "partner")
        )
        shape_recording = self.measure(
            self.open_recording(), golden.Machine("metal")
        )
        shape_recording.records = made.with_condition(
            shape_recording.records, flows=tuple(both)
        )
        for needs, expected in (((), ()), (("peer",), both[:1])):
            with mock.patch.object(
                sysbench.Sysbench,
                "needs",
                autospec=True,
                return_value=frozenset(needs),
            ):
                content = recorded.build_baseline([shape_recording])
            for entry in content.entries:
                self.assertEqual(expected, entry.flows)

    def test_it_is_journalled_like_a_run_of_guests(self):
        machine = golden.Machine("metal")
        self.measure(self.open_recording(), machine)
        run_journal = journal.Journal(self.directory, "s" * 32 + "-1")
        records = run_journal.read()
        self.assertEqual(
            [False, True, True],
            [record.repetition.counted for record in records],
        )
        for record in records:
            self.assertEqual("recording", record.repetition.question)
            self.assertEqual(
                {("copy", "compute1", "s" * 32)},
                {
                    (machine.role, machine.host, machine.boot_id)
                    for machine in record.machines
                },
            )
            raw = files.read(run_journal.folder, record.raw_file)
            self.assertEqual(4, len(raw["outputs"]))
            for output in raw["outputs"]:
                self.assertIn("events per second:  8958.23", output["stdout"])
            self.assertEqual(
                {"copy-1", "copy-2"},
                {command_run["machine"] for command_run in raw["runs"]},
            )

    def broken(self):
        """Return a machine whose last job breaks: of copy 2, rate long."""
        good = [golden.SYSBENCH] * 11
        return golden.Machine("metal", [*good, "no figure", golden.SYSBENCH])

    def test_missing_values_are_reported(self):
        shape_recording = self.measure(self.open_recording(), self.broken())
        (line,) = shape_recording.describe_missing()
        self.assertRegex(
            line,
            "^2 x 1 vCPU with 512 MiB: sysbench-long has 1 of 2 repetitions: "
            "copy-[12]: ",
        )
        (read,) = self.open_recording().describe_missing()
        self.assertEqual(line, read)

    def test_only_that_is_measured_then(self):
        self.measure(self.open_recording(), self.broken())
        machine = golden.Machine("metal")
        shape_recording = self.measure(self.open_recording(), machine)
        # A warm-up and one repetition of one workload in two copies.
        self.assertEqual(4, len(machine.jobs))
        self.assertEqual({"--time=4"}, {argv[3] for argv in machine.jobs})
        self.assertEqual([], shape_recording.describe_missing())
        self.assertEqual(
            [1, 2, 3, 4, 5],
            [record.repetition.number for record in shape_recording.records],
        )
        content = recorded.build_baseline([shape_recording])
        self.assertEqual(
            [2, 2],
            [len(entry.reference.repetitions) for entry in content.entries],
        )
        again = golden.Machine("metal")
        self.measure(self.open_recording(), again)
        self.assertEqual([], again.calls)

    def test_cpu_seconds_of_all_copies_and_repetitions(self):
        shape_recording = self.measure(
            self.open_recording(), golden.Machine("metal")
        )
        content = recorded.build_baseline([shape_recording])
        for entry, seconds in zip(content.entries, (8, 16), strict=True):
            (used,) = entry.reference.command_usage
            self.assertEqual(("sysbench", 4), (used.command, used.runs))
            for expected, measured in (
                (seconds, used.seconds),
                (4, used.user),
                (0.4, used.system),
            ):
                self.assertAlmostEqual(expected, measured)
        bare_metal, _ = reference.build_reference(
            content, shape_recording.plan.assignments, [SHAPE]
        )
        (copies,) = bare_metal.references.values()
        self.assertEqual(
            ["sysbench", "sysbench-long"],
            [usage.workload for usage in copies.command_usage],
        )

    def test_distributions_and_series_of_all_copies(self):
        """Percentiles by repetition; the record has them of all copies."""
        printed = (golden.DATA / "fio-3.33-randread.json").read_text()
        labelled = assignment.assign(
            [{"name": "fio", "label": "db", "arguments": FIO}]
        )
        shape_recording = self.measure(
            self.open_recording(assignments=labelled),
            golden.Machine("metal", [printed]),
        )
        content = recorded.build_baseline([shape_recording])
        (entry,) = content.entries
        (latency,) = entry.reference.distributions
        self.assertEqual("disk.fio.randread.latency", latency.metric.name)
        self.assertEqual(
            ["disk.fio.randread.iops"],
            [series.metric.name for series in entry.reference.time_series],
        )
        first, second = entry.reference.percentiles
        self.assertEqual(first, second)
        self.assertEqual(6, len(first))
        # In two copies and two repetitions.
        self.assertEqual(4 * 69512, latency.histogram.count)
        bare_metal, metrics = reference.build_reference(
            content, labelled, [SHAPE]
        )
        labelled_metric = "disk.fio.db.randread.latency"
        written = made.with_condition(
            made.record(bare_metal=None), reference_copies=SHAPE.copies
        )
        record = model.shorten(
            made.with_fields(
                written,
                metrics=(*metrics, *written.metrics),
                bare_metal=bare_metal,
            )
        )
        bare = record.repetition.condition.reference
        renamed = {
            metric.name: value for metric, value in bare.percentiles[0].items()
        }
        self.assertEqual([*first.values()], [*renamed.values()])
        self.assertIn(f"{labelled_metric}_p50", renamed)
        for observations in bare.repetitions:
            samples = {
                observation.sample.metric.name for observation in observations
            }
            self.assertIn("disk.fio.db.randread.latency_mean", samples)
            self.assertNotIn(f"{labelled_metric}_p50", samples)
        self.assertEqual(4 * 69512, bare.distributions[0].histogram.count)
        p99 = sample.percentiles(bare.distributions[0].metric)[3]
        self.assertEqual(
            [(renamed[p99.name],)] * 2,
            [
                samples.values
                for samples in gathering.bare_metal_samples(p99, bare)
            ],
        )

    def test_each_copys_own_is_in_the_file(self):
        """As precise as they were measured."""
        printed = (golden.DATA / "fio-3.33-randread.json").read_text()
        shape_recording = self.open_recording(
            assignments=assignment.assign([{"name": "fio", "arguments": FIO}])
        )
        self.measure(shape_recording, golden.Machine("metal", [printed]))
        run_journal = journal.Journal(self.directory, "s" * 32 + "-1")
        raw = files.read(run_journal.folder, run_journal.read()[-1].raw_file)
        self.assertEqual(
            {
                (copy, f"disk.fio.randread.{what}", form)
                for copy in ("copy-1", "copy-2")
                for what, form in (
                    ("latency", "histogram"),
                    ("iops", "points"),
                )
            },
            {
                (reading["machine"], reading["metric"], form)
                for reading in raw["readings"]
                for form in ("histogram", "points")
                if form in reading
            },
        )
        copy_histogram = next(
            x["histogram"] for x in raw["readings"] if "histogram" in x
        )
        self.assertEqual(
            69512, histogram.Histogram.from_plain(copy_histogram).count
        )

    def test_ctrl_c_loses_nothing_that_was_measured(self):
        signals.heed_ctrl_c(self)
        good = [golden.SYSBENCH] * 8
        machine = golden.Machine(
            "metal", [*good, golden.interrupt, golden.SYSBENCH]
        )
        with self.assertRaises(KeyboardInterrupt):
            self.measure(self.open_recording(), machine)
        self.assertTrue(machine.closed)
        shape_recording = self.open_recording()
        self.assertEqual(
            "interrupted", shape_recording.records[-1].repetition.state
        )
        self.assertRegex(
            shape_recording.describe_missing()[-1],
            "sysbench-long has 1 of 2 .*: interrupted by the user",
        )
        self.measure(shape_recording, golden.Machine("metal"))
        self.assertEqual([], shape_recording.describe_missing())

    def test_a_machine_that_cannot_be_made_ready(self):
        machine = golden.Machine("metal")
        machine._answers[("sh",)] = [base.Unreachable("metal: away")]
        shape_recording = self.open_recording()
        with self.assertRaisesRegex(base.Unreachable, "away"):
            self.measure(shape_recording, machine)
        self.assertTrue(machine.closed)
        self.assertEqual([], shape_recording.records)
        self.assertIn(
            "it was not measured", shape_recording.describe_missing()[0]
        )

    def test_other_arguments_are_refused(self):
        self.measure(self.open_recording(), self.broken())
        with self.assertRaisesRegex(
            document.BaselineError, "started with repetitions 2, not 3"
        ):
            self.open_recording(options={"repetitions": 3})

    def test_another_machine_is_refused(self):
        self.measure(self.open_recording(), self.broken())
        other = golden.Machine("another")
        with self.assertRaisesRegex(errors.VMPerfError, "machine-id"):
            self.measure(self.open_recording(), other)
        self.assertEqual([], other.jobs)
        self.assertTrue(other.closed)


def record(session, *values, **changes):
    """Return a baseline of one workload and a session."""
    entry = made.entry({made.EVENTS: values})
    reference = dataclasses.replace(
        entry.reference, boots=(session,) * len(values)
    )
    entry = dataclasses.replace(entry, reference=reference)
    return made.baseline(session=session, entries=(entry,), **changes)


class SessionsTest(unittest.TestCase):
    def test_three_sessions(self):
        """Each session has a value, which survives the file."""
        baseline = record("a", 100.0, 400.0)
        for session in (record("b", 50.0, 50.0), record("c", 70.0, 70.0)):
            baseline = recorded.append_session(baseline, session)
        baseline = document.decode(made.document(baseline), "x")
        self.assertEqual("metal", baseline.name)
        (entry,) = baseline.entries
        self.assertEqual(tuple("aabbcc"), entry.reference.boots)
        means = gathering.geometric_means(
            gathering.bare_metal_samples(made.EVENTS, entry.reference)
        )
        for expected, mean in zip((200, 50, 70), means, strict=True):
            self.assertAlmostEqual(expected, mean)

    def test_a_first_session_without_boots(self):
        """A baseline of an earlier version is one session."""
        first = record("a", 1.0, 2.0)
        (entry,) = first.entries
        plain = dataclasses.replace(entry.reference, boots=())
        first = dataclasses.replace(
            first, entries=(dataclasses.replace(entry, reference=plain),)
        )
        baseline = recorded.append_session(first, record("b", 3.0))
        self.assertEqual(("a", "a", "b"), baseline.entries[0].reference.boots)

    def test_rejected(self):
        """Another machine, and a session that lacks a workload."""
        other = document.BaselineMachine(
            name="host-1", fingerprint={"kernel": "6.12"}
        )
        with self.assertRaisesRegex(
            document.BaselineError, r"--append: host-1 .*kernel_differs"
        ):
            recorded.append_session(
                record("a", 1.0), record("b", 1.0, machine=other)
            )
        with self.assertRaisesRegex(
            document.BaselineError, "would have no sysbench for 1 x 1 vCPU"
        ):
            recorded.find_entries(record("a", 1.0), [])
