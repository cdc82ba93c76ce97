import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import mbw
from tests.unit.workloads import golden

MIB = 1 << 20


@ddt.ddt
class MemoryBandwidthTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = mbw.MemoryBandwidth()

    @ddt.data(
        ({}, "mbw -n 10 -b 262144 -t0 -t1 -t2 64"),
        ({"methods": ["dumb"]}, "mbw -n 10 -b 262144 -t1 64"),
        (
            {
                "methods": ["mcblock", "memcpy"],
                "runs": 3,
                "size_mib": 512,
                "block_size": 4096,
            },
            "mbw -n 3 -b 4096 -t0 -t2 512",
        ),
    )
    @ddt.unpack
    def test_command_line(self, arguments, line):
        (command,) = self.workload.commands(
            self.workload.complete(arguments), base.Ends()
        )
        self.assertEqual(line, " ".join(command.argv))

    @ddt.data(
        ({"size_mib": 0}, "size_mib: 0 is less .*1 to 65536"),
        ({"runs": 0}, "runs: 0 is less .*1 to 1000"),
        ({"methods": []}, r"methods: \[\] .*memcpy, dumb"),
        ({"methods": ["strcpy"]}, "methods.0: 'strcpy' .*memcpy, dumb"),
        ({"methods": "memcpy"}, "methods: 'memcpy' is not .*memcpy, dumb"),
        ({"methods": ["dumb", "dumb"]}, "methods: .* non-unique"),
        ({"block_size": 2000000}, "block_size: .*64 to 1048576"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload mbw: {message}"
        ):
            self.workload.complete(arguments)

    @ddt.data(
        ("baremetal", 7578.348, 2992.404, 5425.378),
        ("guest", 6254.520, None, None),
    )
    @ddt.unpack
    def test_published_outputs(self, machine, *expected):
        rates = self._published(machine)
        for measured, published in zip(rates, expected, strict=True):
            self.assertEqual("B/s", measured.metric.unit)
            if published is not None:
                self.assertAlmostEqual(
                    published, measured.value / MIB, delta=0.002
                )

    def test_published_overhead_is_17_percent_and_not_2(self):
        bare_metal = self._published("baremetal")[0].value
        guest = self._published("guest")[0].value
        self.assertAlmostEqual(
            17.47, (bare_metal - guest) / bare_metal * 100, places=2
        )

    def test_samples_are_the_metrics_in_their_order(self):
        arguments = self.workload.complete(golden.RUNS["mbw"][0])
        samples = self.workload.parse(
            arguments, golden.outcomes(golden.RUNS["mbw"][1])
        )
        self.assertEqual(
            list(self.workload.metrics(arguments)),
            [s.metric for s in samples],
        )
        self.assertEqual(
            ["memory.memcpy", "memory.dumb", "memory.mcblock"],
            [s.metric.name for s in samples],
        )

    def _published(self, machine):
        return self.workload.parse(
            self.workload.complete({"size_mib": 512}),
            golden.outcomes({"mbw": f"mbw-r730xd-2019-{machine}.txt"}),
        )
