# SPDX-License-Identifier: Apache-2.0
"""Tests of JUnit XML, read with junitparser."""

import unittest

import junitparser

from rally_vmperf import sanitize
from rally_vmperf.report.formats import junit
from tests.unit.report import planted

#: Status -> the class of the result in junitparser.
RESULTS = {
    "passed": (),
    "failed": (junitparser.Failure,),
    "inconclusive": (junitparser.Skipped,),
    "void": (junitparser.Error,),
}


def read(rows):
    """Return the test suites of rows."""
    text = "".join(junit.render(lambda: iter(rows)))
    return [*junitparser.JUnitXml.fromstring(text.encode())]


class TestJunit(unittest.TestCase):
    """A test case per figure with a limit, and per SLA."""

    def test_statuses(self):
        """Four verdicts are four different elements."""
        (suite,) = read(planted.rows())
        results = {
            case.name: tuple(map(type, case.result))
            for case in suite
            if case.name != "verdict"
        }
        self.assertEqual(
            {
                f"{metric} overhead of all guests": RESULTS[status]
                for metric, status in planted.STATUSES.items()
            },
            results,
        )
        self.assertEqual(4, len(set(results.values())))

    def test_verdict(self):
        """The test case of an SLA fails, as does the command."""
        (suite,) = read(planted.rows())
        (case,) = (case for case in suite if case.name == "verdict")
        self.assertEqual("overhead.overhead", case.classname)
        (result,) = case.result
        self.assertIsInstance(result, junitparser.Failure)
        self.assertIn("failed: 1 of 4", result.message)

    def test_numbers(self):
        """The attributes count test cases, the properties samples."""
        rows = planted.rows()
        (suite,) = read(rows)
        self.assertEqual(5, suite.tests)
        self.assertEqual(
            (2, 1, 1), (suite.failures, suite.errors, suite.skipped)
        )
        counts = planted.count_samples(planted.list_samples(rows))
        for item in suite.properties():
            name = item.name.removeprefix("samples: ")
            self.assertEqual(counts[name], int(item.value), name)
        self.assertEqual("2026-03-04T05:06:50", suite.timestamp)

    def test_hostile_texts(self):
        """A text ends no element, and has no forbidden character."""
        (suite,) = read(planted.hostile_rows())
        verdict, figure = suite
        self.assertEqual(
            sanitize.printable(f"{planted.HOSTILE}title"), suite.name
        )
        self.assertIn("</testsuite>", figure.name)
        self.assertNotIn("\x00", figure.name)
        self.assertEqual("void", verdict.result[0].type)
        self.assertEqual("failed", figure.result[0].type)
