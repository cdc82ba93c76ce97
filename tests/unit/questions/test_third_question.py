# SPDX-License-Identifier: Apache-2.0
"""A third question needs no change of the package."""

import argparse
import io
import json
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import jsonschema
import yaml
from rally.common import validation

from rally_vmperf.cmd import report
from rally_vmperf.cmd import task_file
from rally_vmperf.judging import verdict_table
from rally_vmperf.measurement import finding
from rally_vmperf.plugins import criteria
from rally_vmperf.plugins import rally_charts
from rally_vmperf.plugins import validators
from rally_vmperf.questions import source_judge
from rally_vmperf.questions import table
from rally_vmperf.records import journal
from rally_vmperf.records import model
from rally_vmperf.records import sources
from tests.unit import made
from tests.unit.questions import variants
from tests.unit.runs import golden
from tests.unit.runs import whole

LIMITS = {"variant": "virtio", "max_percent": {"cpu.*": 5}}
CONFIG = {
    "name": variants.SCENARIO,
    "args": {"workloads": whole.WORKLOADS, "variants": ["plain", "virtio"]},
    "contexts": {"vmperf_guests@openstack": {"count": 1}},
    "runner_type": "serial",
    "runner": {"times": 3},
    "sla": {"other_variant": LIMITS},
}


class Scenario:
    """A substitute for Rally's plugin, which has a name."""

    @staticmethod
    def get_name():
        """Return the name of the scenario."""
        return variants.SCENARIO


class TestThirdQuestion(unittest.TestCase):
    """It is registered, and all front doors know it."""

    def setUp(self):
        """Register it for the length of a test."""
        super().setUp()
        patch = mock.patch.dict(table._QUESTIONS)
        patch.start()
        self.addCleanup(patch.stop)
        table.register(variants.QUESTION)
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )

    def validate(self, **changes):
        """Validate the task as Rally does."""
        options = mock.Mock(baseline_dir="/none", journal_dir=self.folder)
        with (
            mock.patch.object(validators, "CONF", mock.Mock(vmperf=options)),
            mock.patch.object(
                validators, "warn_about_killed_runs", autospec=True
            ),
        ):
            validators.Task().validate(
                {}, {**CONFIG, **changes}, Scenario, None
            )

    def records(self):
        """Return what three repetitions left in the journal."""
        rates = [1000, 900, 1001, 902, 1002, 901]
        machine = golden.Machine("g1", [golden.sysbench(r) for r in rates])
        run_journal = journal.Journal(self.folder, "w")
        run_request = whole.build_request(
            self.folder,
            None,
            machine,
            question="variants",
            journal=run_journal,
        )
        arguments = variants.Arguments(
            workloads=[], variants=["plain", "virtio"]
        )
        run = run_request.run_cache.get_run(
            "w", lambda: variants.QUESTION.start(run_request, arguments)
        )
        self.addCleanup(run_request.run_cache.close, "w")
        for number in (1, 2, 3):
            run.repeat(number)
        return run_journal.read()

    def test_validation(self):
        """Its own checks, and those of all questions."""
        self.validate()
        for changes, message in (
            ({"runner_type": "rps"}, "runner=rps"),
            (
                {"args": {**CONFIG["args"], "variants": ["plain"]}},
                "variants: at least two",
            ),
            (
                {"sla": {"other_variant": {**LIMITS, "variant": "x"}}},
                "variant: 'x' is none of plain, virtio",
            ),
            (
                {
                    "sla": {
                        "other_variant": {**LIMITS, "max_percent": {"d": 1}}
                    }
                },
                "sla other_variant max_percent: 'd' matches no metric",
            ),
            (
                {"sla": {"vmperf_overhead": {"max_percent": {"*": 1}}}},
                "applies to VMPerf.overhead, not to Other.variants",
            ),
        ):
            with self.assertRaisesRegex(validation.ValidationError, message):
                self.validate(**changes)

    def test_commands_read_its_tasks(self):
        """The numbers of guests and minutes come from the table, too."""
        path = self.folder / "reach.yaml"
        subtask = {
            "title": "One",
            "scenario": {variants.SCENARIO: CONFIG["args"]},
            "contexts": CONFIG["contexts"],
        }
        path.write_text(
            yaml.safe_dump({"version": 2, "title": "T", "subtasks": [subtask]})
        )
        ((task_request, task_question),) = task_file.read_task(
            str(path),
            argparse.Namespace(
                config_file=os.devnull,
                task_args=None,
                task_args_file=None,
                settings=None,
            ),
        )
        self.assertIs(table.questions()["variants"], task_question)
        self.assertEqual((1,), task_question.list_copies(task_request))
        self.assertEqual(3, task_question.estimate_minutes(task_request))

    def test_records_and_verdict(self):
        """Each repetition has its variants, the SLA judges one of them."""
        sla = criteria.register_sla(variants.CRITERION)
        self.addCleanup(sla.unregister)
        jsonschema.validate(LIMITS, sla.CONFIG_SCHEMA)
        judging = sla(LIMITS)
        for record in self.records():
            measured = record.repetition
            self.assertEqual("complete", measured.state)
            self.assertEqual(
                [{"kernel": "plain"}, {"kernel": "virtio"}],
                [condition.axes for condition in measured.conditions],
            )
            judging.add_iteration(
                {
                    "error": [],
                    "output": {"complete": [model.encode_output(record)]},
                }
            )
        result = judging.result()
        self.assertFalse(result["success"])
        self.assertIn("failed: 1 of 2", result["detail"])
        self.assertIn("overhead 10.0 %", result["detail"])

    def test_validity(self):
        """It needs no limits, and takes the judge from the table."""
        swap = finding.Finding(kind="swap_or_oom", subject="g1", detail="")
        for findings, status in (((), "passed"), ((swap,), "void")):
            sla = criteria.SLAS["vmperf_valid"]({})
            for record in self.records():
                changed = made.with_fields(record, findings=findings)
                sla.add_iteration(
                    {
                        "error": [],
                        "output": {"complete": [model.encode_output(changed)]},
                    }
                )
            result = sla.result()
            self.assertEqual(status == "passed", result["success"])
            self.assertRegex(result["detail"], f"^{status}: ")

    def test_other_questions_stay_unreadable(self):
        """A record of no known question is not judged."""
        sla = criteria.SLAS["vmperf_valid"]({})
        for record in self.records():
            changed = made.with_fields(record, question="unknown")
            sla.add_iteration(
                {
                    "error": [],
                    "output": {"complete": [model.encode_output(changed)]},
                }
            )
        self.assertRegex(sla.result()["detail"], "^void: nothing was measured")

    def test_table_of_verdicts(self):
        """It shows the rows of its judge, and the validity."""
        run = source_judge.judge_source(
            sources.Source(
                question="variants",
                scenario=variants.SCENARIO,
                records=self.records(),
                criteria={"other_variant": LIMITS, "vmperf_valid": {}},
                folder=self.folder,
            )
        )
        lines = verdict_table.lines(run)
        self.assertIn("Variant of plain, virtio: failed", lines[0])
        (row,) = [line for line in lines if line.startswith("failed")]
        self.assertRegex(row, r"cpu.sysbench.rate +overhead 10.0 % .*5 %")
        self.assertIn("Validity of plain, virtio: passed", "\n".join(lines))

    def test_report(self):
        """The command and Rally's report have its section."""
        records = self.records()
        limits = self.folder / "limits.yaml"
        limits.write_text(json.dumps({"other_variant": LIMITS}))
        page = self.folder / "page.html"
        app = mock.Mock(stdout=io.StringIO())
        command = report.Report(app, None)
        command.run(
            command.get_parser("report").parse_args(
                [
                    str(self.folder / "w.jsonl"),
                    *("--limits", str(limits), "-o", str(page)),
                ]
            )
        )
        self.assertIn("plain, virtio: failed", app.stdout.getvalue())
        for text in (page.read_text(), self.embedded(records)):
            self.assertIn("<h3>LOSSES</h3>", text)
            self.assertIn("by kernel and repetition", text)
            self.assertIn("<dd>plain, virtio</dd>", text)
        self.assertIn("<h1>Variants of guests</h1>", page.read_text())

    def embedded(self, records):
        """Return the page inside Rally's report."""
        workload = {
            "name": variants.SCENARIO,
            "sla": {"other_variant": LIMITS},
            "total_iteration_count": len(records),
            "data": [
                {"output": {"complete": [model.encode_output(record)]}}
                for record in records
            ],
        }
        conf = mock.Mock(vmperf=mock.Mock(journal_dir=str(self.folder)))
        with mock.patch.object(rally_charts, "CONF", conf):
            chart = rally_charts.RunChart(workload, "Variants")
            return chart.render()["data"]["embedded"]
