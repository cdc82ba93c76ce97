# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.measurement.samples import sample
from tests.unit.workloads import golden


@ddt.ddt
class ArithmeticTestCase(unittest.TestCase):
    """Figures that a tool computed from others are not computed again."""

    @ddt.data(
        ("dd", "write", "236 MB/s", "236 kB/s"),
        ("dd-2019", "write", " (1.1 GB)", " (2.2 GB)"),
        ("ping-loss", "to_peer", " 15% packet loss", " 20% packet loss"),
        ("sockperf", "to_peer", "Total 73008", "Total 7300"),
        ("iperf2", "to_peer", "1891584 KBytes", "2891584 KBytes"),
        ("mbw", "mbw", "Copy: 1619.706", "Copy: 1719.706"),
        ("stream", "stream", "0.008047     0.0", "0.009047     0.0"),
        ("unixbench", "unixbench", "116700.0   587", "196700.0   587"),
        ("iperf3", "to_peer", "5837946880", "6837946880"),
        ("hepscore", "hepscore", '"weight": 1.0', '"weight": 0.0'),
        ("hepspec06", "hs06", '"num_bmks": 7', '"num_bmks": 6'),
        ("openssl", "openssl", "1704362.96k", "2704362.96k"),
        ("iozone", "iozone", " 401850.44", " 9401850.44"),
        ("fio-first", "first_write", ": 65536,", ": 1,"),
        ("fio-file", "data", ": 145896,", ": 1,"),
        (
            "sysbench",
            "sysbench",
            "            0.22\n         max",
            "         9990.22\n         max",
        ),
        ("sysbench", "sysbench", "second:  8958", "second:  9999"),
        ("sysbench_memory", "read", "(4199.87 MiB", "(3199.87 MiB"),
    )
    @ddt.unpack
    def test_other_figures_give_the_same_values(self, name, command, old, new):
        run = golden.RUNS[name]
        text = golden.text(run.files[command])
        self.assertIn(old, text)
        texts = (text, text.replace(old, new))
        before, after = (self._parse(run, name, command, t) for t in texts)
        self.assertEqual(before, after)

    @staticmethod
    def _parse(run, name, command, text):
        workload = golden.workload(name)
        readings = workload.parse_all(
            workload.complete(run.arguments),
            {
                command: golden.outcome(
                    command, seconds=60.0, **{run.stream: text}
                )
            },
        )
        return [
            reading
            for reading in readings
            if isinstance(reading, sample.Sample)
        ]
