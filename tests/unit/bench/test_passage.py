# SPDX-License-Identifier: Apache-2.0
"""Tests for through how many modules a value passes."""

import pathlib
import re
import unittest

from tests.bench import passage

PAGE = (
    pathlib.Path(__file__).parent.parent.parent.parent
    / "doc/source/contributor/architecture.rst"
)
#: Forms with a mean of several samples, and the text of the record.
FIGURES = {
    "measurement.comparison.loss.Comparison",
    "judging.results.result.Result",
    "records.model.Record",
}
#: A form beside the way: it is written to the file with the raw outputs.
RAW_OUTPUT = "measurement.command_result.CommandRun"


class PassageTest(unittest.TestCase):
    """A limit, and a sample, on their way to the verdict."""

    def test_few_modules(self):
        """What counts, the worst guest, and caps have their own modules."""
        for what, to_verdict, shown in passage.tables():
            most = 15 if what.startswith("limit") else 30
            with self.subTest(what):
                self.assertLessEqual(len(to_verdict), most, sorted(to_verdict))
                self.assertIn("rally_vmperf.judging.judge", to_verdict)
                self.assertIn("rally_vmperf.report.page", shown - to_verdict)

    def test_forms_of_a_sample(self):
        """The page lists all forms, at most eight on the way to the row."""
        _, _, section = PAGE.read_text().partition("The way of a sample\n")
        section, _, _ = section.partition("\n====")
        listed = re.findall(r"   \* - ``([\w./]+)``\n", section)
        self.assertLessEqual(len(listed), 8)
        self.assertIn(RAW_OUTPUT.rpartition(".")[2], section)
        self.assertEqual(
            {*listed, RAW_OUTPUT}, {*passage.forms_of_sample(), *FIGURES}
        )
