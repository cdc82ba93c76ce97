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
            failed.validate()
        self.assertEqual(
            "command fio ended with exit status 1 and printed "
            "'no space\N{REPLACEMENT CHARACTER}'; to see the cause, run it "
            "manually",
            str(caught.exception),
        )

    def test_too_much_output_is_refused(self):
        long = golden.outcome("fio", "x" * (base.LONGEST + 1))
        with self.assertRaisesRegex(base.WorkloadError, "the maximum is"):
            long.validate()

    @ddt.data("", "x", "nan", "inf", "-inf", "1e999", "1" * 41, "1 2")
    def test_other_words_are_no_numbers(self, word):
        with self.assertRaisesRegex(base.WorkloadError, "^rate is "):
            outputs.parse_number(word, "rate")

    def test_number_is_read(self):
        self.assertEqual(12.5, outputs.parse_number("12.5", "rate"))
