import unittest

from rally_vmperf.workloads.scripts import h2load


class SummaryTestCase(unittest.TestCase):
    def test_pages_that_came_are_counted_and_others_are_not(self):
        log = ["5000000\t200\t123456\n", "6100000\t404\t7\n"]
        log += ["4000000\t200\t123400\n", "6200000\t-1\t9\n"]
        self.assertEqual(
            {
                "rows": 4,
                "microseconds": 1123456,
                "response_microseconds": 246856,
                "response_times": {"123000": 2},
                "per_second": [1, 1],
            },
            h2load.summary(log),
        )

    def test_seconds_without_pages_are_zero(self):
        log = ["1000000\t200\t10\n", "3500000\t200\t10\n"]
        self.assertEqual([1, 0, 1], h2load.summary(log)["per_second"])

    def test_an_empty_log(self):
        found = h2load.summary([])
        self.assertEqual((0, []), (found["rows"], found["per_second"]))
