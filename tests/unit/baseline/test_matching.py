# SPDX-License-Identifier: Apache-2.0
"""Tests of which entry guests are compared with."""

import unittest

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.workloads.disk import fio
from tests.unit import made

(ENTRY,) = made.baseline().entries
ARGUMENTS = {"threads": 1, "time": 10, "max_prime": 10000}


@ddt.ddt
class TestFind(unittest.TestCase):
    """Only the same work in the same shape is comparable."""

    def test_exact_match(self):
        """The entry of this workload, arguments and shape is found."""
        match = matching.find(
            made.baseline(), "sysbench", ARGUMENTS, document.Shape(1, 1024)
        )
        self.assertEqual(ENTRY, match)

    def test_newest_of_several_wins(self):
        """The entry that was recorded last counts."""
        newer = made.entry(limited_by="systemd")
        baseline = made.baseline(entries=(made.entry(), newer))
        match = matching.find(
            baseline, "sysbench", ARGUMENTS, document.Shape(1, 1024)
        )
        self.assertEqual("systemd", match.limited_by)

    def test_protocol(self):
        """Caches that were dropped on one side only are a difference."""
        shape = document.Shape(1, 1024)
        cold = {**ARGUMENTS, "drop_caches": True}
        with self.assertRaisesRegex(
            document.BaselineError,
            "drop_caches is None in the baseline and True in the task",
        ):
            matching.find(made.baseline(), "sysbench", cold, shape)
        entry = made.entry(drop_caches=True)
        baseline = made.baseline(entries=(made.entry(), entry))
        self.assertEqual(
            [*reversed(baseline.entries)],
            [
                matching.find(baseline, "sysbench", arguments, shape)
                for arguments in (cold, ARGUMENTS)
            ],
        )

    def test_argument_that_was_added_later(self):
        """An entry that lacks it has its default, and so has a run."""
        shape = document.Shape(1, 1024)
        later = {**ARGUMENTS, "rate": 0}
        driven = {**ARGUMENTS, "rate": 285}
        for recorded, requested in ((ARGUMENTS, later), (later, ARGUMENTS)):
            baseline = made.baseline(entries=(made.entry(arguments=recorded),))
            self.assertTrue(
                matching.find(baseline, "sysbench", requested, shape)
            )
            with self.assertRaisesRegex(
                document.BaselineError,
                "rate is 0 in the baseline and 285 in the task",
            ):
                matching.find(baseline, "sysbench", driven, shape)

    def test_argument_of_a_newer_version(self):
        """An older entry has its default, which is what was measured."""
        recorded = fio.Fio().complete({"patterns": ["read"]})
        older = {
            key: argument
            for key, argument in recorded.items()
            if key not in ("target", "volume_count")
        }
        baseline = made.baseline(
            entries=(made.entry(workload="fio", arguments=older),)
        )
        self.assertEqual(
            [*baseline.entries], matching.covers(baseline, "fio", recorded)
        )
        with self.assertRaisesRegex(
            document.BaselineError,
            "fio with other arguments: target is 'root' in the baseline and "
            "'volume' in the task; use the same",
        ):
            matching.covers(baseline, "fio", {**recorded, "target": "volume"})

    def test_imported_output_of_a_file(self):
        """It is not one of a volume."""
        entry = made.entry(
            workload="fio", arguments={"place": "file"}, shape=None
        )
        baseline = made.baseline(entries=(entry,))
        arguments = fio.Fio().complete({})
        matching.covers(baseline, "fio", arguments)
        with self.assertRaisesRegex(document.BaselineError, "target is 'root"):
            matching.covers(baseline, "fio", {**arguments, "target": "volume"})

    def test_as_many_threads_as_vcpus(self):
        """Only the entry with the same shape matches."""
        arguments = {**ARGUMENTS, "threads": "vcpus"}
        two = made.entry(
            arguments={**ARGUMENTS, "threads": 2},
            shape=document.Shape(2, 2048),
        )
        single = made.entry(shape=document.Shape(4, 2048))
        baseline = made.baseline(entries=(made.entry(), two, single))
        shape = document.Shape(2, 2048)
        self.assertEqual(
            baseline.entries[1],
            matching.find(baseline, "sysbench", arguments, shape),
        )
        self.assertEqual(
            [*baseline.entries[:2]],
            matching.covers(baseline, "sysbench", arguments),
        )
        with self.assertRaisesRegex(
            document.BaselineError, "but the guests are 1 x 4 vCPU"
        ):
            matching.find(
                baseline, "sysbench", arguments, document.Shape(4, 2048)
            )
        with self.assertRaisesRegex(
            document.BaselineError,
            "threads is 1 in the baseline and 'vcpus' in the task",
        ):
            matching.covers(
                made.baseline(entries=(single,)), "sysbench", arguments
            )

    def test_imported_entry_without_vcpus(self):
        """Its number of threads is compared once guests are known."""
        baseline = made.baseline(entries=(made.entry(shape=None),))
        arguments = {**ARGUMENTS, "threads": "vcpus"}
        self.assertEqual(
            [*baseline.entries],
            matching.covers(baseline, "sysbench", arguments),
        )

    @ddt.data(
        ("mbw", {}, document.Shape(1, 1024), "no workload 'mbw'.*sysbench"),
        (
            "sysbench",
            {**ARGUMENTS, "time": 30},
            document.Shape(1, 1024),
            "time is 10 in the baseline and 30 in the task",
        ),
        (
            "sysbench",
            ARGUMENTS,
            document.Shape(2, 2048, 4),
            "1 x 1 vCPU with 1024 MiB, but the guests are "
            "4 x 2 vCPU with 2048 MiB",
        ),
    )
    @ddt.unpack
    def test_mismatch_says_what_there_is(self, name, arguments, shape, text):
        """The message names what differs, and the way out."""
        with self.assertRaisesRegex(document.BaselineError, text):
            matching.find(made.baseline(), name, arguments, shape)
