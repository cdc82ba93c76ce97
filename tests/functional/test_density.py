# SPDX-License-Identifier: Apache-2.0
"""More and more real guests on one host, until it is too small for them."""

import os
import statistics

from rally_vmperf.questions.density import question as density
from tests import patience
from tests.cloud.system import layout
from tests.functional import laboratory

TASK = laboratory.TASKS / "density.yaml"
#: Emulated guests take long to start a program that runs for two seconds.
TOLERATED = ["partial_overlap", "clock_wrong"]
CPU = "cpu.sysbench.rate"
WORKLOADS = [
    {"name": "sysbench", "arguments": {"time": 2}},
    {
        "name": "fio",
        "arguments": {
            "patterns": ["randread"],
            "runtime": 1,
            "ramp_time": 0,
            "size_mib": 16,
        },
    },
    {"name": "iperf3", "arguments": {"directions": ["to_peer"], "time": 2}},
]
LATENCY = "disk.fio.randread.latency"


class TestDensity(laboratory.Case):
    """Busy guests on fewer cores lose CPU, and limits fail."""

    def test_three_guests_on_two_cores(self):
        """The loss is there, and verdicts are what its interval says."""
        lab = self.laboratory
        lab.use("admin")
        journals = lab.journals()
        limits = {"max_percent": {CPU: 5}, "levels": 3, "tolerate": TOLERATED}
        process = lab.start(
            TASK,
            levels=[1, 3],
            workloads=WORKLOADS,
            peer=laboratory.peer(),
            guest_options={
                "host": layout.HYPERVISORS[0],
                "ssh_timeout": round(patience.seconds(300)),
            },
            sla={"failure_rate": {"max": 0}, "vmperf_degradation": limits},
        )
        self.check_ended(2, process)
        path = self.new_journal(journals, process)
        records = lab.records(path)
        self.assertEqual(
            ["complete"] * 3, [record.repetition.state for record in records]
        )
        self.assertIn("plan: 3 guests of vmperf.tiny", said_all(process))
        self._check_levels(records)
        self._check_starts(records)
        self._check_distributions(records)
        page = lab.folder / "density.html"
        lab.plain_vmperf("report", str(path), "-o", str(page), check=True)
        self.assertIn(f"{LATENCY}_p50", page.read_text())
        self._check_loss(records)
        (verdict,) = (
            v for v in lab.verdicts() if v["criterion"] == "vmperf_degradation"
        )
        self.assertFalse(verdict["success"])
        self.assertEqual(
            self._judged(records, 5), verdict["detail"].split(":")[0]
        )
        self._judged(records, 95)

    def _judged(self, records, limit):
        """Return the status that fits the interval, and check that it does.

        The status depends on how steadily the machine ran.
        """
        judge = density.DEGRADATION.parse(
            {
                "max_percent": {CPU: limit},
                "levels": 3,
                "tolerate": TOLERATED,
            }
        ).create_judge()
        for record in records:
            judge.add(record.repetition)
        judgement = judge.judgement()
        (row,) = (row for row in judgement.rows if row.limit is not None)
        comparison = row.comparison
        if comparison.low > limit:
            expected = "failed"
        elif comparison.high <= limit:
            expected = "passed"
        else:
            expected = "inconclusive"
        self.assertEqual(expected, judgement.status, judgement.sentence())
        return expected

    def _check_levels(self, records):
        for record in records:
            levels = record.repetition.conditions
            self.assertEqual(
                [1, 3], [level.axes["guests"] for level in levels]
            )
            for level in levels:
                measured = {
                    observation.sample.metric
                    for observation in level.observations
                }
                # Where requests are enough, percentiles come beside these.
                self.assertLessEqual(set(level.expected_metrics), measured)
                sources = {
                    observation.source for observation in level.observations
                }
                self.assertEqual(set(level.machines), sources)
                self.assertEqual(level.axes["guests"], len(sources))
        families = {
            metric.name.split(".")[0]
            for metric in records[0].repetition.expected_metrics
        }
        self.assertEqual({"cpu", "disk", "network"}, families)
        hosts = {
            machine.host
            for machine in records[0].machines
            if machine.role == "guest"
        }
        self.assertEqual(1, len(hosts))

    def _check_distributions(self, records):
        """The distributions of all guests together are in the record."""
        for record in records:
            for level in record.repetition.conditions:
                (latencies,) = (
                    distribution
                    for distribution in level.distributions
                    if distribution.metric.name == LATENCY
                )
                self.assertGreater(latencies.histogram.count, 0)
                self.assertTrue(level.time_series)

    def _check_starts(self, records):
        for record in records:
            for level in record.repetition.conditions[1:]:
                self.assertEqual(3, len(level.synchronisation))
                for start in level.synchronisation:
                    self.assertGreater(start.overlap, 0)

    def _check_loss(self, records):
        """Three guests cannot all have a core of two."""
        means = {
            guests: statistics.geometric_mean(
                observation.sample.value
                for record in records
                for observation in record.repetition.select(
                    guests=guests
                ).condition.observations
                if observation.sample.metric.name == CPU
            )
            for guests in (1, 3)
        }
        if os.cpu_count() == 2:
            self.assertLess(means[3], 0.9 * means[1], means)


def said_all(process):
    """Return all that a run said."""
    return process.stdout + process.stderr
