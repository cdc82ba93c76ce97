# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import re
import unittest

import ddt

from rally_vmperf.measurement.samples import histogram
from rally_vmperf.workloads import base
from rally_vmperf.workloads.disk import _fio_result
from rally_vmperf.workloads.disk import fio
from tests.unit.workloads import golden

REPORTS = golden.text("fio-3.33-randread.json")
GOLDEN = golden.last(REPORTS)
DATA = pathlib.Path(__file__).parents[1] / "data"
ARGUMENTS = {
    "patterns": ["read"],
    "size_mib": 32,
    "runtime": 1,
    "ramp_time": 0,
}


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

    @ddt.data("read", "write", "randread", "randwrite")
    def test_only_percentiles_are_middles_of_buckets(self, pattern):
        resolutions = {
            metric.name.rpartition(".")[2]: metric.resolution
            for metric in _fio_result.metrics(pattern)
        }
        for name in ("latency_p50", "latency_p99"):
            self.assertEqual(histogram.ACCURACY, resolutions[name])
        self.assertIsNone(resolutions["latency_mean"])

    def test_values_are_in_base_units(self):
        expected = json.loads(GOLDEN)["jobs"][0]["read"]
        values = self._values(GOLDEN, "randread")
        latency = expected["clat_ns"]
        self.assertEqual(expected["iops"], values["iops"])
        self.assertEqual(expected["bw_bytes"], values["bandwidth"])
        self.assertAlmostEqual(latency["mean"] / 1e9, values["latency_mean"])

    def test_warnings_may_precede(self):
        text = "note: both iodepth >= 1 and synchronous {engine}\n" + GOLDEN
        self.assertEqual(
            self._values(GOLDEN, "randread"), self._values(text, "randread")
        )

    @ddt.data("read", "write", "randread", "randwrite", "reports")
    def test_a_cut_between_two_reports_is_refused(self, name):
        """Unless the last that is left is of the whole run."""
        file = name if name != "reports" else "randread-reports"
        reports = golden.text(f"fio-3.33-{file}.json")
        name, _, more = file.partition("-")
        seconds = 4 if more else 2
        ends = [m.end() for m in re.finditer(r"^}\n", reports, re.M)]
        whole = _fio_result.parse(name, reports, seconds)
        for end in ends[:-2]:
            with self.assertRaisesRegex(base.WorkloadError, "ended after"):
                _fio_result.parse(name, reports[:end], seconds)
        for figure, true in zip(
            _fio_result.parse(name, reports[: ends[-2]], seconds),
            whole,
            strict=True,
        ):
            self.assertAlmostEqual(1, figure.value / true.value, delta=0.01)

    def test_a_guest_that_waits_for_its_processor(self):
        """fio 3.33 in one of four guests on two cores counted 1.926 s of 2."""
        text = golden.text("fio-3.33-read.json").replace(
            '"runtime" : 2000', '"runtime" : 1926'
        )
        self.assertIn("1926", text)
        self.assertEqual(3, len(_fio_result.parse("read", text, 2)))

    def test_buffered_writes_are_read_alike(self):
        text = golden.text("fio-3.33-randwrite-buffered.json")
        samples = _fio_result.parse("randwrite", text, 1)
        self.assertEqual(3, len(samples))
        self.assertGreater(
            _fio_result.parse_latencies("randwrite", text).histogram.count,
            1000,
        )

    @ddt.data(
        (["error"], 5, "ended with error 5; .*direct: false"),
        (["error"], "no", "jobs.0.error must .* is str"),
        (["read", "total_ios"], 0, "did not do any I/O; raise runtime"),
        (["read", "runtime"], 1000, "ended after 1 s of 2 s"),
        (["read", "runtime"], 1899, "ended after 1.899 s of 2 s"),
        (["read", "iops"], 2e9, "disk.fio.randread.iops is 2e.09 ops/s"),
        (["read", "iops"], None, "jobs.0.read.iops must .* is missing"),
        (
            ["read", "bw_bytes"],
            1e14,
            "disk.fio.randread.bandwidth is 1e.14 B/s",
        ),
        (["read", "clat_ns", "mean"], 0, "latency_mean is 0 s"),
        (["read", "clat_ns"], [], "clat_ns.mean must .* is missing"),
        (["read"], {}, "read.total_ios must .* is missing"),
    )
    @ddt.unpack
    def test_broken_result(self, path, value, message):
        result = json.loads(GOLDEN)
        node = result["jobs"][0]
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value
        with self.assertRaisesRegex(base.WorkloadError, message):
            _fio_result.parse("randread", json.dumps(result), 2)

    def test_other_side_is_rejected(self):
        with self.assertRaisesRegex(base.WorkloadError, "did not do any I/O"):
            _fio_result.parse("randwrite", GOLDEN, 2)

    def _values(self, text, pattern):
        return {
            s.metric.name.removeprefix(f"disk.fio.{pattern}."): s.value
            for s in _fio_result.parse(pattern, text, 2)
        }


@ddt.ddt
class LatenciesTestCase(unittest.TestCase):
    """The distribution of latencies, out of the bins."""

    @ddt.data("read", "write", "randread", "randwrite")
    def test_percentiles_agree_with_fio(self, pattern):
        """They differ by at most 1 %, and from the bins by 0.8 %."""
        text = golden.text(f"fio-3.33-{pattern}.json")
        (job,) = json.loads(golden.last(text))["jobs"]
        side = job["write" if "write" in pattern else "read"]
        latencies = _fio_result.parse_latencies(pattern, text)
        self.assertEqual(side["clat_ns"]["N"], latencies.histogram.count)
        for percent, nanoseconds in side["clat_ns"]["percentile"].items():
            seconds = latencies.histogram.percentile(float(percent))
            self.assertLess(
                abs(seconds / (nanoseconds / 1e9) - 1), 0.018, percent
            )

    @ddt.data(
        (None, "has no latency bins; .*json.* of fio 3.0"),
        ([], "has no latency bins"),
        (
            {str(bin_number): 1 for bin_number in range(1857)},
            "has no latency bins",
        ),
        ({"fast": 69512}, "latency bin of randread is 'fast', not a finite"),
        ({"-5": 69512}, "latency is -5e-09 s, which is not plausible"),
        ({"1e18": 69512}, "latency is 1e.09 s, which is not plausible"),
        ({"1000": "many"}, "bins.1000 must be a finite number, but is str"),
        ({"1000": -1, "2000": 69513}, "count -1: must be"),
    )
    @ddt.unpack
    def test_invalid_distributions(self, bins, message):
        result = json.loads(GOLDEN)
        result["jobs"][0]["read"]["clat_ns"]["bins"] = bins
        with self.assertRaisesRegex(base.WorkloadError, message):
            _fio_result.parse_latencies("randread", json.dumps(result))

    def test_shorter_than_a_nanosecond(self):
        """It is counted as one."""
        result = json.loads(GOLDEN)
        result["jobs"][0]["read"]["clat_ns"].update(N=30, bins={"0": 30})
        latencies = _fio_result.parse_latencies("randread", json.dumps(result))
        self.assertAlmostEqual(
            1e-9, latencies.histogram.percentile(50), delta=1e-11
        )


class SeriesTestCase(unittest.TestCase):
    """Requests per second over time."""

    def test_of_each_interval_that_is_measured(self):
        text = golden.text("fio-3.33-randread-reports.json")
        series, latencies = _fio_result.series("randread", text)
        self.assertEqual("disk.fio.randread.iops", series.metric.name)
        self.assertEqual(5, len(series.points))
        moment, value = series.points[0]
        self.assertAlmostEqual(12321, value * moment, delta=1)
        self.assertAlmostEqual(4.0, series.points[-1][0], delta=0.1)
        self.assertEqual(
            "disk.fio.randread.latency_mean", latencies.metric.name
        )
        self.assertEqual(4, len(latencies.points))

    def test_latencies_of_intervals(self):
        """Their mean, by requests, is that of the last report."""
        text = golden.text("fio-3.33-randread-reports.json")
        rates, latencies = _fio_result.series("randread", text)
        begins = [0.0, *(end for end, _ in rates.points)]
        done = [
            rate * (end - begin)
            for begin, (end, rate) in zip(begins, rates.points, strict=False)
        ]
        total = sum(
            requests * latency
            for requests, (_, latency) in zip(
                done, latencies.points, strict=False
            )
        )
        last = json.loads("{" + text.rpartition("\n{")[2])
        mean = last["jobs"][0]["read"]["clat_ns"]["mean"]
        self.assertAlmostEqual(mean * 1e-9, total / sum(done), delta=1e-5)

    def test_one_report_is_not_a_series(self):
        self.assertEqual([], _fio_result.series("randread", GOLDEN))

    def test_moments_that_make_no_sense(self):
        """Values are worth as much without it."""
        text = golden.text("fio-3.33-randread-reports.json")
        text = re.sub(r'"runtime" : [0-9]+', '"runtime" : 0', text)
        self.assertEqual([], _fio_result.series("randread", text))


class CourseTestCase(unittest.TestCase):
    """The rate over time, from reports during the run."""

    text = golden.text("fio-3.33-randread-reports.json")

    def test_figures_agree_with_the_last_report(self):
        iops = _fio_result.parse("randread", self.text, 4)[0].value
        last = "{" + self.text.rpartition("\n{")[2]
        self.assertEqual(json.loads(last)["jobs"][0]["read"]["iops"], iops)

    def test_the_ramp_is_left_out(self):
        course = _fio_result.progress("randread", self.text)
        begin, *_, end = course.points
        self.assertAlmostEqual(1795274938.052, begin[0], places=3)
        self.assertAlmostEqual(1795274942.055, end[0], delta=0.01)
        self.assertEqual(
            [0, 12321, 13441, 14645, 15680, 15680],
            [requests for _, requests in course.points],
        )

    def test_a_window(self):
        """It was ten times as fast in the first second."""
        course = _fio_result.progress("randread", self.text)
        pace = course.relative_rate(course.points[1][0], course.points[-1][0])
        iops = _fio_result.parse("randread", self.text, 4)[0].value
        self.assertAlmostEqual(3359 / 3.0, pace * iops, delta=10)

    def test_a_late_end(self):
        """A slow machine writes the last report after the end of the run."""
        reports = re.split(r"\n(?={)", self.text)
        late = re.sub(
            r'("timestamp_ms" : )([0-9]+)',
            lambda found: f"{found[1]}{int(found[2]) + 700}",
            reports[-1],
        )
        course = _fio_result.progress(
            "randread", "\n".join([*reports[:-1], late])
        )
        self.assertEqual(
            [0, 12321, 13441, 14645, 15680, 15680],
            [requests for _, requests in course.points],
        )

    def test_a_ramp_as_long_as_an_interval(self):
        """It ends between two reports, whatever was done in it."""
        for in_ramp in (10, 300):
            reports = (
                (10.9, 900, in_ramp),
                (12.0, 1000, 200),
                (13.0, 2000, 350),
            )
            text = "\n".join(
                json.dumps(
                    {
                        "timestamp_ms": moment * 1000,
                        "jobs": [
                            {"read": {"runtime": runtime, "total_ios": ios}}
                        ],
                    }
                )
                for moment, runtime, ios in reports
            )
            course = _fio_result.progress("randread", text)
            self.assertEqual(
                ((11.0, 0.0), (12.0, 200.0), (13.0, 350.0)), course.points
            )

    def test_one_report_has_a_constant_rate(self):
        course = _fio_result.progress("randread", GOLDEN)
        (begin, _), (end, _) = course.points
        self.assertAlmostEqual(
            1.0, course.relative_rate(begin + 0.1, end - 0.1)
        )

    def test_no_work_has_no_course(self):
        self.assertIsNone(_fio_result.progress("randwrite", self.text))


@ddt.ddt
class OptionsTestCase(unittest.TestCase):
    """fio repeats the options of its command line, and no others."""

    def check(self, pattern, new):
        """Check an output in which a pattern was replaced once."""
        disk = fio.Fio()
        (command,) = disk.commands(disk.complete(ARGUMENTS), base.Endpoints())
        text = (DATA / "fio-3.33-read-1000.json").read_text()
        changed = re.sub(pattern, new, text, count=1)
        self.assertNotEqual(text, changed)
        _fio_result.check_command("read", changed, command.argv)

    @ddt.data(
        ('"direct" : "0"', "with direct=0 instead of direct=1"),
        ('"gtod_reduce" : "1"', "ran without direct=1"),
        ('"direct" : "1", "buffered" : "1"', "buffered=1, which was not"),
        ('"direct" : "1", "eta" : "x"', "ran with eta=x, which was not"),
        ('"direct" : "1", "time_based" : "0"', "time_based=0, which was not"),
    )
    @ddt.unpack
    def test_other_options(self, new, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.check('"direct" : "1"', new)

    def test_no_options(self):
        with self.assertRaisesRegex(base.WorkloadError, "without name=read"):
            self.check("job options", "options")

    @ddt.data("", "1")
    def test_flags_may_be_repeated(self, value):
        """Versions differ in it."""
        self.check(
            '"direct" : "1"', f'"direct" : "1", "time_based" : "{value}"'
        )
