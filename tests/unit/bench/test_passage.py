"""Tests for through how many modules a value passes."""

import unittest

from tests.bench import passage


class PassageTest(unittest.TestCase):
    """A limit, and a sample, on their way to the verdict."""

    def test_few_modules(self):
        """Half of the 30 and of the 60 that it took at first."""
        for what, to_verdict, shown in passage.tables():
            most = 15 if what.startswith("limit") else 30
            with self.subTest(what):
                self.assertLessEqual(len(to_verdict), most, sorted(to_verdict))
                self.assertIn("rally_vmperf.judging.judge", to_verdict)
                self.assertIn("rally_vmperf.report.page", shown - to_verdict)
