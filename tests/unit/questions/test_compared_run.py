# SPDX-License-Identifier: Apache-2.0
"""Tests of the samples of compared runs."""

import dataclasses
import json
import unittest

import ddt

from rally_vmperf import errors
from rally_vmperf.baseline import document
from rally_vmperf.measurement import repetition
from rally_vmperf.questions import compared_run
from rally_vmperf.records import model
from tests.unit import made
from tests.unit.questions import golden_runs

RATE = "disk.fio.randread.iops"


def create(records):
    """Return the run that consists of records."""
    return compared_run.create_run("A", made.source_of(records))


def repetitions(run, name, condition=""):
    """Return the number of counted repetitions of a metric."""
    return {
        metric.name: len(values)
        for (title, metric), values in run.samples.items()
        if title == condition
    }.get(name)


@ddt.ddt
class TestSamples(unittest.TestCase):
    """Counted repetitions that are not void."""

    def test_warmups(self):
        """They do not count."""
        run = create(made.records(count=5, warmup=2))
        self.assertEqual(5, repetitions(run, RATE))
        self.assertEqual({}, run.absences)

    def test_a_void_repetition(self):
        """It does not count, nor does one of the warm-ups void another."""
        records = made.records(count=5)
        for place in (0, 3):
            records[place] = made.with_finding(
                records[place], "guest_rebooted"
            )
        run = create(records)
        self.assertEqual(4, repetitions(run, RATE))

    def test_too_many_void_repetitions(self):
        """Void the metrics that they concern, with the reason."""
        records = made.records(count=5)
        for place in (2, 3):
            records[place] = made.with_finding(
                records[place], "swap_or_oom", metrics=(RATE,)
            )
        run = create(records)
        self.assertIsNone(repetitions(run, RATE))
        ((key, reason),) = run.absences.items()
        self.assertEqual(RATE, key[1].name)
        self.assertIn("void: ", reason)

    @ddt.data("bare_metal_is_guest", "machine_unknown", "host_cpu_differs")
    def test_bare_metal(self, kind):
        """It is not compared, so its findings void nothing."""
        records = made.with_finding(made.records(count=5), kind)
        self.assertEqual(5, repetitions(create(records), RATE))

    def test_a_missing_sample(self):
        """Leaves the repetition out for that metric."""
        records = made.records(count=5, guests=2)
        records[2] = made.incomplete(records[2], RATE)
        run = create(records)
        self.assertEqual(4, repetitions(run, RATE))
        self.assertEqual(5, repetitions(run, "cpu.events.rate"))

    def test_argument_that_was_added_later(self):
        """A run that lacks it has its default."""
        arguments = {"threads": 1, "time": 10, "max_prime": 10000}
        settings = [
            create(
                [
                    dataclasses.replace(
                        record,
                        workloads=(
                            model.RecordedWorkload(
                                name="sysbench", arguments=recorded
                            ),
                        ),
                    )
                    for record in made.records(count=3)
                ]
            ).setting["arguments"]
            for recorded in (arguments, {**arguments, "rate": 0})
        ]
        self.assertEqual(0, settings[0]["sysbench rate"])
        self.assertEqual(*settings)

    def test_conditions(self):
        """Their axes distinguish them, and skipped levels are omitted."""
        records = made.density_records((1, 2), planned_repetitions=4)
        records[-1] = made.with_condition(
            records[-1], 1, skip_reason="slow", **made.SKIPPED
        )
        run = create(records)
        titles = dict.fromkeys(title for title, _ in run.samples)
        self.assertEqual(["guests 1", "guests 2"], list(titles))
        name = next(metric.name for _, metric in run.samples)
        self.assertEqual(4, repetitions(run, name, "guests 1"))
        self.assertEqual(3, repetitions(run, name, "guests 2"))

    def test_a_level_that_is_always_skipped(self):
        """It has the reason, and no metrics that decide."""
        records = [
            made.with_condition(record, 1, skip_reason="slow", **made.SKIPPED)
            for record in made.density_records((1, 2))
        ]
        run = create(records)
        self.assertEqual({"guests 2": "not run: slow"}, run.skipped)
        titles = {title for title, _ in (*run.samples, *run.absences)}
        self.assertEqual({"guests 1"}, titles)

    def test_a_level_without_enough_guests(self):
        """Its metrics have the first reason."""
        records = [
            made.with_condition(
                record,
                1,
                state="incomplete",
                observations=(),
                missing=tuple(
                    repetition.Missing(
                        name=metric.name, machine="g2", reason="did not boot"
                    )
                    for metric in record.repetition.expected_metrics
                ),
            )
            for record in made.density_records((1, 2))
        ]
        reasons = {
            reason
            for (title, _), reason in create(records).absences.items()
            if title == "guests 2"
        }
        self.assertEqual(
            {
                "no counted repetition has it for every guest (g2: did not "
                "boot)"
            },
            reasons,
        )

    def test_records_that_contradict_each_other(self):
        """They are rejected; equal ones count once."""
        records = made.records(count=5)
        run = create([*records, records[2]])
        self.assertEqual(5, repetitions(run, RATE))
        records.append(made.run_record(3, emulated=True))
        with self.assertRaisesRegex(errors.VMPerfError, "^A: "):
            create(records)

    def test_no_record(self):
        """It is rejected."""
        with self.assertRaisesRegex(
            errors.VMPerfError, "A: has no readable record"
        ):
            create([None])

    @ddt.data(*golden_runs.journals())
    def test_golden_runs(self, name):
        """Each metric of a run has samples, or a reason for their absence."""
        run = compared_run.create_run(name, golden_runs.source(name))
        self.assertTrue(run.samples.keys() | run.absences.keys())
        self.assertEqual(set(), run.samples.keys() & run.absences.keys())
        self.assertEqual("", run.machines_error)
        self.assertNotIn("", run.absences.values())


class TestBaselines(unittest.TestCase):
    """Baselines as sides of a comparison."""

    def setUp(self):
        super().setUp()
        path = golden_runs.FOLDER / "overhead-passed" / "baseline.json"
        content = json.loads(path.read_text())
        self.content = document.decode(content, str(path))
        self.run = golden_runs.source("overhead-passed")

    def test_like_a_run(self):
        """It has the metrics and the condition of the run."""
        baseline = compared_run.create_baseline_like(
            "bare", self.content, self.run.records
        )
        run = compared_run.create_run("A", self.run)
        self.assertLessEqual(run.samples.keys(), baseline.samples.keys())

    def test_not_like_a_run(self):
        """Other arguments are rejected."""
        entries = tuple(
            dataclasses.replace(
                entry, arguments={**entry.arguments, "seconds_of_another": 7}
            )
            for entry in self.content.entries
        )
        other = dataclasses.replace(self.content, entries=entries)
        with self.assertRaisesRegex(document.BaselineError, "other arguments"):
            compared_run.create_baseline_like("bare", other, self.run.records)
        with self.assertRaises(errors.VMPerfError):
            compared_run.create_baseline_like("bare", self.content, [])

    def test_of_each_other(self):
        """Entries are matched by workload, arguments and shape."""
        entry, *others = self.content.entries
        shape = dataclasses.replace(entry.shape, copies=7)
        entry = dataclasses.replace(entry, shape=shape)
        other = dataclasses.replace(self.content, entries=(entry, *others))
        first, second = compared_run.create_baselines(
            {"A": self.content, "B": other}
        )
        missing = first.samples.keys() - second.samples.keys()
        self.assertTrue(missing)
        self.assertEqual(missing, second.absences.keys())

    def test_entries_alike(self):
        """Two entries with the same metrics are not mixed."""
        entries = self.content.entries * 2
        content = dataclasses.replace(self.content, entries=entries)
        (run,) = compared_run.create_baselines({"A": content})
        titles = {title for title, _ in run.samples}
        self.assertTrue(any("entry" in title for title in titles))
