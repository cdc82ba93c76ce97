"""Tests of records as judges see them."""

import unittest

import ddt

from rally_vmperf.records import codec
from rally_vmperf.records import output
from rally_vmperf.records import schema
from tests.unit import made


class TestDecode(unittest.TestCase):
    """A record becomes a repetition."""

    def test_everything_arrives(self):
        """Samples, reference, what is missing and what was seen."""
        found = {"kind": "emulated_guest", "subject": "g1", "seen": "TCG"}
        lost = {"what": "cpu.x", "source": "g1", "reason": "killed"}
        entry = codec.decode(
            made.record(findings=[found], missing=[lost], state="incomplete")
        )
        self.assertEqual((2, 3, True), (entry.number, entry.planned, True))
        self.assertEqual("incomplete", entry.state)
        self.assertEqual(90.0, entry.observations[0].sample.value)
        self.assertEqual("events/s", entry.expected[0].unit)
        self.assertEqual("emulated_guest", entry.findings[0].kind)
        self.assertEqual("killed", entry.missing[0].reason)
        self.assertEqual("metal", entry.reference.name)
        self.assertEqual(
            [100.0, 101.0, 99.0],
            [rows[0].sample.value for rows in entry.reference.repetitions],
        )

    def test_observations_return(self):
        """Encoding and decoding are inverse."""
        record = made.record()
        metrics = codec.decode_metrics(record["metrics"])
        decoded = codec.decode_observations(record["samples"], metrics)
        self.assertEqual(record["samples"], codec.encode_observations(decoded))
        self.assertEqual(
            record["metrics"], codec.encode_metrics(metrics.values())
        )


@ddt.ddt
class TestOutput(unittest.TestCase):
    """Records travel in Rally's output, and nothing else passes for one."""

    def iteration(self, record):
        """Return an iteration as Rally hands it to an SLA."""
        return {
            "output": {
                "additive": [output.mark()],
                "complete": [output.encode(record)],
            }
        }

    def test_found_again(self):
        """A record in an output is found and decoded."""
        iteration = self.iteration(made.record())
        self.assertEqual(made.record(), output.find(iteration))
        self.assertEqual(2, output.decode(iteration).number)

    @ddt.data(
        {},
        {"output": {"complete": []}},
        {"output": {"complete": [{"chart_plugin": "Pie", "data": []}]}},
        {"output": {"complete": [{"chart_plugin": output.CHART}]}},
    )
    def test_no_record(self, iteration):
        """An iteration without one yields None."""
        self.assertIsNone(output.decode(iteration))

    @ddt.data(
        {"version": 2},
        {"samples": [made.observation("g1", "cpu.sysbench.rate", -1)]},
        {"samples": [made.observation("g1", "unexplained", 1)]},
        {"samples": [made.observation("g1", "cpu.sysbench.rate", "1")]},
        {"findings": [{"kind": "made_up", "subject": "g1", "seen": ""}]},
        {"expected": ["unexplained"]},
    )
    def test_foreign_record(self, changes):
        """What cannot be meant is no record, not a crash."""
        iteration = self.iteration(made.record(repetition=1))
        iteration["output"]["complete"][0]["data"].update(changes)
        self.assertIsNone(output.decode(iteration))

    def test_place_is_named(self):
        """The schema's error names the place in the document."""
        with self.assertRaisesRegex(schema.RecordError, r"\$\.shape"):
            schema.check(made.record(shape={"vcpus": 0}))
