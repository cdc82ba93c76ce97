# SPDX-License-Identifier: Apache-2.0
"""The reference names all there is, and no page names what is not."""

import re
import unittest

import ddt
import docutils.core
from rally import plugins

from doc.ext import directives
from doc.ext import markup
from doc.ext import pages as generated
from rally_vmperf.execution import ports
from rally_vmperf.measurement import finding
from rally_vmperf.questions import table
from rally_vmperf.report.formats import openmetrics
from tests.unit.doc import pages

plugins.load()
PLUGINS = {
    "vmperf_baseline",
    "vmperf_guests",
    "vmperf_task",
    "vmperf_cloud",
    "vmperf_reach",
    *table.criteria(),
}


@ddt.ddt
class GeneratedTestCase(unittest.TestCase):
    @ddt.data(*generated.PAGES)
    def test_committed_pages_are_up_to_date(self, path):
        expected = generated.PAGES[path]()
        self.assertEqual(expected, path.read_text(), "Run: make reference")

    def test_keys_have_sections(self):
        """Links to the keys of an argument lead somewhere."""
        page = pages.text("doc/source/reference.rst")
        self.assertEqual(sorted(markup.SHARED), sorted(directives.KEYS))
        for name in markup.SHARED:
            self.assertIn(f".. vmperf-keys:: {name}\n", page)

    def test_ports_of_network_workloads(self):
        page = pages.text("doc/source/own-cloud-network.rst")
        self.assertIn(f"ports from {ports.FIRST} to {ports.LAST} ", page)


#: The families of metrics in results as OpenMetrics text.
FAMILIES = tuple(re.findall(r"vmperf_[a-z_]+", openmetrics.__doc__))


@ddt.ddt
class NothingElseTestCase(unittest.TestCase):
    def test_plugins_exist(self):
        for page in pages.PAGES:
            names = {
                name
                for name in re.findall(r"\bvmperf_[a-z]\w+", pages.text(page))
                if not name.startswith(FAMILIES)
            }
            message = (
                f"{page} names plugins that do not exist: correct the names; "
                "add a new plugin to PLUGINS in "
                "tests/unit/doc/test_reference.py"
            )
            self.assertLessEqual(names, PLUGINS, message)

    def test_findings_exist(self):
        for page in pages.PAGES:
            named = re.findall(r"finding\s+``(\w+)``", pages.text(page))
            unknown = set(named) - set(finding.KINDS)
            message = f"{page}: findings.toml does not have them"
            self.assertEqual(set(), unknown, message)

    def test_files_of_the_repository_exist(self):
        pattern = r"(?:rally_vmperf|tests|tasks|scenarios|doc)/[\w./-]+"
        for page, inline in pages.inlines():
            if re.fullmatch(pattern, inline) and "<" not in inline:
                if inline.startswith("doc/build"):
                    continue
                message = f"{page}: {inline} does not exist"
                self.assertTrue((pages.ROOT / inline).exists(), message)

    def test_links_of_the_top_level_lead_somewhere(self):
        for page in pages.PAGES:
            if page.startswith("doc/"):
                continue
            for target in re.findall(r"<([\w./-]+)>`__", pages.text(page)):
                self.assertTrue((pages.ROOT / target).exists(), target)

    @ddt.data("README.rst", "CHANGELOG.rst", "CONTRIBUTING.rst")
    def test_the_top_level_is_plain_restructured_text(self, page):
        docutils.core.publish_doctree(
            pages.text(page),
            settings_overrides={"report_level": 2, "halt_level": 2},
        )
