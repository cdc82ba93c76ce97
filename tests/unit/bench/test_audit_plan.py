# SPDX-License-Identifier: Apache-2.0
"""Tests of the hours, requests and memory of an audit."""

import pathlib
import tempfile
import unittest
from unittest import mock

from tests.bench import audit_plan


@mock.patch("time.sleep", new=mock.Mock())
class TestPlan(unittest.TestCase):
    """Each host costs the same."""

    def count(self, number):
        """Return the requests for a number of hosts."""
        with tempfile.TemporaryDirectory() as folder:
            return audit_plan.run_hosts(number, pathlib.Path(folder))

    def test_requests(self):
        """Grow linearly, after the list of hosts."""
        first, second, third = (self.count(number) for number in (1, 2, 3))
        self.assertEqual(second - first, third - second)
        self.assertGreater(second - first, 20)

    def test_hours(self):
        """They are those of all hosts; more guests take longer."""
        hours, two = (audit_plan.estimate_hours(number) for number in (1, 2))
        self.assertAlmostEqual(2 * hours, two)
        density = audit_plan.estimate_hours(1, density=True)
        self.assertGreater(density, hours)
