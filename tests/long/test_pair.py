# SPDX-License-Identifier: Apache-2.0
"""Two guests at once, with a limited disk, under limits of 5 %."""

import pathlib
import statistics

from tests.functional import laboratory
from tests.long import long

TASK = pathlib.Path(__file__).parent / "tasks" / "pair.yaml"
LIMIT = 5 * 1024 * 1024


@long.LONG
class TestPair(laboratory.Case):
    """Strict limits fail, and every figure is what the flavor allows."""

    def test_strict_limits_fail_by_name(self):
        """Exit code 2, each broken limit named, the disk at its limit."""
        lab = self.laboratory
        lab.use("admin")
        arguments = {"peer": laboratory.peer()}
        lab.record_baseline(
            "pair",
            "--task",
            str(TASK),
            "--task-args",
            laboratory.json.dumps(arguments),
        )
        before = lab.journals()
        process = lab.start(TASK, **arguments)
        self.check_ended(2, process)
        path = self.new_journal(before, process)
        records = lab.records(path)
        self.assertEqual(
            ["complete"] * 3, [record.repetition.state for record in records]
        )
        self._check_disk(records)
        self._check_network(records)
        self._check_verdict()

    def _check_disk(self, records):
        rates = [
            observation.sample.value
            for record in records
            for observation in record.repetition.condition.observations
            if observation.sample.metric.name == "disk.fio.write.bandwidth"
        ]
        self.assertEqual(6, len(rates))
        middle = statistics.median(rates)
        self.assertLess(abs(middle - LIMIT) / LIMIT, 0.1, rates)
        kinds = {finding.kind for finding in records[0].repetition.findings}
        self.assertIn("rate_limited_by_policy", kinds)

    def _check_network(self, records):
        for record in records:
            measured = {
                (
                    observation.source,
                    observation.sample.metric.name.rpartition(
                        "guest_to_guest."
                    )[2],
                )
                for observation in record.repetition.condition.observations
                if observation.sample.metric.name.startswith("network.")
            }
            tcp = ("throughput", "retransmits")
            udp = ("udp.throughput", "udp.jitter", "udp.loss")
            self.assertEqual({("g1", name) for name in (*tcp, *udp)}, measured)
            kinds = {finding.kind for finding in record.repetition.findings}
            self.assertIn("fixed_rate", kinds)

    def _check_verdict(self):
        (verdict,) = (
            v
            for v in self.laboratory.verdicts()
            if v["criterion"] == "vmperf_overhead"
        )
        self.assertFalse(verdict["success"])
        detail = verdict["detail"]
        self.assertTrue(detail.startswith("failed:"), detail)
        for name in (
            "cpu.sysbench.rate",
            "network.iperf3.guest_to_guest.throughput",
        ):
            self.assertRegex(detail, rf"{name}:\s+bare\s+metal")
