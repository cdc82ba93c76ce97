import unittest

import ddt

from rally_vmperf.workloads import base
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
        long = golden.outcome("fio", "x" * (base.LONGEST + 1))
        with self.assertRaisesRegex(base.WorkloadError, "the maximum is"):
            base.check_result(long)

    @ddt.data("", "x", "nan", "inf", "-inf", "1e999", "1" * 41, "1 2")
    def test_other_words_are_no_numbers(self, word):
        with self.assertRaisesRegex(base.WorkloadError, "^rate is "):
            outputs.parse_number(word, "rate")

    def test_number_is_read(self):
        self.assertEqual(12.5, outputs.parse_number("12.5", "rate"))

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
