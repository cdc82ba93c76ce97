# SPDX-License-Identifier: Apache-2.0
"""Tests of baselines with several sessions."""

import dataclasses
import unittest

from rally_vmperf.baseline import document
from rally_vmperf.baseline import sessions
from rally_vmperf.measurement import gathering
from tests.unit import made


def record(session, *values, **changes):
    """Return a baseline of one workload and a session."""
    entry = made.entry({made.EVENTS: values})
    reference = dataclasses.replace(
        entry.reference, boots=(session,) * len(values)
    )
    entry = dataclasses.replace(entry, reference=reference)
    return made.baseline(session=session, entries=(entry,), **changes)


class SessionsTest(unittest.TestCase):
    def test_three_sessions(self):
        """Each session has a value, which survives the file."""
        baseline = record("a", 100.0, 400.0)
        for session in (record("b", 50.0, 50.0), record("c", 70.0, 70.0)):
            baseline = sessions.append_session(baseline, session)
        baseline = document.decode(made.document(baseline), "x")
        self.assertEqual("metal", baseline.name)
        (entry,) = baseline.entries
        self.assertEqual(tuple("aabbcc"), entry.reference.boots)
        means = gathering.geometric_means(
            gathering.bare_metal_samples(made.EVENTS, entry.reference)
        )
        for expected, mean in zip((200, 50, 70), means, strict=True):
            self.assertAlmostEqual(expected, mean)

    def test_a_first_session_without_boots(self):
        """A baseline of an earlier version is one session."""
        first = record("a", 1.0, 2.0)
        (entry,) = first.entries
        plain = dataclasses.replace(entry.reference, boots=())
        first = dataclasses.replace(
            first, entries=(dataclasses.replace(entry, reference=plain),)
        )
        baseline = sessions.append_session(first, record("b", 3.0))
        self.assertEqual(("a", "a", "b"), baseline.entries[0].reference.boots)

    def test_rejected(self):
        """Another machine, and a session that lacks a workload."""
        other = document.BaselineMachine(
            name="host-1", fingerprint={"kernel": "6.12"}
        )
        with self.assertRaisesRegex(
            document.BaselineError, r"--append: host-1 .*kernel_differs"
        ):
            sessions.append_session(
                record("a", 1.0), record("b", 1.0, machine=other)
            )
        with self.assertRaisesRegex(
            document.BaselineError, "would have no sysbench for 1 x 1 vCPU"
        ):
            sessions.find_entries(record("a", 1.0), [])
