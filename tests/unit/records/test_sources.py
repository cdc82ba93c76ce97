# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import tempfile
import unittest

from rally_vmperf import errors
from rally_vmperf.records import journal
from rally_vmperf.records import model
from rally_vmperf.records import sources
from tests.unit import made
from tests.unit.report import rally_results

SCENARIOS = ("VMPerf.overhead", "VMPerf.density")


def written_records():
    """Return the records of a run, with few digits."""
    return [*map(model.shorten, made.records())]


class SourcesTestCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content)
        return str(path)

    def test_journal(self):
        written = journal.Journal(self.folder, "one")
        for record in written_records():
            written.append(record)
        (run_source,) = sources.read(str(written.path), SCENARIOS)
        self.assertEqual(written_records(), run_source.records)
        self.assertEqual({}, run_source.criteria)

    def test_journal_cut_in_the_middle_of_a_line(self):
        written = journal.Journal(self.folder, "one")
        for record in written_records():
            written.append(record)
        content = written.path.read_text()
        written.path.write_text(content[: -len(content) // 12])
        (run_source,) = sources.read(str(written.path), SCENARIOS)
        self.assertEqual([*written_records()[:5], None], run_source.records)
        (damage,) = run_source.damage_reasons
        self.assertIn("line 6 of the journal is cut off", damage)

    def test_results_of_rally(self):
        document = rally_results.results(
            [(made.records(), made.LIMITS), ([None], None)]
        )
        first, second = sources.read(
            self.write("task.json", json.dumps(document)), SCENARIOS
        )
        self.assertEqual(written_records(), first.records)
        self.assertEqual(made.LIMITS, first.criteria["vmperf_overhead"])
        self.assertEqual([None], second.records)
        self.assertNotIn("vmperf_overhead", second.criteria)

    def test_results_of_a_killed_process(self):
        """Rally has no iteration, and the journal has all repetitions."""
        document = rally_results.results([([], made.LIMITS), ([], None)])
        workloads = document["tasks"][0]["subtasks"][0]["workloads"]
        for workload in workloads:
            workload["scenario"] = {"VMPerf.overhead": {}}
        written = journal.Journal(self.folder, workloads[0]["uuid"])
        for record in written_records():
            written.append(record)
        path = self.write("task.json", json.dumps(document))
        first, second = sources.read(path, SCENARIOS, self.folder)
        self.assertEqual(written_records(), first.records)
        self.assertEqual(made.LIMITS, first.criteria["vmperf_overhead"])
        self.assertEqual([], second.records)
        # A file cannot name a journal elsewhere.
        workloads[1]["uuid"] = f"../{self.folder.name}/x/{written.path.stem}"
        path = self.write("task.json", json.dumps(document))
        folder = self.folder / "other"
        folder.mkdir()
        _, second = sources.read(path, SCENARIOS, folder)
        self.assertEqual([], second.records)

    def test_question_and_scenario(self):
        """The one by the records, the other by Rally; where they are known."""
        written = journal.Journal(self.folder, "curves")
        for record in made.density_records():
            written.append(record)
        (run_source,) = sources.read(str(written.path), SCENARIOS)
        self.assertEqual(
            ("density", ""), (run_source.question, run_source.scenario)
        )
        document = rally_results.results([([None], None)])
        (workload,) = document["tasks"][0]["subtasks"][0]["workloads"]
        workload_source = sources.of_workload(workload, "VMPerf.overhead")
        self.assertEqual(
            ("", "VMPerf.overhead"),
            (workload_source.question, workload_source.scenario),
        )

    def test_other_files_are_refused_in_one_line(self):
        other = rally_results.results([([None], None)])
        workload = other["tasks"][0]["subtasks"][0]["workloads"][0]
        workload["scenario"] = {"Dummy.dummy": {}}
        for path, message in (
            (self.write("a.json", "no"), "is damaged"),
            (self.write("b.json", "[]"), "is not a file of Rally's results"),
            (self.write("c.json", json.dumps(other)), "no workload"),
            (self.write("d.jsonl", "{}\n{}\n"), "line 1"),
            (str(self.folder / "none.json"), "No such file"),
            (str(self.folder / "none.jsonl"), "No such file"),
        ):
            with self.assertRaisesRegex(errors.VMPerfError, message) as caught:
                sources.read(path, SCENARIOS)
            self.assertNotIn("\n", str(caught.exception))
            self.assertIn(path, str(caught.exception))
