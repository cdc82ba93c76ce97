# SPDX-License-Identifier: Apache-2.0
"""Tests of what a task asks to be run."""

import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import protocols
from rally_vmperf.workloads import base


@ddt.ddt
class TestAssign(unittest.TestCase):
    """Arguments are completed, metrics are distinct."""

    def test_defaults_are_filled_in(self):
        """A complete assignment can be compared with a baseline."""
        (assigned,) = assignment.assign(
            [{"name": "sysbench", "arguments": {"time": 3}}]
        )
        self.assertEqual(3, assigned.arguments["time"])
        self.assertIn("threads", assigned.arguments)

    def test_number_of_vcpus(self):
        """The word is replaced; a number that is too large is rejected."""
        (assigned,) = assignment.assign(
            [{"name": "mbw", "arguments": {"processes": "vcpus"}}]
        )
        self.assertEqual("vcpus", assigned.arguments["processes"])
        self.assertEqual(4, assigned.for_vcpus(4).arguments["processes"])
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^workload mbw: processes: 300 is greater .*1 to 256",
        ):
            assigned.for_vcpus(300)

    def test_protocol(self):
        """The protocol of a workload has precedence over that of the task."""
        first, second = assignment.assign(
            [{"name": "mbw"}, {"name": "dd", "drop_caches": False}],
            protocols.Protocol(cooldown=2, drop_caches=True),
        )
        self.assertEqual(
            {"cooldown": 2, "drop_caches": True}, first.protocol()
        )
        self.assertEqual({"cooldown": 2}, second.protocol())
        self.assertIs(True, first.conditions()["drop_caches"])

    def test_labels_make_two_of_a_kind_possible(self):
        """Each entry has metrics of its own."""
        entries = [{"name": "mbw"}, {"name": "mbw", "label": "again"}]
        first, second = assignment.assign(entries)
        names = {m.name for m in (*first.metrics(), *second.metrics())}
        self.assertIn("memory.mbw.memcpy.bandwidth", names)
        self.assertIn("memory.mbw.again.memcpy.bandwidth", names)

    @ddt.data(
        ([{"name": "nope"}], "'nope' does not exist; .*: bzip2"),
        ([{"name": "mbw"}, {"name": "mbw"}], "both yield memory.*label"),
        ([{"name": "mbw", "arguments": {"sise": 1}}], "'sise'.*size_mib"),
        ([{"name": "mbw", "label": "Big One"}], "label='Big One'"),
        (
            [{"name": "mbw"}, {"name": "stress_ng"}],
            "stress_ng has no metrics: .*; measure another workload",
        ),
    )
    @ddt.unpack
    def test_wrong_entries(self, entries, text):
        """The message names the thing and what is allowed."""
        with self.assertRaisesRegex(base.WorkloadError, text):
            assignment.assign(entries)

    def test_needs(self):
        """Only network workloads need other ends."""
        local = assignment.assign([{"name": "mbw"}])
        both = assignment.assign(
            [
                {"name": "mbw"},
                {
                    "name": "iperf3",
                    "arguments": {"directions": ["to_peer", "guest_to_guest"]},
                },
            ]
        )
        self.assertEqual(frozenset(), assignment.required_endpoints(local))
        self.assertEqual(
            {"peer", "partner"}, assignment.required_endpoints(both)
        )
