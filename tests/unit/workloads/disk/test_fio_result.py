import json
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.disk import _fio_result
from tests.unit.workloads import golden

GOLDEN = golden.text("fio-3.33-randread.json")


@ddt.ddt
class ReadTestCase(unittest.TestCase):
    @ddt.data("read", "write", "randread", "randwrite")
    def test_golden_outputs_agree_with_themselves(self, pattern):
        text = golden.text(f"fio-3.33-{pattern}.json")
        values = self._values(text, pattern)
        size = 4096 if pattern.startswith("rand") else 1 << 20
        self.assertAlmostEqual(
            values["bandwidth"] / size, values["iops"], delta=10
        )
        self.assertLess(values["latency_p50"], values["latency_p99"])

    def test_values_are_in_base_units(self):
        expected = json.loads(GOLDEN)["jobs"][0]["read"]
        values = self._values(GOLDEN, "randread")
        latency = expected["clat_ns"]
        percentile = latency["percentile"]
        self.assertEqual(expected["iops"], values["iops"])
        self.assertEqual(expected["bw_bytes"], values["bandwidth"])
        for name, nanoseconds in (
            ("latency_mean", latency["mean"]),
            ("latency_p50", percentile["50.000000"]),
            ("latency_p99", percentile["99.000000"]),
        ):
            self.assertAlmostEqual(nanoseconds / 1e9, values[name])

    def test_warnings_may_precede(self):
        text = "note: both iodepth >= 1 and synchronous {engine}\n" + GOLDEN
        self.assertEqual(
            self._values(GOLDEN, "randread"), self._values(text, "randread")
        )

    def test_buffered_writes_are_read_alike(self):
        text = golden.text("fio-3.33-randwrite-buffered.json")
        samples = _fio_result.read("randwrite", text, 1)
        self.assertEqual(5, len(samples))

    @ddt.data(
        (["error"], 5, "ended with error 5; .*'direct'"),
        (["error"], "no", "jobs.0.error should .* is str"),
        (["read", "total_ios"], 0, "did no I/O; raise 'runtime'"),
        (["read", "runtime"], 1000, "ended after 1 s of 2 s"),
        (["read", "iops"], 2e9, "disk.fio.randread.iops is 2e.09 ops/s"),
        (["read", "iops"], None, "jobs.0.read.iops should .* is missing"),
        (
            ["read", "bw_bytes"],
            1e14,
            "disk.fio.randread.bandwidth is 1e.14 B/s",
        ),
        (["read", "clat_ns", "mean"], 0, "latency_mean is 0 s"),
        (["read", "clat_ns"], [], "clat_ns.mean should .* is missing"),
        (["read"], {}, "read.total_ios should .* is missing"),
    )
    @ddt.unpack
    def test_broken_result(self, path, value, message):
        result = json.loads(GOLDEN)
        node = result["jobs"][0]
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value
        with self.assertRaisesRegex(base.WorkloadError, message):
            _fio_result.read("randread", json.dumps(result), 2)

    def test_other_side_is_not_taken(self):
        with self.assertRaisesRegex(base.WorkloadError, "did no I/O"):
            _fio_result.read("randwrite", GOLDEN, 2)

    def _values(self, text, pattern):
        return {
            s.metric.name.removeprefix(f"disk.fio.{pattern}."): s.value
            for s in _fio_result.read(pattern, text, 2)
        }


class CourseTestCase(unittest.TestCase):
    """How much was read when: from reports while it ran."""

    text = golden.text("fio-3.33-randread-reports.json")

    def test_figures_are_those_of_the_last_report(self):
        iops = _fio_result.read("randread", self.text, 4)[0].value
        last = "{" + self.text.rpartition("\n{")[2]
        self.assertEqual(json.loads(last)["jobs"][0]["read"]["iops"], iops)

    def test_the_ramp_is_left_out(self):
        course = _fio_result.course("randread", self.text)
        begin, *_, end = course.points
        self.assertAlmostEqual(1795274938.052, begin[0], places=3)
        self.assertAlmostEqual(1795274942.055, end[0], delta=0.01)
        self.assertEqual(
            [0, 12321, 13441, 14645, 15680, 15680],
            [done for _, done in course.points],
        )

    def test_a_window(self):
        """It was ten times as fast in the first second."""
        course = _fio_result.course("randread", self.text)
        pace = course.pace(course.points[1][0], course.points[-1][0])
        iops = _fio_result.read("randread", self.text, 4)[0].value
        self.assertAlmostEqual(3359 / 3.0, pace * iops, delta=10)

    def test_one_report_tells_nothing_of_a_window(self):
        course = _fio_result.course("randread", GOLDEN)
        (begin, _), (end, _) = course.points
        self.assertAlmostEqual(1.0, course.pace(begin + 0.1, end - 0.1))

    def test_no_work_has_no_course(self):
        self.assertIsNone(_fio_result.course("randwrite", self.text))
