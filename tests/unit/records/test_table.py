# SPDX-License-Identifier: Apache-2.0
"""Tests of the flat table."""

import collections
import dataclasses
import json
import pathlib
import unittest

import ddt
import jsonschema

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.questions import source_judge
from rally_vmperf.records import table
from rally_vmperf.report import export
from tests.unit import made
from tests.unit.questions import golden_runs
from tests.unit.report import planted


def schema():
    """Return the JSON Schema of a row."""
    path = pathlib.Path(table.__file__).with_name("table.json")
    return json.loads(path.read_text())


def rows_of(name):
    """Return the rows of a golden run, and the judged run."""
    run = source_judge.judge_by_file(
        golden_runs.source(name), str(golden_runs.limits(name))
    )
    return [*export.list_rows([run])], run


def observations(run):
    """Return the number of values in the records by metric and side."""
    counts = collections.Counter()
    for record in run.records:
        for condition in record.repetition.conditions:
            for observation in condition.observations:
                counts[observation.sample.metric.name, "guest"] += 1
            for distribution in condition.distributions:
                for metric in distribution.values():
                    counts[metric.name, "guest"] += 1
    bare_metal = run.last.bare_metal
    references = bare_metal.references if bare_metal else {}
    for reference in references.values():
        for values in reference.repetitions:
            for observation in values:
                counts[observation.sample.metric.name, "bare_metal"] += 1
        for percentiles in reference.percentiles:
            for metric in percentiles:
                counts[metric.name, "bare_metal"] += 1
    return counts


@ddt.ddt
class TestTable(unittest.TestCase):
    """Rows of samples, figures and verdicts."""

    def test_columns(self):
        """They are the properties of the schema, in its order."""
        content = schema()
        jsonschema.Draft7Validator.check_schema(content)
        self.assertEqual([*table.Row._fields], [*content["properties"]])
        version = content["properties"]["version"]["const"]
        self.assertEqual(table.VERSION, version)
        for column, rule in content["properties"].items():
            self.assertIn("description", rule, column)

    @ddt.data(*golden_runs.journals())
    def test_golden_runs(self, name):
        """Rows are valid, and every value of the records is one of them."""
        rows, run = rows_of(name)
        checker = jsonschema.Draft7Validator(schema())
        for row in rows:
            checker.validate(json.loads(json.dumps(row.as_document())))
        samples = collections.Counter(
            (row.metric, row.side)
            for row in rows
            if row.row == "sample" and row.value is not None
        )
        self.assertEqual(observations(run), samples)
        missing = [{*measured.all_missing} for measured in run.repetitions]
        self.assertEqual(
            sum(map(len, missing)),
            sum(row.status == "missing" for row in rows),
        )

    def test_states(self):
        """Missing, void and warm-up samples are distinguished."""
        samples = planted.list_samples(planted.rows())
        (gap,) = (row for row in samples if row.status == "missing")
        self.assertEqual(
            ("disk.fio.randread.iops", "g1", 3, None),
            (gap.metric, gap.guest, gap.repetition, gap.value),
        )
        self.assertIn("no space left", gap.reason)
        void = {row.metric for row in samples if row.status == "void"}
        self.assertEqual({"network.iperf3.to_peer.throughput"}, void)
        warm_up = {row.repetition for row in samples if not row.counted}
        self.assertEqual({1}, warm_up)

    def test_skipped_condition(self):
        """It has a row with the reason."""
        condition = made.build_condition(
            1, {}, {"guests": 3}, state="skipped", skip_reason="low"
        )
        gap = repetition.Missing(
            name="repetition", machine="g2", reason="lost"
        )
        measured = made.repetition(1, [condition], missing=(gap,))
        skipped, lost = table.list_guest_rows(table.Row(), measured, ())
        self.assertEqual(
            ("skipped", "guests=3", 3, "low"),
            (
                skipped.status,
                skipped.condition,
                skipped.guests,
                skipped.reason,
            ),
        )
        self.assertEqual(
            ("missing", "g2", "repetition: lost"),
            (lost.status, lost.guest, lost.reason),
        )

    def test_tolerated_findings(self):
        """Samples with a tolerated finding are valid."""
        record = planted.records()[0]
        tolerate = {"tolerate": ["above_physical_limit"]}
        source = made.source_of([record], {"vmperf_overhead": tolerate})
        run = source_judge.judge_source(source)
        samples = planted.list_samples(export.list_rows([run]))
        self.assertEqual({"valid"}, {row.status for row in samples})
        kinds = {kind for row in samples for kind in row.findings}
        self.assertIn("above_physical_limit", kinds)

    def test_times_are_utc(self):
        """The offset of the record does not matter."""
        self.assertEqual(
            "2026-01-02T01:04:05Z",
            table.format_time("2026-01-02T03:04:05+02:00"),
        )
        self.assertIsNone(table.format_time(""))


#: A row of a run with the columns that all its rows have.
START = table.Row(run="r", question="overhead", title="t", criterion="c")
GAP = repetition.Missing(name=made.IOPS.name, machine="g2", reason="no answer")


def build_measured(**changes):
    """Return a repetition of two guests with two metrics."""
    values = {made.IOPS: [[11.0, 12.0], 13.0], made.EVENTS: [5, 6]}
    condition = made.build_condition(
        7, values, {"guests": 2, "variant": "a"}, **changes
    )
    return made.repetition(
        7,
        [condition],
        counted=False,
        expected_metrics=(made.IOPS, made.EVENTS),
        hosts={"g1": "host-1", "g2": "host-2"},
    )


def documents(rows):
    """Return the columns of rows that differ from the columns of the run."""
    start = START.as_document()
    return [
        {
            column: content
            for column, content in row.as_document().items()
            if start.get(column) != content
        }
        for row in rows
    ]


@ddt.ddt
class TestGuestRows(unittest.TestCase):
    """Each column of the rows of a repetition."""

    def list_rows(self, measured, tolerate=()):
        """Return the rows, which all belong to the run."""
        rows = [*table.list_guest_rows(START, measured, tolerate)]
        for row in rows:
            self.assertEqual(
                ("sample", "r", "overhead", "t", "c", "guest", 7, False),
                (
                    *(row.row, row.run, row.question, row.title),
                    *(row.criterion, row.side, row.repetition, row.counted),
                ),
            )
        return rows

    def test_samples(self):
        """Each has the guest, its host, the condition and the position."""
        rows = documents(self.list_rows(build_measured()))
        common = {
            "side": "guest",
            "repetition": 7,
            "counted": False,
            "condition": "guests=2, variant=a",
            "guests": 2,
            "status": "valid",
        }
        iops = {
            **common,
            "workload": "fio",
            "metric": "disk.fio.randread.iops",
            "unit": "ops/s",
            "direction": "higher",
        }
        events = {
            **common,
            "workload": "sysbench",
            "metric": "cpu.sysbench.rate",
            "unit": "events/s",
            "direction": "higher",
        }
        first = {"guest": "g1", "host": "host-1"}
        second = {"guest": "g2", "host": "host-2"}
        self.assertEqual(
            [
                {**iops, **first, "position": 1, "value": 11.0},
                {**iops, **first, "position": 2, "value": 12.0},
                {**iops, **second, "position": 1, "value": 13.0},
                {**events, **first, "position": 1, "value": 5.0},
                {**events, **second, "position": 1, "value": 6.0},
            ],
            rows,
        )
        self.assertIs(float, type(rows[-1]["value"]))

    def test_guest_without_a_host(self):
        """The cloud does not report its host."""
        measured = dataclasses.replace(build_measured(), hosts={})
        hosts = {row.host for row in self.list_rows(measured)}
        self.assertEqual({None}, hosts)

    def test_metric_without_a_tool(self):
        """It has no workload."""
        metric = dataclasses.replace(made.EVENTS, name="rate")
        condition = made.build_condition(7, {metric: [1.0]})
        measured = made.repetition(7, [condition], counted=False)
        (row,) = self.list_rows(measured)
        self.assertEqual(
            (None, "rate", None, None),
            (row.workload, row.metric, row.condition, row.guests),
        )

    @ddt.data(
        ((), "void"),
        (("above_physical_limit",), "valid"),
        (("unstable",), "void"),
    )
    @ddt.unpack
    def test_findings(self, tolerate, status):
        """A void finding of the repetition or the condition voids a metric."""
        void = made.build_findings("above_physical_limit", made.IOPS.name)
        unstable = made.build_findings(
            "unstable", "g1", metrics=(made.EVENTS.name,)
        )
        for in_condition, in_repetition in (
            (void, unstable),
            (unstable, void),
        ):
            measured = dataclasses.replace(
                build_measured(findings=in_condition * 2),
                findings=in_repetition,
            )
            states = {
                (row.metric, row.status, row.findings)
                for row in self.list_rows(measured, tolerate)
            }
            self.assertEqual(
                {
                    (made.IOPS.name, status, ("above_physical_limit",)),
                    (made.EVENTS.name, "valid", ("unstable",)),
                },
                states,
            )

    def test_gaps(self):
        """Each gap of a condition or of the repetition is one row."""
        unknown = repetition.Missing(name="fio", machine="g1", reason="lost")
        condition = made.build_condition(
            7, {}, {"guests": 2}, missing=(GAP, GAP, unknown)
        )
        measured = made.repetition(
            7,
            [condition],
            counted=False,
            expected_metrics=(made.IOPS,),
            hosts={"g2": "host-2"},
            missing=(unknown, unknown),
        )
        common = {"side": "guest", "repetition": 7, "counted": False}
        level = {**common, "condition": "guests=2", "guests": 2}
        known_gap = {
            "guest": "g2",
            "host": "host-2",
            "workload": "fio",
            "metric": "disk.fio.randread.iops",
            "unit": "ops/s",
            "direction": "higher",
            "status": "missing",
            "reason": "no answer",
        }
        other_gap = {
            "guest": "g1",
            "status": "missing",
            "reason": "fio: lost",
        }
        self.assertEqual(
            [
                {**level, **known_gap},
                {**level, **other_gap},
                {**common, **other_gap},
            ],
            documents(self.list_rows(measured)),
        )


class TestBareMetalRows(unittest.TestCase):
    """Each column of the rows of a baseline."""

    def test_samples(self):
        """Percentiles of all copies together have no guest."""
        reference = dataclasses.replace(
            made.build_reference(
                [{made.IOPS: [9.0, 8.0]}, {made.IOPS: [7.0, 6.0]}]
            ),
            percentiles=({}, {made.LATENCY: 1}),
        )
        common = {
            "side": "bare_metal",
            "time": "2026-01-02T03:04:05Z",
            "guests": 2,
            "host": "compute-1",
            "counted": True,
            "position": 1,
            "status": "valid",
        }
        iops = {
            **common,
            "workload": "fio",
            "metric": "disk.fio.randread.iops",
            "unit": "ops/s",
            "direction": "higher",
        }
        first, second = {"guest": "copy-1"}, {"guest": "copy-2"}
        rows = documents(table.list_bare_metal_rows(START, 2, reference))
        self.assertEqual(
            [
                {**iops, **first, "repetition": 1, "value": 9.0},
                {**iops, **second, "repetition": 1, "value": 8.0},
                {**iops, **first, "repetition": 2, "value": 7.0},
                {**iops, **second, "repetition": 2, "value": 6.0},
                {
                    **common,
                    "workload": "fio",
                    "metric": "disk.fio.randread.latency_p99",
                    "unit": "s",
                    "direction": "lower",
                    "repetition": 2,
                    "value": 1.0,
                },
            ],
            rows,
        )
        self.assertIs(float, type(rows[-1]["value"]))

    def test_unknown_machine(self):
        """An imported baseline has no machine and no time."""
        reference = dataclasses.replace(
            made.reference({made.IOPS: (9.0,)}), machine="", recorded_at=""
        )
        (row,) = table.list_bare_metal_rows(START, None, reference)
        self.assertEqual((None,) * 3, (row.host, row.time, row.guests))


@ddt.ddt
class TestFigureRow(unittest.TestCase):
    """Each column of the row of a figure."""

    def test_figure(self):
        """It has the criterion, the metric, the subject and the interval."""
        value = verdict.FigureValue(
            name="overhead",
            unit="%",
            subject="worst guest",
            guest="g2",
            guests=4,
            variant="pinned",
            value=3.0,
            low=1.0,
            high=5.0,
            limit=4.0,
            status="inconclusive",
            reason="too few",
        )
        row = table.build_figure_row(START, made.IOPS, value, ("unstable",))
        expected = {
            "row": "figure",
            "condition": "guests=4, variant=pinned",
            "guests": 4,
            "guest": "g2",
            "workload": "fio",
            "metric": "disk.fio.randread.iops",
            "unit": "%",
            "direction": "higher",
            "figure": "overhead",
            "subject": "worst guest",
            "value": 3.0,
            "low": 1.0,
            "high": 5.0,
            "limit": 4.0,
            "status": "inconclusive",
            "reason": "too few",
            "findings": ("unstable",),
        }
        self.assertEqual([expected], documents([row]))

    @ddt.data(
        ({}, None),
        ({"guests": 4}, "guests=4"),
        ({"variant": "pinned"}, "variant=pinned"),
    )
    @ddt.unpack
    def test_without_parts(self, parts, condition):
        """Columns that do not apply are omitted."""
        value = verdict.FigureValue(name="overhead", unit="%", **parts)
        row = table.build_figure_row(START, made.IOPS, value, ())
        self.assertEqual(condition, row.condition)
        self.assertEqual(parts.get("guests"), row.guests)
        empty = (row.guest, row.subject, row.value, row.status, row.reason)
        self.assertEqual((None,) * 5, empty)


@ddt.ddt
class TestRow(unittest.TestCase):
    """Rows as documents, and their counters."""

    def test_defaults(self):
        """Columns that do not apply are absent; zero and "" apply."""
        empty = {
            **dict.fromkeys(("run", "question", "title"), ""),
            **{"version": table.VERSION, "row": "sample"},
        }
        self.assertEqual(empty, table.Row().as_document())
        row = table.Row(value=0.0, counted=False)
        self.assertEqual(
            {**empty, "value": 0.0, "counted": False}, row.as_document()
        )

    @ddt.data(
        ({"status": "missing"}, ["missing"]),
        ({"status": "skipped", "side": "guest"}, ["skipped"]),
        ({"value": 0.0, "side": "guest", "counted": True}, ["guest"]),
        (
            {"value": 1.0, "side": "guest", "status": "void"},
            ["guest", "warm-up", "void"],
        ),
        (
            {"value": 1.0, "side": "bare_metal", "counted": True},
            ["bare metal"],
        ),
    )
    @ddt.unpack
    def test_counters(self, columns, names):
        """They are among those of summaries."""
        self.assertEqual(names, table.count_names(table.Row(**columns)))
        self.assertLessEqual({*names}, {*table.COUNTS})
