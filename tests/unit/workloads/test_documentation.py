# SPDX-License-Identifier: Apache-2.0
"""The pages of the workloads agree with the code."""

import pathlib
import re
import textwrap
import unittest

import ddt
import yaml

from rally_vmperf.workloads import registry
from tests.unit import listing
from tests.unit.workloads import golden

PAGES = pathlib.Path(__file__).parents[3] / "doc" / "source" / "workloads"
EXAMPLE = re.compile(r"code-block:: yaml\n\n((?:   .*\n|\n)+)")


@ddt.ddt
class DocumentationTestCase(unittest.TestCase):
    @ddt.data(*registry.workload_names())
    def test_arguments_are_generated(self, name):
        line = f"\n.. vmperf-arguments:: {name}\n"
        message = f"add this line to doc/source/workloads/{name}.rst: {line}"
        self.assertIn(line, _page(name), message)

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
                    f"add ``{metric.name}`` : {metric.unit}, {metric.better} "
                    f"with its meaning to doc/source/workloads/{name}.rst",
                )

    @ddt.data(*registry.workload_names(), "index")
    def test_examples_are_valid(self, name):
        examples = EXAMPLE.findall(_page(name))
        message = (
            f"doc/source/workloads/{name}.rst has no example: add a block "
            "`.. code-block:: yaml` with workloads"
        )
        self.assertTrue(examples, message)
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
        listing.check(
            self,
            pages,
            {*registry.workload_names(), "index"},
            "doc/source/workloads",
            "write its page, <workload>.rst",
        )


def _starts(segment):
    """Return a pattern of the beginnings of a segment, the empty one too."""
    word_list = segment.split("_")
    return "|".join(
        "".join(f"{word}_" for word in word_list[:number])
        for number in range(len(word_list))
    )


def _page(name):
    return (PAGES / f"{name}.rst").read_text()
