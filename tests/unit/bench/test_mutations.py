import pathlib
import random
import re
import unittest

from rally_vmperf.workloads import registry
from tests.bench import mutations
from tests.unit.workloads import golden

_PAGE = pathlib.Path("doc/source/contributor/checked.rst")


class MutationsTestCase(unittest.TestCase):
    """Outputs that were cut or swapped never give other values."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.table = mutations.table(seed=7, tries=12)

    def test_no_mutation_gives_other_values(self):
        other = {name: ends["other"] for name, ends in self.table.items()}
        self.assertEqual(dict.fromkeys(self.table, 0), other)
        for name, ends in self.table.items():
            self.assertGreater(ends["rejected"], 0, name)

    def test_a_missing_or_an_additional_value_is_another_one(self):
        true = {"cpu.sysbench.rate": 100.0}
        for mutated, end in (
            (None, "rejected"),
            ({**true}, "same"),
            ({"cpu.sysbench.rate": 100.1}, "other"),
            ({}, "other"),
            ({**true, "cpu.sysbench.latency_p95": 1.0}, "other"),
        ):
            self.assertEqual(end, mutations.judge(true, mutated))

    def test_outputs_of_other_arguments_are_refused(self):
        """Arguments that no line of an output shows are the exception."""
        self.assertEqual(mutations.NOT_TOLD, mutations.unnoticed_arguments())
        page = _PAGE.read_text()
        for name, keys in mutations.NOT_TOLD.items():
            for key in keys:
                self.assertIn(f"``{name}.{key}``", page)

    def test_outputs_without_their_end_are_refused(self):
        """Unless it is the end of another run in the same output."""
        believed = mutations.believed_parts(random.Random(1), 100)
        runs = {golden.workload(name).name for name, _ in believed}
        self.assertEqual(mutations.TWO_RUNS, runs)

    def test_outputs_of_other_tools_are_refused(self):
        self.assertEqual([], list(mutations.believed_foreign()))

    def test_the_page_tells_of_workloads_and_of_no_other_value(self):
        rows = re.findall(
            r"^(\w+) +\d+ +\d+ +\d+ +(\d+)$", _PAGE.read_text(), re.M
        )
        table = dict(rows)
        self.assertLessEqual({"fio", "sysbench", "mbw"}, table.keys())
        self.assertLessEqual(table.keys(), set(registry.workload_names()))
        self.assertEqual({"0"}, set(table.values()))
