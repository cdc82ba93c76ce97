"""Tests of the flat table."""

import collections
import json
import pathlib
import unittest

import ddt
import jsonschema

from rally_vmperf.measurement import repetition
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
