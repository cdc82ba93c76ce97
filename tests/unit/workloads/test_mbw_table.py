import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import mbw_table
from tests.unit.workloads import golden

GOLDEN = golden.text("mbw-1.2.2.txt")
AVERAGE = "AVG\tMethod: MEMCPY"


@ddt.ddt
class RateTestCase(unittest.TestCase):
    @ddt.data(
        ("memcpy", 13517.319), ("dumb", 20304.569), ("mcblock", 24742.268)
    )
    @ddt.unpack
    def test_rate_is_that_of_the_average_line(self, method, average):
        rate = mbw_table.rate(GOLDEN, method, 3, 16)
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
            mbw_table.rate(GOLDEN.replace(old, new), "memcpy", 3, 16)

    @ddt.data((2, 16, "has 3 runs instead of 2"), (3, 64, "not run with 64"))
    @ddt.unpack
    def test_other_arguments_than_those_of_the_run(self, runs, size, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            mbw_table.rate(GOLDEN, "memcpy", runs, size)
