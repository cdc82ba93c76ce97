"""The pages of the workloads tell what the code does."""

import pathlib
import re
import textwrap
import unittest

import ddt
import yaml

from rally_vmperf.workloads import registry

PAGES = pathlib.Path(__file__).parents[3] / "doc" / "source" / "workloads"
#: Arguments that change which metrics there are.
VARIANTS = {"iperf3": ({}, {"protocol": "udp"})}
EXAMPLE = re.compile(r"code-block:: yaml\n\n((?:   .*\n|\n)+)")


@ddt.ddt
class DocumentationTestCase(unittest.TestCase):
    @ddt.data(*registry.names())
    def test_every_argument_has_its_row(self, name):
        rows = re.findall(r"^   \* - ``(\w+)``$", _page(name), re.MULTILINE)
        properties = registry.get(name).ARGUMENTS["properties"]
        self.assertEqual(list(properties), rows[: len(properties)])

    @ddt.data(*registry.names())
    def test_every_metric_has_its_row(self, name):
        workload = registry.get(name)
        page = _page(name)
        metrics = [
            metric
            for arguments in VARIANTS.get(name, ({},))
            for metric in workload.metrics(workload.complete(arguments))
        ]
        for metric in metrics:
            generic = re.sub(
                r"^(disk|network)\.(\w+)",
                lambda found: (
                    f"{found[1]}.<"
                    f"{'pattern' if found[1] == 'disk' else 'direction'}>"
                ),
                metric.name,
            )
            self.assertRegex(
                page,
                rf"\* - ``{re.escape(generic)}``\n"
                rf"     - {re.escape(metric.unit)}( .*)?\n"
                rf"     - {metric.better}\n",
            )

    @ddt.data(*registry.names(), "index")
    def test_examples_are_valid(self, name):
        examples = EXAMPLE.findall(_page(name))
        self.assertTrue(examples)
        for example in examples:
            entries = yaml.safe_load(textwrap.dedent(example))["workloads"]
            for entry in entries:
                registry.get(entry["name"]).complete(entry["arguments"])

    def test_index_names_every_page(self):
        index = _page("index")
        for name in registry.names():
            self.assertIn(f"   {name}\n", index)


def _page(name):
    return (PAGES / f"{name}.rst").read_text()
