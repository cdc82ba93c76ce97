"""Tests of what Rally is told of a repetition."""

import unittest

from rally_vmperf.plugins.scenarios import base

GAP = {"name": "disk.x", "machine": "g1", "reason": "it </script> broke"}


def record(state, of_condition=(), of_all=()):
    """Return what is read of a record."""
    return {
        "state": state,
        "repetition": 2,
        "conditions": [{"missing": list(of_condition)}],
        "missing": list(of_all),
    }


class TestTell(unittest.TestCase):
    """Nothing measured is never a pass, and never told twice."""

    def test_complete(self):
        """There is nothing to tell."""
        base.raise_if_incomplete(record("complete"), ())

    def test_interrupted(self):
        """Ctrl-C goes on, whoever judges."""
        with self.assertRaises(KeyboardInterrupt):
            base.raise_if_incomplete(
                record("interrupted"), {"vmperf_overhead": {}}
            )

    def test_incomplete_and_judged(self):
        """The criterion sees what is missing; the log says it."""
        for missing in ({"of_condition": [GAP]}, {"of_all": [GAP]}):
            with self.assertLogs("rally_vmperf", "WARNING") as logs:
                base.raise_if_incomplete(
                    record("incomplete", **missing), {"vmperf_overhead": {}}
                )
            self.assertIn("first is disk.x of g1", logs.output[0])
            self.assertNotIn("<", logs.output[0])

    def test_incomplete_and_not_judged(self):
        """No other criterion would notice."""
        for criteria in ((), {"failure_rate": {"max": 0}}):
            with self.assertRaisesRegex(
                base.IncompleteRepetition,
                "2 measurements are missing; the first is disk.x",
            ) as raised:
                base.raise_if_incomplete(
                    record("incomplete", [GAP], [GAP]), criteria
                )
            self.assertNotIn("<", str(raised.exception))
