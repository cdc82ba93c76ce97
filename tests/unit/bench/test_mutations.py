import pathlib
import random
import re
import unittest

from rally_vmperf.workloads import registry
from tests.bench import mutations
from tests.unit.workloads import golden

_PAGE = pathlib.Path("doc/source/contributor/checked.rst")

#: Workloads whose outputs say nothing, or nothing twice.
_SILENT = {"bzip2", "job"}


class MutationsTestCase(unittest.TestCase):
    """What was cut, changed or swapped is refused where it can be."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.found = mutations.table(seed=7, tries=12)

    def test_no_contradiction_is_believed(self):
        wrong = {
            name: ends["contradicted"] for name, ends in self.found.items()
        }
        self.assertEqual(dict.fromkeys(self.found, 0), wrong)

    def test_little_is_left_that_nothing_contradicts(self):
        for name, ends in self.found.items():
            if name not in _SILENT:
                share = ends["residue"] / sum(ends.values())
                self.assertLess(share, 0.15, name)
                self.assertGreater(ends["refused"], 0, name)

    def test_a_value_beyond_what_is_left_open_contradicts(self):
        true = {"cpu.sysbench.rate": 100.0, "disk.fio.read.iops": 100.0}
        for found, end in (
            (None, "refused"),
            (true, "harmless"),
            ({**true, "cpu.sysbench.rate": 101.0}, "residue"),
            ({**true, "cpu.sysbench.rate": 120.0}, "contradicted"),
            ({**true, "disk.fio.read.iops": 100.1}, "contradicted"),
            ({"cpu.sysbench.rate": 100.0}, "contradicted"),
        ):
            self.assertEqual(end, mutations.judge(true, found))

    def test_outputs_of_other_arguments_are_refused(self):
        """But for arguments that no line of an output tells."""
        self.assertEqual(mutations.NOT_TOLD, mutations.unnoticed_arguments())
        page = _PAGE.read_text()
        for name, keys in mutations.NOT_TOLD.items():
            for key in keys:
                self.assertIn(f"``{name}.{key}``", page)

    def test_outputs_without_their_end_are_refused(self):
        """Unless it is the end of another run in the same output."""
        found = mutations.believed_parts(random.Random(1), 100)
        runs = {golden.workload(name).name for name, _ in found}
        self.assertEqual(mutations.TWO_RUNS, runs)

    def test_outputs_of_other_tools_are_refused(self):
        self.assertEqual([], list(mutations.believed_foreign()))

    def test_the_page_tells_of_workloads_and_of_no_contradiction(self):
        rows = re.findall(
            r"^   \* - (\w+)\n(?:     - \d+\n){3}     - (\d+)\n",
            _PAGE.read_text(),
            re.M,
        )
        told = dict(rows)
        self.assertLessEqual({"fio", "sysbench", "mbw"}, told.keys())
        self.assertLessEqual(told.keys(), set(registry.workload_names()))
        self.assertEqual({"0"}, set(told.values()))
