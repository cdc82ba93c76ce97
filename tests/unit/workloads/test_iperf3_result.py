import json
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import iperf3_result
from tests.unit.workloads import golden

GOLDEN = golden.text("iperf3-3.12-to_peer.json")


@ddt.ddt
class ReadTestCase(unittest.TestCase):
    @ddt.data("to_peer", "from_peer", "guest_to_guest")
    def test_what_arrived_is_the_throughput(self, direction):
        text = golden.text(f"iperf3-3.12-{direction}.json")
        end = json.loads(text)["end"]
        throughput, retransmits = self._read(text, direction)
        self.assertEqual(
            end["sum_received"]["bits_per_second"], throughput.value
        )
        self.assertEqual("bit/s", throughput.metric.unit)
        self.assertEqual(end["sum_sent"]["retransmits"], retransmits.value)
        self.assertEqual("count", retransmits.metric.scale)

    def test_no_retransmits_are_a_sample_too(self):
        _, retransmits = self._read(self._changed("retransmits", 0))
        self.assertEqual(0, retransmits.value)

    @ddt.data(0, 1)
    def test_its_own_error_is_told(self, exit_status):
        refused = golden.text("iperf3-3.12-refused.json")
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^iperf3: to_peer: unable to connect to server: Connection "
            "refused; look whether",
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
        ("bits_per_second", "1", "bits_per_second should .* is str"),
        ("retransmits", -1, "retransmits is -1 1"),
        ("retransmits", None, "retransmits should .* is missing"),
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
        return iperf3_result.read(direction, {direction: outcome}, 2)
