# SPDX-License-Identifier: Apache-2.0
import math
import unittest

import ddt

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import outputs
from tests.unit.workloads import golden


@ddt.ddt
class OutputsTestCase(unittest.TestCase):
    def test_failed_command_is_refused_with_its_words(self):
        failed = golden.outcome("fio", exit_status=1, stderr="no\n space\x1b")
        with self.assertRaises(base.WorkloadError) as caught:
            base.check_result(failed)
        self.assertEqual(
            "command fio ended with exit status 1 and printed "
            "'no space\N{REPLACEMENT CHARACTER}'; to see the cause, run it "
            "manually",
            str(caught.exception),
        )

    def test_too_much_output_is_refused(self):
        long = golden.outcome("fio", "x" * (output_bounds.MAX_CHARACTERS + 1))
        with self.assertRaisesRegex(base.WorkloadError, "the maximum is"):
            base.check_result(long)

    @ddt.data("", "x", "nan", "inf", "-inf", "1e999", "1" * 41, "1 2")
    def test_other_words_are_not_numbers(self, word):
        with self.assertRaisesRegex(base.WorkloadError, "^rate is "):
            outputs.Reader("rate").number(word)

    def test_number_is_read(self):
        self.assertEqual(12.5, outputs.Reader("rate").number("12.5"))

    def test_reader_names_its_subject(self):
        reader = outputs.Reader("ping: to_peer")
        self.assertEqual(
            "ping: to_peer lost all; look at the raw output",
            str(reader.error("lost all")),
        )
        self.assertEqual([1.0, 2.5], reader.numbers(("1", "2.5")))
        with self.assertRaisesRegex(
            base.WorkloadError, "^ping: to_peer: loss is 'x', not a finite"
        ):
            reader.number("x", "loss")

    def test_reader_compares_durations(self):
        reader = outputs.Reader("cp")
        outcome = golden.outcome("copy", seconds=2.0)
        reader.check_duration(2.01, outcome)
        with self.assertRaisesRegex(
            base.WorkloadError, "^cp took 2.02 s of a command that took 2 s;"
        ):
            reader.check_duration(2.02, outcome)


@ddt.ddt
class BoundsTestCase(unittest.TestCase):
    @ddt.data(
        ("B/s", 8e9), ("ops/s", 1e6), ("bit/s", 4e11), ("s", 1e-6), ("s", 60)
    )
    @ddt.unpack
    def test_likely_values_are_accepted(self, unit, value):
        metric = sample.Metric(name="x.y", unit=unit, better="higher")
        self.assertEqual(value, outputs.create_sample(metric, value).value)

    @ddt.data(
        ("B/s", 1.1e13),
        ("B/s", -1.0),
        ("B/s", 0.0),
        ("ops/s", 1.1e9),
        ("events/s", math.nan),
        ("bit/s", math.inf),
        ("s", 1e-10),
        ("s", 1e6),
    )
    @ddt.unpack
    def test_absurd_values_are_refused(self, unit, value):
        metric = sample.Metric(name="x.y", unit=unit, better="higher")
        with self.assertRaisesRegex(base.WorkloadError, "^x.y is .*look at"):
            outputs.create_sample(metric, value)

    @ddt.data("1", "s", "%")
    def test_count_may_be_zero(self, unit):
        metric = sample.Metric(
            name="x.y", unit=unit, better="lower", scale="count"
        )
        self.assertEqual(0, outputs.create_sample(metric, 0).value)

    @ddt.data(("%", 100.1), ("%", -0.1), ("s", -1e-6), ("s", 1e6))
    @ddt.unpack
    def test_absurd_counts_are_refused(self, unit, value):
        metric = sample.Metric(
            name="x.y", unit=unit, better="lower", scale="count"
        )
        with self.assertRaisesRegex(base.WorkloadError, "^x.y is .*look at"):
            outputs.create_sample(metric, value)

    def test_bounds_of_its_own(self):
        metric = sample.Metric(
            name="x.y", unit="requests/s", better="higher", bounds=(1.0, 9.0)
        )
        self.assertEqual(9, outputs.create_sample(metric, 9).value)
        with self.assertRaisesRegex(base.WorkloadError, "1 to 9"):
            outputs.create_sample(metric, 9.1)

    def test_a_unit_without_bounds(self):
        metric = sample.Metric(name="x.y", unit="requests/s", better="higher")
        with self.assertRaisesRegex(
            base.WorkloadError,
            r"^metric x.y: unit requests/s has no bounds \(.*; define",
        ):
            outputs.create_sample(metric, 5)
