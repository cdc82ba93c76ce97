import json
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.network import _iperf3_result
from tests.unit.workloads import golden

GOLDEN = golden.text("iperf3-3.12-to_peer.json")


def read(outcome, direction, protocol):
    """Return the samples of a run of two seconds, or raise its error."""
    _iperf3_result.raise_reported_error(outcome, protocol)
    return report(base.check_result(outcome), direction, protocol).samples()


def report(outcome, direction="to_peer", protocol="tcp", omit=1):
    """Return the report of a run of two seconds."""
    arguments = {"protocol": protocol, "time": 2, "omit": omit, "cpu": False}
    return _iperf3_result.Report(direction, arguments, outcome)


@ddt.ddt
class ReadTestCase(unittest.TestCase):
    @ddt.data("to_peer", "from_peer", "guest_to_guest")
    def test_received_bytes_are_the_throughput(self, direction):
        text = golden.text(f"iperf3-3.12-{direction}.json")
        end = json.loads(text)["end"]
        throughput, retransmits = self._read(text, direction)
        self.assertEqual(
            end["sum_received"]["bits_per_second"], throughput.value
        )
        self.assertEqual("bit/s", throughput.metric.unit)
        self.assertEqual(end["sum_sent"]["retransmits"], retransmits.value)
        self.assertEqual("count", retransmits.metric.scale)

    def test_versions_that_print_their_report_twice(self):
        """The last one is read, and nothing may follow it."""
        changed = self._changed("bits_per_second", 1e6)
        throughput, _ = self._read(f"{GOLDEN}\n{changed}\n")
        self.assertEqual(1e6, throughput.value)
        for text in (f"{GOLDEN}\n{changed}\nend", f"{GOLDEN}\nx\n{GOLDEN}"):
            with self.assertRaisesRegex(base.WorkloadError, "text after its"):
                self._read(text)
        with self.assertRaisesRegex(base.WorkloadError, "instead of valid"):
            self._read(f"{GOLDEN}\n{changed[:-9]}")

    def test_no_retransmits_are_a_sample_too(self):
        _, retransmits = self._read(self._changed("retransmits", 0))
        self.assertEqual(0, retransmits.value)

    @ddt.data(0, 1)
    def test_its_own_error_is_reported(self, exit_status):
        refused = golden.text("iperf3-3.12-refused.json")
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^iperf3: to_peer: unable to connect to server: Connection "
            "refused; check that the server is reachable",
        ):
            self._read(refused, exit_status=exit_status)

    def test_its_own_error_is_bounded(self):
        text = json.dumps({"error": "x\n\x1b[2J" * 10000})
        with self.assertRaises(base.WorkloadError) as caught:
            self._read(text)
        self.assertLess(len(str(caught.exception)), 320)
        self.assertTrue(str(caught.exception).isprintable())

    def test_failure_without_json(self):
        with self.assertRaisesRegex(base.WorkloadError, "exit status 1"):
            self._read("iperf3: unrecognized option", exit_status=1)

    @ddt.data(
        ("bits_per_second", 0, "throughput is 0.0 bit/s"),
        ("bits_per_second", 2e13, "throughput is 2e.13 bit/s"),
        ("bits_per_second", "1", "bits_per_second must .* is str"),
        ("retransmits", -1, "retransmits is -1 1"),
        ("retransmits", None, "retransmits must .* is missing"),
        ("seconds", 1.5, "ended after 1.5 s of 2 s"),
    )
    @ddt.unpack
    def test_broken_result(self, key, value, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self._read(self._changed(key, value))

    def _changed(self, key, value):
        result = json.loads(GOLDEN)
        for side in ("sum_sent", "sum_received"):
            result["end"][side][key] = value
        return json.dumps(result)

    def _read(self, text, direction="to_peer", exit_status=0):
        outcome = golden.outcome(direction, text, exit_status=exit_status)
        return read(outcome, direction, "tcp")


@ddt.ddt
class ReadDatagramsTestCase(unittest.TestCase):
    @ddt.data(
        ("to_peer", 9995255.353476167, 0.025105284781034888, 0),
        ("from_peer", 10001189.951212, 0.007078038766594488, 0),
        ("loss", 8947645.753697773, 0.023832497551470853, 187 / 1785),
        ("loss-reverse", 8965223.460614653, 0.00717727366489518, 184 / 1785),
        ("streams", 26944209.1927796, 0.056355443635666934, 542 / 5354),
        (
            "streams-reverse",
            26996331.1724349,
            0.010745269716493104,
            534 / 5355,
        ),
    )
    @ddt.unpack
    def test_figures_of_the_receiver(self, name, rate, jitter_ms, loss):
        """In both directions, and of all streams together."""
        samples = self._read(golden.text(f"iperf3-3.12-udp-{name}.json"))
        self.assertEqual(
            [
                ("throughput", rate, "bit/s", "ratio"),
                ("jitter", jitter_ms / 1000, "s", "count"),
                ("loss", loss * 100, "%", "count"),
            ],
            [
                (
                    sample.metric.name.removeprefix(
                        "network.iperf3.to_peer.udp."
                    ),
                    sample.value,
                    sample.metric.unit,
                    sample.metric.scale,
                )
                for sample in samples
            ],
        )

    @ddt.data("none", "none-reverse")
    def test_nothing_received_is_not_a_loss_of_zero(self, name):
        """iperf3 reports a loss of zero then."""
        text = golden.text(f"iperf3-3.12-udp-{name}.json")
        lost = json.loads(text)["end"]["sum_received"]["lost_percent"]
        self.assertEqual(0, lost)
        with self.assertRaisesRegex(
            base.WorkloadError,
            r"^iperf3: to_peer: none of \d+ datagrams arrived; check that the "
            "server accepts UDP",
        ):
            self._read(text)

    @ddt.data(
        ("unanswered", "unable to read from stream socket: Resource"),
        ("ended", "control socket has closed unexpectedly"),
    )
    @ddt.unpack
    def test_its_own_error_is_reported(self, name, message):
        text = golden.text(f"iperf3-3.12-udp-{name}.json")
        with self.assertRaisesRegex(
            base.WorkloadError, f"^iperf3: to_peer: {message}.* and by UDP$"
        ):
            self._read(text)

    def test_neither_jitter_nor_loss_are_samples_too(self):
        _, jitter, loss = self._read(
            self._changed(jitter_ms=0, lost_packets=0)
        )
        self.assertEqual((0, 0), (jitter.value, loss.value))

    @ddt.data(
        ({"jitter_ms": -0.1}, "jitter is -0.0001 s"),
        ({"lost_packets": 1803}, "loss is 101.008 %"),
        ({"lost_packets": -1}, "loss is -0.05.* %"),
        ({"lost_packets": None}, "lost_packets must .* is missing"),
        ({"packets": 1600}, "none of the last 185 of 1785 datagrams arr"),
        ({"packets": 0}, "none of 1785 datagrams arrived"),
        ({"bits_per_second": 2e13}, "throughput is 2e.13 bit/s"),
        ({"seconds": 1.5}, "ended after 1.5 s of 2 s"),
    )
    @ddt.unpack
    def test_broken_result(self, values, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self._read(self._changed(**values))

    @ddt.data("nan", "inf")
    def test_no_numbers(self, value):
        text = self._changed(jitter_ms=float(value))
        with self.assertRaisesRegex(base.WorkloadError, "of valid JSON"):
            self._read(text)

    def test_a_version_that_reports_only_sent_bytes(self):
        result = json.loads(golden.text("iperf3-3.12-udp-loss.json"))
        del result["end"]["sum_received"]
        with self.assertRaisesRegex(
            base.WorkloadError, "sum_received.* is missing"
        ):
            self._read(json.dumps(result))

    def _changed(self, **values):
        result = json.loads(golden.text("iperf3-3.12-udp-loss.json"))
        result["end"]["sum_received"].update(values)
        return json.dumps(result)

    def _read(self, text):
        outcome = golden.outcome("to_peer-udp", text)
        return read(outcome, "to_peer", "udp")


class CourseTestCase(unittest.TestCase):
    """The rate over time, from reports during the run."""

    def course(self, file, protocol, seconds, omit):
        text = golden.text(f"iperf3-3.12-{file}-reports.json")
        direction = file.removeprefix("udp-")
        outcome = golden.outcome("x", text, seconds=seconds)
        return report(outcome, direction, protocol, omit).progress()

    def test_omitted_seconds_are_excluded(self):
        """Connecting and leaving take the same time."""
        course = self.course("to_peer", "tcp", 5.4, 1)
        moments = [moment for moment, _ in course.points]
        for moment, expected in zip(
            moments, (1.2, 2.2, 3.2, 4.2, 5.2), strict=True
        ):
            self.assertAlmostEqual(expected, moment, delta=0.01)
        end = json.loads(golden.text("iperf3-3.12-to_peer-reports.json"))
        self.assertEqual(end["end"]["sum_sent"]["bytes"], course.points[-1][1])

    def test_datagrams(self):
        course = self.course("udp-from_peer", "udp", 3.0, 0)
        self.assertEqual(4, len(course.points))
        self.assertAlmostEqual(1.0, course.relative_rate(0.5, 2.5), delta=0.01)

    def test_without_reports_it_has_no_pace_of_its_own(self):
        outcome = golden.outcome("x", GOLDEN, seconds=3.2)
        course = report(outcome).progress()
        self.assertAlmostEqual(1.0, course.relative_rate(1.2, 3.0), places=12)

    def test_series_of_measured_seconds(self):
        """In bits, as the throughput is, and no second that is omitted."""
        text = golden.text("iperf3-3.12-to_peer-reports.json")
        outcome = golden.outcome("to_peer", text, seconds=5.4)
        (series,) = report(outcome).series()
        self.assertEqual(
            "network.iperf3.to_peer.throughput", series.metric.name
        )
        self.assertEqual(4, len(series.points))
        last_rate = json.loads(text)["intervals"][-1]["sum"]["bits_per_second"]
        self.assertAlmostEqual(
            1.0, series.points[-1][1] / last_rate, delta=0.02
        )

    def test_one_report_is_not_a_series(self):
        outcome = golden.outcome("x", GOLDEN, seconds=3.2)
        self.assertLess(
            len(report(outcome).progress().points),
            3,
        )
        self.assertEqual([], report(outcome).series())

    def test_absurd_reports_are_none(self):
        for reports in (None, 5, {}, [], "x" * 5):
            text = json.dumps({**json.loads(GOLDEN), "intervals": reports})
            self.assertIsNone(report(golden.outcome("x", text)).progress())
