"""Tests of records as judges see them."""

import copy
import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.records import codec
from rally_vmperf.records import output
from rally_vmperf.records import parts
from rally_vmperf.records import schema
from tests.unit import made

RATE = "cpu.sysbench.rate"


@ddt.ddt
class TestDecode(unittest.TestCase):
    """A record becomes a repetition."""

    def test_what_adds_up(self):
        """Is kept with the metric, whatever its name; else a rate does."""
        metrics = (
            made.TIME,
            made.LATENCY,
            dataclasses.replace(made.EVENTS, additive=False),
        )
        found = parts.decode_metrics(parts.encode_metrics(metrics))
        self.assertEqual(
            [True, False, False], [one.additive for one in found.values()]
        )
        found = parts.decode_metrics({"x": made.RATE})
        self.assertTrue(found["x"].additive)

    def test_how_far_a_tool_rounds(self):
        """Is kept where it is known."""
        rounded = dataclasses.replace(made.LATENCY, resolution=0.01, step=1e-6)
        found = parts.decode_metrics(
            parts.encode_metrics((rounded, made.TIME))
        )
        self.assertEqual(
            [(0.01, 1e-6), (None, None)],
            [(one.resolution, one.step) for one in found.values()],
        )

    def test_severity_of_a_finding(self):
        """It is recorded if it is not that of the kind."""
        finding_ = finding.Finding(
            "tool_version_differs", "g1", "fio", severity_override="warning"
        )
        documents = parts.encode_findings([finding_])
        self.assertEqual("warning", documents[0]["severity_override"])
        record = schema.check(made.record(findings=documents))
        self.assertEqual((finding_,), codec.decode(record).findings)
        self.assertEqual("warning", finding_.severity)
        documents = parts.encode_findings(
            [finding.Finding("tool_version_differs", "g1", "bzip2")]
        )
        self.assertNotIn("severity_override", documents[0])

    def test_reboots(self):
        """With reboots, each repetition of a run is another boot."""
        for options, rebooted in (
            ({"boot": "each_condition"}, True),
            ({}, False),
            ({"reboot": "never"}, False),
            ({"reboot": "between_repetitions"}, True),
            ({"reboot": "between_workloads"}, True),
        ):
            record = made.record(options=options)
            self.assertEqual(rebooted, codec.decode(record).rebooted)

    def test_a_fingerprint_of_other_types(self):
        """It is refused with its place, before anybody reads it."""
        for key, value in (
            ("threads", "16"),
            ("memory_bytes", 8.0),
            ("network_interfaces", ["eth0"]),
        ):
            record = made.record()
            record["reference"]["fingerprint"] = {key: value}
            place = rf"reference\.fingerprint\.{key}"
            with self.assertRaisesRegex(schema.RecordError, place):
                schema.check(record)

    def test_findings(self):
        """Those about some metrics name them; others need no more space."""
        found = (
            *made.seen("tool_version_differs", metrics=("cpu.x", "cpu.y")),
            *made.seen("emulated_guest"),
        )
        plain = parts.encode_findings([*found, found[0]])
        self.assertEqual(2, len(plain))
        self.assertEqual(["cpu.x", "cpu.y"], plain[0]["metrics"])
        self.assertNotIn("metrics", plain[1])
        record = made.record(findings=plain)
        schema.check(record)
        self.assertEqual(found, codec.decode(record).findings)

    def test_everything_arrives(self):
        """Samples, reference, what is missing and what was seen."""
        found = {"kind": "emulated_guest", "subject": "g1", "detail": "TCG"}
        lost = {"name": "cpu.x", "machine": "g1", "reason": "killed"}
        entry = codec.decode(
            made.record(findings=[found], missing=[lost], state="incomplete")
        )
        self.assertEqual((2, 3), (entry.number, entry.planned_repetitions))
        only = entry.condition
        self.assertEqual("incomplete", only.state)
        self.assertEqual(90.0, only.observations[0].sample.value)
        self.assertEqual("events/s", entry.expected_metrics[0].unit)
        self.assertEqual("emulated_guest", only.findings[0].kind)
        self.assertEqual("killed", only.missing[0].reason)
        self.assertEqual("metal", only.reference.name)
        self.assertEqual(
            [100.0, 101.0, 99.0],
            [rows[0].sample.value for rows in only.reference.repetitions],
        )

    @ddt.data(
        ([1.5, 2.5], ["g1", "g2"]),
        ([None, 2.5], ["g2"]),
        ([[1.5, 3.5], 2.5], ["g1", "g1", "g2"]),
        ([None, None], []),
    )
    @ddt.unpack
    def test_samples_return(self, values, sources):
        """Encoding and decoding are inverse, whoever reported what."""
        names = ["g1", "g2"]
        metrics = parts.decode_metrics({RATE: made.RATE})
        decoded = parts.decode_samples({RATE: values}, names, metrics)
        self.assertEqual(sources, [one.source for one in decoded])
        self.assertEqual(
            {RATE: values} if sources else {},
            parts.encode_samples(decoded, names),
        )

    @ddt.data(
        (1 / 3, 33333, 5),
        (12345678901.0, 12346, -6),
        (250.0, 25, -1),
        (0.0008123456, 81235, 8),
        (1e-12, 1, 12),
        (7, 7, 0),
    )
    @ddt.unpack
    def test_packed(self, value, whole, decimals):
        """With more digits than any tool is exact to, and back again."""
        record = codec.pack(made.record(rate=value, reference=None))
        (only,) = record["conditions"]
        self.assertEqual({RATE: [whole]}, only["samples"])
        self.assertEqual(decimals, record["metrics"][RATE]["decimals"])
        read = codec.decode(schema.check(record)).condition
        self.assertEqual(
            float(f"{value:.5g}"), read.observations[0].sample.value
        )

    def test_packed_alike_on_both_sides(self):
        """With one number of decimals, zero and several values included."""
        record = made.record(rate=[0.5, 12.25])
        record["reference"]["copies"][0]["repetitions"][0][RATE] = [None]
        found = codec.decode(codec.pack(record))
        self.assertEqual(codec.decode(record), found)

    @ddt.data(
        {},
        {"levels": (3, 1, 2), "number": 2, "counted": False},
        {"hosts": 2, "bare_metal": (1, 2)},
    )
    def test_levels(self, given):
        """Each condition has its own samples, machines and bare metal."""
        record = schema.check(made.density_record(**given))
        read = codec.decode(record)
        for level in read.conditions:
            guests = level.axes["guests"]
            self.assertEqual(
                guests * given.get("hosts", 1), len(level.machines)
            )
            sources = {one.source for one in level.observations}
            self.assertEqual(set(level.machines), sources)
            self.assertEqual(
                guests in given.get("bare_metal", ()),
                bool(level.reference.repetitions),
            )
            for rows in level.reference.repetitions:
                self.assertEqual(guests, len({one.source for one in rows}))
        last = record["machines"][-1]
        self.assertEqual(last["host"], read.hosts[last["name"]])

    def test_losses(self):
        """A lost guest and a skipped level are told by their conditions."""
        record = made.density_record()
        made.lose(record, 3, "g2")
        record["conditions"].append(made.skipped(4, 4, "total falls"))
        read = codec.decode(schema.check(record))
        self.assertEqual("incomplete", read.state)
        self.assertEqual(4, len(read.all_missing))
        self.assertEqual((), read.missing)
        (four,) = read.select(guests=4).conditions
        self.assertEqual("total falls", four.skip_reason)
        self.assertEqual((), four.expected_metrics)
        self.assertEqual(repetition.NO_REFERENCE, four.reference)
        self.assertEqual((), read.select(guests=5).conditions)

    def test_the_only_condition(self):
        """It is empty where there is none, and not one of several."""
        read = codec.decode(made.record(conditions=[]))
        self.assertEqual((), read.condition.observations)
        metrics = read.condition.expected_metrics
        self.assertEqual(read.expected_metrics, metrics)
        with self.assertRaisesRegex(ValueError, "has 3 conditions"):
            codec.decode(made.density_record()).condition  # noqa: B018


@ddt.ddt
class TestOutput(unittest.TestCase):
    """Records travel in Rally's output, and nothing else passes for one."""

    def iteration(self, record):
        """Return an iteration as Rally hands it to an SLA."""
        return {
            "output": {
                "additive": [output.chart_request("Title", made.record())],
                "complete": [output.encode(record)],
            }
        }

    def test_found_again(self):
        """A record in an output is found and decoded."""
        iteration = self.iteration(made.record())
        self.assertEqual(made.record(), output.find_record(iteration))
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
        {"version": 1},
        {"version": 4},
        {"samples": {RATE: [-1]}},
        {"samples": {"unexplained": [1]}},
        {"samples": {RATE: ["1"]}},
        {"samples": {RATE: [["1"]]}},
        {"samples": {RATE: [1, 2]}},
        {"axes": {"guests": "x"}},
        {"axes": {"guests": 0}},
        {"axes": {"guests": 100001}},
        {"axes": {"guests": 10**30}},
        {"findings": [{"kind": "made_up", "subject": "g1", "detail": ""}]},
        {"expected_metrics": ["unexplained"]},
        {"conditions": None},
        {"order": None},
        {"files": {}},
    )
    def test_foreign_record(self, changes):
        """What cannot be meant is no record, not a crash."""
        record = copy.deepcopy(made.record())
        for key, value in changes.items():
            in_condition = key in ("samples", "axes")
            part = record["conditions"][0] if in_condition else record
            part[key] = value
        iteration = self.iteration(made.record())
        iteration["output"]["complete"][0]["data"] = record
        self.assertIsNone(output.decode(iteration))

    def test_place_is_named(self):
        """The schema's error names the place in the document."""
        with self.assertRaisesRegex(schema.RecordError, r"\$\.shape"):
            schema.check(made.record(shape={"vcpus": 0}))

    def test_the_mark_calls_for_the_chart_of_a_run(self):
        """With data that Rally can add up."""
        mark = output.chart_request("Title", made.record())
        self.assertEqual("VMPerfRun", mark["chart_plugin"])
        self.assertEqual([["missing measurements", 0]], mark["data"])
