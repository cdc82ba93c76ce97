# SPDX-License-Identifier: Apache-2.0
"""A short form of the simulation of the shipped task, with few runs."""

import dataclasses
import unittest

import ddt

from tests.bench import shipped_task


@ddt.ddt
class ShippedTaskTest(unittest.TestCase):
    """Runs with the usual noise, and boots that differ by 0.5 %."""

    def setUp(self):
        """Read the task with its metrics and limits."""
        super().setUp()
        self.task = shipped_task.read_task()

    def simulate(self, losses, noise="usual", trials=20):
        """Return the shares of runs by status in percent."""
        setting = shipped_task.Setting(noise=noise, boots=0.5, losses=losses)
        return shipped_task.simulate(self.task, setting, trials)

    def test_limits_of_the_task(self):
        """The percentile p99 is measured and has no limit."""
        self.assertEqual(
            {5: 3, 10: 2, 20: 12, 15: 2},
            {
                limit: list(self.task.limits.values()).count(limit)
                for limit in (5, 10, 20, 15)
            },
        )
        names = {metric.name for metric in self.task.metrics}
        p99 = "disk.fio.randread.latency_p99"
        self.assertIn(p99, names)
        self.assertNotIn(p99, self.task.limits)

    def test_half_of_the_limits_passes(self):
        shares = self.simulate(shipped_task.all_parts(0.5))
        self.assertGreaterEqual(shares["passed"], 75)

    def test_a_limit_on_p99_makes_it_undecided(self):
        """Therefore, none is shipped."""
        p99 = {
            metric.name: 20
            for metric in self.task.metrics
            if metric.name.endswith(shipped_task.P99)
        }
        limits = {**self.task.sla["max_percent"], **p99}
        self.task = dataclasses.replace(
            self.task, sla={**self.task.sla, "max_percent": limits}
        )
        shares = self.simulate(shipped_task.all_parts(0.5))
        self.assertLessEqual(shares["passed"], 50)

    @ddt.data(*shipped_task.PARTS)
    def test_one_part_beyond_its_limit_does_not_pass(self, component):
        shares = self.simulate(shipped_task.one_part(component), trials=10)
        self.assertLessEqual(shares["passed"], 10)

    def test_equal_runs_are_not_worse(self):
        """The limits of the task are the margins of its 46 metrics."""
        task = shipped_task.read_task(all_metrics=True)
        self.assertEqual(46, len(task.metrics))
        shares = shipped_task.compare(task, "usual", 0, 20)
        self.assertGreaterEqual(shares["not worse"], 95)

    def test_one_worse_disk_rate_is_found(self):
        task = shipped_task.read_task(all_metrics=True)
        limit = task.limits[shipped_task.WORSE_RATE]
        shares = shipped_task.compare(
            task, "usual", 0, 20, loss_percent=2 * limit
        )
        self.assertGreaterEqual(shares["worse"], 95)

    def test_a_boot_before_each_repetition(self):
        """Boots that differ by 1 % neither fail nor pass a run wrongly."""
        for losses, wrong in (
            (shipped_task.all_parts(0.9), "failed"),
            (shipped_task.one_part("cpu", 1.1), "passed"),
        ):
            shares = [
                shipped_task.simulate(
                    self.task,
                    shipped_task.Setting(
                        noise="usual",
                        boots=1,
                        losses=losses,
                        is_rebooted=is_rebooted,
                    ),
                    20,
                )[wrong]
                for is_rebooted in (False, True)
            ]
            self.assertLessEqual(shares[1], 5)
            if wrong == "failed":
                self.assertGreaterEqual(shares[0], 40)

    def test_warnings_by_chance(self):
        """Most healthy runs have none."""
        task = shipped_task.read_task(all_metrics=True)
        setting = shipped_task.Setting(
            noise="quiet",
            boots=0,
            losses=shipped_task.all_parts(0),
            is_rebooted=True,
        )
        shares = shipped_task.list_warnings(task, setting, 20)
        self.assertLessEqual(shares.get("any", 0), 15)
        once = dataclasses.replace(setting, is_rebooted=False)
        shares = shipped_task.list_warnings(task, once, 2)
        self.assertEqual(100, shares["interval_one_session"])

    def test_twice_the_limits_fails(self):
        shares = self.simulate(
            shipped_task.all_parts(2), noise="quiet", trials=5
        )
        self.assertEqual(100, shares["failed"])
