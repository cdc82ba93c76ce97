# SPDX-License-Identifier: Apache-2.0
"""Tests of the exporters that Rally runs."""

import json
import pathlib
import tempfile
import unittest

import ddt
from rally import plugins
from rally.task import exporter

from rally_vmperf.plugins import exporters
from rally_vmperf.records import sources
from rally_vmperf.report import export
from tests.unit.report import planted
from tests.unit.report import rally_results
from tests.unit.report.formats import test_junit

plugins.load()


def tasks(name="VMPerf.overhead"):
    """Return the results of a task as Rally passes them to an exporter."""
    limits = planted.LIMITS["vmperf_overhead"]
    content = rally_results.results([(planted.records(), limits)])
    for task in content["tasks"]:
        for subtask in task["subtasks"]:
            for workload in subtask["workloads"]:
                workload["name"] = name
                del workload["scenario"]
    return content["tasks"]


def make(name, destination=None, results=None):
    """Return what Rally gets from an exporter, which it validates."""
    plugin = exporter.TaskExporter.get(f"vmperf-{name}")
    results = tasks() if results is None else results
    return exporter.TaskExporter.make(plugin, results, destination)


@ddt.ddt
class TestExporters(unittest.TestCase):
    """The formats of ``rally-vmperf report``, as plugins."""

    @ddt.data(*export.NAMES)
    def test_text(self, name):
        """It is printed, or is the content of a file."""
        text = make(name)["print"]
        self.assertIn("disk.fio.randread.iops", text)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "out")
            report = make(name, str(path))
            self.assertEqual({str(path): text}, report["files"])
            self.assertEqual(path.as_uri(), report["open"])

    def test_rows(self):
        """They are those of the records, with the limits of the task."""
        rows = json.loads(make("json")["print"])["rows"]
        samples = [row for row in rows if row["row"] == "sample"]
        expected = planted.list_samples(planted.rows())
        self.assertEqual(len(expected), len(samples))
        failed = [
            row["metric"]
            for row in rows
            if row["row"] == "figure" and row.get("status") == "failed"
        ]
        self.assertEqual(["disk.fio.randread.iops"], failed)

    def test_slas_of_rally(self):
        """They have test cases of their own."""
        text = make("junit")["print"]
        (suite,) = test_junit.junitparser.JUnitXml.fromstring(text.encode())
        names = [case.classname for case in suite if case.name == "verdict"]
        self.assertEqual(["overhead.overhead", "overhead.failure_rate"], names)

    def test_other_tasks(self):
        """A task without runs of this package is rejected in one line."""
        with self.assertRaisesRegex(
            sources.SourceError, "^task .*: has no workload of rally_vmperf$"
        ):
            make("csv", results=tasks("Dummy.dummy"))

    @ddt.data(*export.NAMES)
    def test_description(self, name):
        """``rally plugin show`` prints a title and a description."""
        info = exporters.EXPORTERS[name].get_info()
        self.assertTrue(info["title"].endswith("."))
        self.assertTrue(info["description"])
