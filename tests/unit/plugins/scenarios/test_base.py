"""Tests of what Rally is told of a repetition."""

import unittest

from rally_vmperf.measurement import repetition
from rally_vmperf.plugins.scenarios import base

GAP = repetition.Missing(
    name="disk.x", machine="g1", reason="it </script> broke"
)
OTHER_GAP = repetition.Missing(name="disk.y", machine="g1", reason="broken")


def repeated(state, of_condition=(), of_all=()):
    """Return a repetition in a state."""
    condition = repetition.Condition(
        axes={},
        number=2,
        planned_repetitions=5,
        counted=True,
        position=1,
        state=state,
        expected_metrics=(),
        missing=tuple(of_condition),
    )
    return repetition.Repetition(
        number=2,
        planned_repetitions=5,
        counted=True,
        state=state,
        expected_metrics=(),
        conditions=(condition,),
        hosts={},
        missing=tuple(of_all),
        findings=(),
    )


class TestTell(unittest.TestCase):
    """Nothing measured is never a pass, and never told twice."""

    def test_complete(self):
        """There is nothing to tell."""
        base.raise_if_incomplete(repeated("complete"), ())

    def test_interrupted(self):
        """Ctrl-C goes on, whoever judges."""
        with self.assertRaises(KeyboardInterrupt):
            base.raise_if_incomplete(
                repeated("interrupted"), {"vmperf_overhead": {}}
            )

    def test_incomplete_and_judged(self):
        """The criterion sees what is missing; the log says it."""
        for missing in ({"of_condition": [GAP]}, {"of_all": [GAP]}):
            with self.assertLogs("rally_vmperf", "WARNING") as logs:
                base.raise_if_incomplete(
                    repeated("incomplete", **missing), {"vmperf_overhead": {}}
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
                    repeated("incomplete", [GAP], [OTHER_GAP]), criteria
                )
            self.assertNotIn("<", str(raised.exception))
