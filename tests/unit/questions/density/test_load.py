# SPDX-License-Identifier: Apache-2.0
"""Tests of the offered load of a density task."""

import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.questions import table
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import load

SYSBENCH = {"name": "sysbench", "arguments": {"threads": "vcpus"}}
FIO = {"name": "fio", "label": "db", "arguments": {"patterns": ["randread"]}}


def assign(workloads, argument, vcpus=2):
    """Return the assignments of workloads for guests with these vCPUs."""
    expanded = load.expand(workloads, argument)
    return [
        assigned.for_vcpus(vcpus) for assigned in assignment.assign(expanded)
    ]


@ddt.ddt
class TestExpand(unittest.TestCase):
    """Each workload runs once at each load."""

    def test_shares(self):
        """The labels of metrics have the percentage."""
        assigned = assign([SYSBENCH, FIO], [0.3, 0.125])
        self.assertEqual(
            [
                "sysbench-load-30",
                "fio-db-load-30",
                "sysbench-load-12_5",
                "fio-db-load-12_5",
            ],
            [each.title for each in assigned],
        )
        self.assertEqual(
            ["sysbench", "fio-db"] * 2, [each.directory for each in assigned]
        )
        self.assertIn(
            "cpu.sysbench.load-30.rate",
            [metric.name for metric in assigned[0].metrics()],
        )
        self.assertEqual("12.5 % load", assigned[2].load.title)
        full_speed = assigned[1].without_load()
        self.assertEqual(("db", None), (full_speed.label, full_speed.load))

    def test_rates(self):
        """They are arguments of the workload."""
        (first, second) = assign(
            [SYSBENCH], [{"sysbench": 285}, {"sysbench": 9}]
        )
        offers = [
            each.workload.offers(each.arguments) for each in (first, second)
        ]
        self.assertEqual([285, 9], [offer.rate for (offer,) in offers])
        self.assertEqual("rates 2", second.load.title)
        self.assertEqual("sysbench-rate-2", second.title)

    def test_rates_by_label(self):
        """A label precedes the name of the workload."""
        other = {**SYSBENCH, "label": "other"}
        assigned = assign([SYSBENCH, other], {"sysbench": 5, "other": 7})
        rates = [
            offer.rate
            for each in assigned
            for offer in each.workload.offers(each.arguments)
        ]
        self.assertEqual([5, 7], rates)

    @ddt.data(
        ({"sysbench": 5, "mbw": 1}, "'mbw': must be the name or label of"),
        ({"db": 5}, "has no rate of sysbench; add it"),
    )
    @ddt.unpack
    def test_rates_of_other_workloads(self, argument, expected):
        """They are rejected in one line."""
        with self.assertRaisesRegex(task.InvalidTask, expected):
            load.expand([SYSBENCH, FIO], argument)


@ddt.ddt
class TestCheck(unittest.TestCase):
    """A load that cannot be offered is rejected before the boot."""

    @ddt.data(
        (
            {"name": "bzip2"},
            0.3,
            r"cannot be driven.*these workloads can: .*sysb",
        ),
        (
            {"name": "sysbench"},
            {"sysbench": {"x": 3}},
            "'x': must be one of sys",
        ),
        (
            {"name": "sysbench", "arguments": {"rate": 9}},
            0.3,
            "already have a rate, so that its full speed is unknown",
        ),
    )
    @ddt.unpack
    def test_rejected(self, workload, argument, expected):
        """The message names the workload and the way out."""
        expanded = load.expand([workload], argument)
        with self.assertRaisesRegex(task.InvalidTask, expected):
            load.check(assignment.assign(expanded))

    def test_accepted(self):
        """A share of a workload that can be driven."""
        load.check(assignment.assign(load.expand([SYSBENCH], [0.3, 1])))


@ddt.ddt
class TestArguments(unittest.TestCase):
    """The arguments of a task have the load."""

    def create(self, times=8, **arguments):
        """Return complete arguments of VMPerf.density."""
        question = table.questions()["density"]
        values = {"workloads": [SYSBENCH], "levels": [1, 2], **arguments}
        return task.create_arguments(values, question.arguments, times)

    def test_shares_have_three_warm_ups(self):
        """Repetitions that measure the full speed."""
        self.assertEqual(3, self.create(load=0.3).warmup)
        self.assertEqual(1, self.create(load={"sysbench": 3}).warmup)
        self.assertEqual(1, self.create(load="").warmup)

    def test_workloads_at_each_load(self):
        """The argument is no condition of its own."""
        labels = [
            workload["label"]
            for workload in self.create(load=[0.3, 1]).workloads
        ]
        self.assertEqual(["load-30", "load-100"], labels)

    @ddt.data(
        0, 1.5, "a lot", [], [0.3, {"sysbench": 2}], [0.3, 0.3], {"a": 0}
    )
    def test_invalid(self, value):
        """It is a share, or rates, or a list of either."""
        if value == []:
            value = [None]
        with self.assertRaisesRegex(task.InvalidTask, "^load"):
            self.create(load=value)


class TestPeer(unittest.TestCase):
    """A workload that is skipped needs no rate."""

    def test_without_a_peer(self):
        """It stays as it is."""
        workloads = [SYSBENCH, {"name": "iperf3"}]
        expanded = load.expand(workloads, {"sysbench": 100}, has_peer=False)
        self.assertEqual(
            [("iperf3", None), ("sysbench", "rate-1")],
            [(each["name"], each.get("label")) for each in expanded],
        )

    def test_equal_shares(self):
        """They would have one name."""
        with self.assertRaisesRegex(task.InvalidTask, "two shares are equal"):
            load.expand([SYSBENCH], [0.12345, 0.123451])
