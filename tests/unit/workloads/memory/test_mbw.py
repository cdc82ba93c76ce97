import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.memory import mbw
from tests.unit.workloads import golden

MIB = 1 << 20
GOLDEN = golden.text("mbw-1.2.2.txt")
AVERAGE = "AVG\tMethod: MEMCPY"


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

    def _published(self, machine):
        return self.workload.parse(
            self.workload.complete({"size_mib": 512}),
            golden.outcomes({"mbw": f"mbw-r730xd-2019-{machine}.txt"}),
        )


@ddt.ddt
class RateTestCase(unittest.TestCase):
    @ddt.data(
        ("memcpy", 13517.319), ("dumb", 20304.569), ("mcblock", 24742.268)
    )
    @ddt.unpack
    def test_rate_is_that_of_the_average_line(self, method, average):
        rate = mbw.rate(GOLDEN, method, 3, 16)
        self.assertAlmostEqual(average, rate / 1024 / 1024, delta=0.002)

    @ddt.data(
        ("0\tMethod: MEMCPY", "9\tMethod: MEMCPY", "has 3 runs instead"),
        ("0\tMethod: MEMCPY", "0\tMethod: MEMSET", "has 2 runs instead"),
        (AVERAGE, "AVERAGE\tMethod: MEMCPY", "has 4 runs instead of 3"),
        (AVERAGE, "AVG\tMethod: MEMSET", "has 0 averages instead"),
        ("13517.319", "15317.319", "took 0.00118 s, which is not 15317.3"),
        (
            "0.00118\tMiB: 16.00000\tCopy: 13517.319",
            "0.00117\tMiB: 16.00000\tCopy: 13600.000",
            "but an average of 13600.000",
        ),
        ("16.00000\tCopy: 13769", "8.00000\tCopy: 13769", "took 0.00116"),
        ("Copy: 13769.363", "Copy: 0.000", "copied 16 MiB at 0 MiB/s"),
        ("Copy: 13769.363", "Copy: -1.000", "copied 16 MiB at -1 MiB/s"),
        ("Copy: 13769.363", "Copy: inf", "'inf', not a finite number"),
        ("Copy: 13769.363 MiB/s", "Copy: 13769.363 GiB/s", "another form"),
        ("Copy: 13769.363 MiB/s", "Copy: 13769.363", "another form"),
    )
    @ddt.unpack
    def test_incoherent_table(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(
            base.WorkloadError, f"^mbw: memcpy.*{message}.*look at"
        ):
            mbw.rate(GOLDEN.replace(old, new), "memcpy", 3, 16)

    @ddt.data((2, 16, "has 3 runs instead of 2"), (3, 64, "not run with 64"))
    @ddt.unpack
    def test_other_arguments_than_those_of_the_run(self, runs, size, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            mbw.rate(GOLDEN, "memcpy", runs, size)
