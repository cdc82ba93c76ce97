import json
import pathlib
import tempfile
import unittest

from rally_vmperf.records import journal
from rally_vmperf.report import sources
from tests.unit import made
from tests.unit.report import rally_results


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
        for record in made.records():
            written.append(record)
        (found,) = sources.read(str(written.path))
        self.assertEqual(made.records(), found.records)
        self.assertEqual({}, found.criteria)

    def test_journal_cut_in_the_middle_of_a_line(self):
        written = journal.Journal(self.folder, "one")
        for record in made.records():
            written.append(record)
        content = written.path.read_text()
        written.path.write_text(content[: -len(content) // 12])
        (found,) = sources.read(str(written.path))
        self.assertEqual(made.records()[:5], found.records)

    def test_results_of_rally(self):
        document = rally_results.results(
            [(made.records(), made.LIMITS), ([None], None)]
        )
        first, second = sources.read(
            self.write("task.json", json.dumps(document))
        )
        self.assertEqual(made.records(), first.records)
        self.assertEqual({"vmperf_overhead": made.LIMITS}, first.criteria)
        self.assertEqual([None], second.records)
        self.assertEqual({}, second.criteria)

    def test_kind_is_that_of_the_records_or_of_the_scenario(self):
        written = journal.Journal(self.folder, "curves")
        for record in made.density_records():
            written.append(record)
        (found,) = sources.read(str(written.path))
        self.assertEqual("density", found.kind)
        document = rally_results.results([([None], None)])
        (workload,) = document["tasks"][0]["subtasks"][0]["workloads"]
        self.assertEqual("overhead", sources.of_workload(workload).kind)
        workload["scenario"] = {"VMPerf.density": {}}
        workload["sla"] = {**made.DENSITY_LIMITS, "failure_rate": {"max": 0}}
        for one in (workload, {**workload, "name": "VMPerf.density"}):
            found = sources.of_workload(one)
            self.assertEqual("density", found.kind)
            self.assertEqual(made.DENSITY_LIMITS, found.criteria)

    def test_other_files_are_refused_in_one_line(self):
        other = rally_results.results([([None], None)])
        workload = other["tasks"][0]["subtasks"][0]["workloads"][0]
        workload["scenario"] = {"Dummy.dummy": {}}
        for path, words in (
            (self.write("a.json", "no"), "no JSON"),
            (self.write("b.json", "[]"), "no results"),
            (self.write("c.json", json.dumps(other)), "no workload"),
            (self.write("d.jsonl", "{}\n{}\n"), "line 1"),
            (str(self.folder / "none.json"), "No such file"),
            (str(self.folder / "none.jsonl"), "No such file"),
        ):
            with self.assertRaisesRegex(sources.SourceError, words) as caught:
                sources.read(path)
            self.assertNotIn("\n", str(caught.exception))
            self.assertIn(path, str(caught.exception))
