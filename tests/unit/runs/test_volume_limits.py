# SPDX-License-Identifier: Apache-2.0
"""Tests of the metrics that the rate limits of disks apply to."""

import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.guests import models
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.runs import volume_limits


def cap(rate, name, guests=(), direction="total"):
    """Return a limit on operations per second."""
    return rate_caps.disk(
        rate, "ops/s", name, direction=direction, guests=guests
    )


def assign(label="", **arguments):
    """Return the workload fio with one metric of interest."""
    return assignment.create_assignment(
        {
            "name": "fio",
            "label": label,
            "arguments": {"patterns": ["randread"], **arguments},
        }
    )


FLAVOR = cap(100, "flavor")
PORT = rate_caps.network(1e6, "port")


@ddt.ddt
class ListCapsTest(unittest.TestCase):
    def list(self, *assignments, **volumes):
        """Return the rate and the metrics of each cap by its name.

        :param volumes: The caps by the number of the volume after a v.
        """
        booted = models.BootedGuests(
            guests=(),
            client_key="",
            caps=(FLAVOR, PORT),
            volume_caps={
                int(name[1:]): tuple(caps) for name, caps in volumes.items()
            },
        )
        caps, self.findings = volume_limits.list_caps(booted, assignments)
        return {
            each.name: (each.rate, self.shorten(each.metrics)) for each in caps
        }

    def shorten(self, names):
        """Return only names that end in iops."""
        if names is None:
            return None
        return [name for name in names if name.endswith(".iops")]

    def test_only_the_root_disk(self):
        """The record is the same as without volumes."""
        self.assertEqual(
            {
                "flavor": (100, None),
                "port": (1e6, None),
                "type": (200, []),
            },
            self.list(assign(), v1=[cap(200, "type")]),
        )

    def test_root_disk_and_volume(self):
        self.assertEqual(
            {
                "flavor": (100, ["disk.fio.randread.iops"]),
                "port": (1e6, None),
                "type": (200, ["disk.fio.data.randread.iops"]),
                "other": (300, []),
            },
            self.list(
                assign(),
                assign("data", target="volume"),
                v1=[cap(200, "type")],
                v2=[cap(300, "other")],
            ),
        )

    def test_only_a_volume(self):
        """The flavor limits no metric then."""
        caps = self.list(assign(target="volume"), v1=[cap(200, "type")])
        self.assertEqual((100, []), caps["flavor"])

    @ddt.data(
        ([cap(200, "type")], [cap(200, "type")], {"2 x type": 400}, []),
        ([cap(200, "fast")], [cap(50, "slow")], {"2 x slow": 100}, []),
        ([cap(200, "type")], [], {}, ["type"]),
        (
            [cap(200, "all")],
            [cap(200, "reads", direction="read")],
            {},
            ["all", "reads"],
        ),
        (
            [cap(9, "a", ("g1", "g2"))],
            [cap(9, "a", ("g1",)), cap(5, "b", ("g2",))],
            {},
            ["a", "b"],
        ),
        (
            [cap(9, "a", ("g1",)), cap(5, "b", ("g2",))],
            [cap(7, "a", ("g1",)), cap(5, "b", ("g2",))],
            {"2 x a": 14, "2 x b": 10},
            [],
        ),
    )
    @ddt.unpack
    def test_several_volumes(self, first, second, expected, partial):
        """The slowest of them determines the rate of the others.

        Limits that only some of them have are not checked, and stay.
        """
        caps = self.list(assign(target="volumes"), v1=first, v2=second)
        self.assertEqual(
            expected,
            {
                name: rate
                for name, (rate, metrics) in caps.items()
                if metrics == ["disk.fio.randread.iops"]
            },
        )
        self.assertEqual(
            [("promise_not_checked", name) for name in partial],
            [(found.kind, found.subject) for found in self.findings],
        )


class FindFactorTest(unittest.TestCase):
    """A cap applies to the metrics of its disk."""

    def test_metrics(self):
        (metric, *_) = [
            metric
            for metric in assign(target="volume").metrics()
            if metric.name.endswith(".iops")
        ]
        for metrics, factor in (
            (None, 1),
            ((), 0),
            ((metric.name,), 1),
            (("disk.fio.other.iops",), 0),
        ):
            limit = rate_caps.disk(1, "ops/s", "type", metrics=metrics)
            self.assertEqual(factor, limit.find_factor(metric), metrics)
