# SPDX-License-Identifier: Apache-2.0
import pathlib
import random
import re
import unittest

from rally_vmperf.workloads import registry
from tests.bench import mutations
from tests.unit import listing
from tests.unit.workloads import golden

_PAGE = pathlib.Path("doc/source/contributor/checked.rst")


def list_pairs(arguments):
    """Return the arguments by workload as <workload>.<argument>, sorted."""
    return sorted(
        f"{name}.{key}" for name, keys in arguments.items() for key in keys
    )


class MutationsTestCase(unittest.TestCase):
    """Outputs that were cut or swapped never give other values."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.table = mutations.table(seed=7, tries=12)

    def test_no_mutation_gives_other_values(self):
        other = {name: ends["other"] for name, ends in self.table.items()}
        message = "a parser returns values of a damaged output"
        self.assertEqual(dict.fromkeys(self.table, 0), other, message)
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
        listing.check(
            self,
            list_pairs(mutations.NOT_TOLD),
            list_pairs(mutations.unnoticed_arguments()),
            "NOT_TOLD in tests/bench/mutations.py",
            "let the parser compare it with the output; if the tool does not "
            f"print it, add it to the list and to {_PAGE}",
        )
        named = re.findall(r"``(\w+\.\w+)``", _PAGE.read_text())
        for pair in list_pairs(mutations.NOT_TOLD):
            self.assertIn(pair, named, f"add it to {_PAGE}")

    def test_outputs_without_their_end_are_refused(self):
        """Unless it is the end of another run in the same output."""
        believed = mutations.believed_parts(random.Random(1), 100)
        runs = {golden.workload(name).name for name, _ in believed}
        listing.check(
            self,
            mutations.TWO_RUNS,
            runs,
            "TWO_RUNS in tests/bench/mutations.py",
            "let the pattern of its parser include the last line; add it to "
            "the list only if a recorded output has two runs",
        )

    def test_outputs_of_other_tools_are_refused(self):
        self.assertEqual(
            [],
            list(mutations.believed_foreign()),
            "the parser of the first workload accepts the output of the "
            "second one: compare a line that only its tool prints",
        )

    def test_the_page_tells_of_workloads_and_of_no_other_value(self):
        rows = re.findall(
            r"^(\w+) +\d+ +\d+ +\d+ +(\d+)$", _PAGE.read_text(), re.M
        )
        table = dict(rows)
        self.assertLessEqual({"fio", "sysbench", "mbw"}, table.keys())
        self.assertLessEqual(table.keys(), set(registry.workload_names()))
        self.assertEqual({"0"}, set(table.values()))
