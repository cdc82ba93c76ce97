# SPDX-License-Identifier: Apache-2.0
"""Tests of records as judges see them."""

import dataclasses
import json
import math
import unittest

import ddt

from rally_vmperf import formats
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.records import model
from tests.unit import made

RATE = "cpu.sysbench.rate"


def columns(values):
    """Return the samples of a guest as documents have them."""
    return {"machines": ["g1"], "values": values}


@ddt.ddt
class TestDecode(unittest.TestCase):
    """A record becomes a repetition."""

    def written(self, **changes):
        """Return a record that was changed, as it is read again."""
        return model.shorten(dataclasses.replace(made.record(), **changes))

    def test_metrics(self):
        """Additivity and resolution are encoded if they are known."""
        metrics = (
            dataclasses.replace(made.LATENCY, resolution=0.01, step=1e-6),
            made.TIME,
            dataclasses.replace(made.IOPS, additive=False),
            made.COUNT,
        )
        metrics_by_name = {
            metric.name: metric
            for metric in self.written(metrics=metrics).metrics
        }
        self.assertEqual(
            [
                (False, 0.01, 1e-6),
                (True, None, None),
                (False, None, None),
                (False, None, None),
            ],
            [
                (metric.additive, metric.resolution, metric.step)
                for metric in (
                    metrics_by_name[metric.name] for metric in metrics
                )
            ],
        )
        # A metric with samples is defined, whether it was listed or not.
        self.assertTrue(metrics_by_name[RATE].additive)

    def test_findings(self):
        """A severity is written if it is not that of the kind."""
        findings = (
            finding.Finding(
                "tool_version_differs",
                "g1",
                "fio",
                metrics=("cpu.x", "cpu.y"),
                severity_override="warning",
            ),
            *made.build_findings("emulated_guest"),
        )
        document = made.document(made.record(findings=findings))
        first, second = document["findings"]
        self.assertEqual("warning", first["severity_override"])
        self.assertEqual({"kind", "subject", "detail"}, {*second})
        self.assertEqual(findings, model.decode(document).repetition.findings)

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
            self.assertEqual(rebooted, record.repetition.rebooted)

    def test_a_fingerprint_of_other_types(self):
        """It is rejected with its path before it is read."""
        for key, value in (
            ("threads", "16"),
            ("memory_bytes", 8.0),
            ("network_interfaces", ["eth0"]),
        ):
            record = made.document(made.record())
            record["bare_metal"]["fingerprint"] = {key: value}
            place = rf"bare_metal\.fingerprint\.{key}"
            with self.assertRaisesRegex(formats.FormatError, place):
                model.FORMAT.decode(record)

    def test_everything_arrives(self):
        """Samples, reference, what is missing and what was seen."""
        gap = repetition.Missing(name="cpu.x", machine="g1", reason="killed")
        record = made.record(
            findings=made.build_findings("emulated_guest"),
            missing=(gap,),
            state="incomplete",
        )
        entry = model.decode(made.document(record)).repetition
        self.assertEqual((2, 3), (entry.number, entry.planned_repetitions))
        only = entry.condition
        self.assertEqual("incomplete", only.state)
        self.assertEqual(90.0, only.observations[0].sample.value)
        self.assertEqual("events/s", entry.expected_metrics[0].unit)
        self.assertEqual("emulated_guest", only.findings[0].kind)
        self.assertEqual("killed", only.missing[0].reason)
        self.assertEqual("r740", only.reference.name)
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
    def test_samples(self, values, sources):
        """Each machine has none, one or several."""
        condition = made.build_condition(2, {made.EVENTS: values})
        record = made.record(conditions=[condition])
        observations = record.repetition.condition.observations
        self.assertEqual(
            sources, [observation.source for observation in observations]
        )
        self.assertEqual(record, model.shorten(record))

    @ddt.data(
        (1 / 3, "0.33333"),
        (12345678901.0, "12346000000"),
        (250.0, "250"),
        (0.0008123456, "0.00081235"),
        (1e-12, "1e-12"),
        (7, "7"),
    )
    @ddt.unpack
    def test_digits(self, value, written):
        """More than those to which any tool is exact."""
        record = made.record(rate=value)
        (only,) = model.FORMAT.encode(record)["conditions"]
        (row,) = only["observations"]["values"].values()
        self.assertEqual(f"[{written}]", json.dumps(row))

    @ddt.data(
        {},
        {"levels": (3, 1, 2), "number": 2, "counted": False},
        {"hosts": 2, "bare_metal": (1, 2)},
    )
    def test_levels(self, arguments):
        """Each condition has its own samples, machines and bare metal."""
        record = model.shorten(made.density_record(**arguments))
        read = record.repetition
        for level in read.conditions:
            guests = level.axes["guests"]
            self.assertEqual(
                guests * arguments.get("hosts", 1), len(level.machines)
            )
            sources = {
                observation.source for observation in level.observations
            }
            self.assertEqual(set(level.machines), sources)
            self.assertEqual(
                guests in arguments.get("bare_metal", ()),
                bool(level.reference.repetitions),
            )
            for rows in level.reference.repetitions:
                self.assertEqual(guests, len({row.source for row in rows}))
        last = record.machines[-1]
        self.assertEqual(last.host, read.hosts[last.name])

    def test_losses(self):
        """Conditions have their missing guest or their reason."""
        record = made.kill(made.density_record(), 3, "g2")
        skipped = made.build_condition(
            2, {}, {"guests": 4}, state="skipped", skip_reason="total falls"
        )
        conditions = (*record.repetition.conditions, skipped)
        record = made.with_fields(record, conditions=conditions)
        read = model.shorten(record).repetition
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
        read = made.record(conditions=[]).repetition
        self.assertEqual((), read.condition.observations)
        metrics = read.condition.expected_metrics
        self.assertEqual(read.expected_metrics, metrics)
        with self.assertRaisesRegex(ValueError, "has 3 conditions"):
            made.density_record().repetition.condition  # noqa: B018


@ddt.ddt
class TestOutput(unittest.TestCase):
    """Records travel in Rally's output, and nothing else passes for one."""

    def iteration(self, record):
        """Return an iteration as Rally hands it to an SLA."""
        return {
            "output": {
                "additive": [model.request_chart("Title", record)],
                "complete": [model.encode_output(record)],
            }
        }

    def test_found_again(self):
        """A record in an output is found and decoded."""
        record = made.record()
        iteration = self.iteration(record)
        self.assertEqual(record, model.find_record(iteration))
        self.assertEqual(2, model.decode_iteration(iteration).number)

    @ddt.data(
        {},
        {"output": {"complete": []}},
        {"output": {"complete": [{"chart_plugin": "Pie", "data": []}]}},
        {"output": {"complete": [{"chart_plugin": model.CHART}]}},
    )
    def test_no_record(self, iteration):
        """An iteration without one yields None."""
        self.assertIsNone(model.decode_iteration(iteration))

    @ddt.data(
        {"version": 1},
        {"version": 5},
        {"observations": columns({RATE: [-1]})},
        {"observations": columns({"unexplained": [1]})},
        {"observations": columns({RATE: ["1"]})},
        {"observations": columns({RATE: [["1"]]})},
        {"observations": columns({RATE: [1, 2]})},
        {"axes": {"guests": "x"}},
        {"axes": {"guests": 0}},
        {"axes": {"guests": 100001}},
        {"axes": {"guests": 10**30}},
        {"findings": [{"kind": "made_up", "subject": "g1", "detail": ""}]},
        {"expected_metrics": ["unexplained"]},
        {"conditions": None},
        {"order": None},
        {"raw_file": {"name": "../x", "sha256": "0" * 64}},
    )
    def test_foreign_record(self, changes):
        """Other documents are rejected with an error."""
        record = made.document(made.record())
        for key, value in changes.items():
            in_condition = key in ("observations", "axes")
            mapping = record["conditions"][0] if in_condition else record
            mapping[key] = value
        iteration = self.iteration(made.record())
        iteration["output"]["complete"][0]["data"] = record
        self.assertIsNone(model.decode_iteration(iteration))

    def test_place_is_named(self):
        """The schema's error names the place in the document."""
        with self.assertRaisesRegex(formats.FormatError, r"\$\.shape"):
            model.FORMAT.decode(
                {**made.document(made.record()), "shape": {"vcpus": 0}}
            )

    @ddt.data(
        ({"shape": {"vcpus": 1}}, r"\$\.shape\.memory_mib: is required"),
        ({"started_at": "2026-01-02"}, "'2026-01-02': must be a time"),
        ({"finished_at": 5}, "finished_at: 5: must be a valid string"),
        ({"number": True}, "number: True: must be a valid integer"),
        ({"number": 1.0}, "number: 1.0: must be a valid integer"),
        ({"x\x1b": 1}, r"\$\.x[^\x1b]*: is not a known key"),
        ({"order": {"seed": math.nan}}, "seed: nan: must be a valid integer"),
        ({"machines": [{"name": 1e999}]}, "machines.0..name: inf: must"),
        ({"machines": [{}] * 100_000}, "200000 values are not valid"),
        ({"task": "x" * 100_000}, "task: 'xxx.*': must have at most 64"),
        ({"metrics": {"m": {"unit": 3}}}, r"\$\.metrics\.m\.unit: 3: must"),
        ({"version": "4"}, r"\$\.version: must be 4"),
    )
    @ddt.unpack
    def test_the_first_error(self, changes, message):
        """It is one short line with the path, the value and the rule."""
        document = {**made.document(made.record()), **changes}
        with self.assertRaisesRegex(formats.FormatError, message) as caught:
            model.decode(document)
        self.assertLess(len(str(caught.exception)), 400)
        self.assertTrue(str(caught.exception).isprintable())

    def test_no_object(self):
        for document in (None, [], "x"):
            with self.assertRaisesRegex(formats.FormatError, "an object"):
                model.decode(document)

    def test_a_field_of_another_type_is_written(self):
        """A record that is not written is lost."""
        record = dataclasses.replace(made.record(), started_at=7)
        document = model.FORMAT.encode(record)
        self.assertEqual(7, document["started_at"])
        with self.assertRaisesRegex(formats.FormatError, r"\$\.started_at"):
            model.decode(document)

    def test_the_mark_calls_for_the_chart_of_a_run(self):
        """With data that Rally can add up."""
        mark = model.request_chart("Title", made.record())
        self.assertEqual("VMPerfRun", mark["chart_plugin"])
        self.assertEqual([["missing measurements", 0]], mark["data"])
