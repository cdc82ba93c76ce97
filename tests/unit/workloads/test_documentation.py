"""The pages of the workloads agree with the code."""

import pathlib
import re
import textwrap
import unittest

import ddt
import yaml

from rally_vmperf.workloads import registry
from tests.unit.workloads import golden

PAGES = pathlib.Path(__file__).parents[3] / "doc" / "source" / "workloads"
EXAMPLE = re.compile(r"code-block:: yaml\n\n((?:   .*\n|\n)+)")


@ddt.ddt
class DocumentationTestCase(unittest.TestCase):
    @ddt.data(*registry.workload_names())
    def test_arguments_are_generated(self, name):
        self.assertIn(f"\n.. vmperf-arguments:: {name}\n", _page(name))

    @ddt.data(*registry.workload_names())
    def test_every_metric_has_its_row(self, name):
        """A part of a name, or its end, may be a placeholder."""
        workload = registry.get_workload(name)
        page = _page(name)
        for run, (arguments, *_) in golden.RUNS.items():
            if golden.workload(run).name != name:
                continue
            for metric in workload.metrics(workload.complete(arguments)):
                generic = r"\.".join(
                    rf"(?:{re.escape(segment)}|(?:{_starts(segment)})<\w+>)"
                    for segment in metric.name.split(".")
                )
                self.assertRegex(
                    page,
                    rf"(?m)^``{generic}`` : {re.escape(metric.unit)}"
                    rf"(?: [^,\n]+)?, {metric.better}\n    \S",
                )

    @ddt.data(*registry.workload_names(), "index")
    def test_examples_are_valid(self, name):
        examples = EXAMPLE.findall(_page(name))
        self.assertTrue(examples)
        for example in examples:
            document = yaml.safe_load(textwrap.dedent(example))
            neighbours = document.get("neighbours", {})
            for entry in document.get("workloads") or [neighbours["workload"]]:
                registry.get_workload(entry["name"]).complete(
                    entry["arguments"]
                )

    @ddt.data(*registry.workload_names())
    def test_title_is_that_of_the_workload(self, name):
        """The index names every page by it."""
        rule, title, *_ = _page(name).splitlines()
        self.assertEqual(registry.get_workload(name).title, title)
        self.assertEqual("=" * len(title), rule)

    def test_index_names_every_page(self):
        self.assertIn("   :glob:\n\n   *\n", _page("index"))
        pages = {path.stem for path in PAGES.glob("*.rst")}
        self.assertEqual({*registry.workload_names(), "index"}, pages)


def _starts(segment):
    """Return a pattern of the beginnings of a segment, the empty one too."""
    word_list = segment.split("_")
    return "|".join(
        "".join(f"{word}_" for word in word_list[:number])
        for number in range(len(word_list))
    )


def _page(name):
    return (PAGES / f"{name}.rst").read_text()
