"""The reference names all there is, and no page names what is not."""

import inspect
import re
import unittest

import ddt
import docutils.core
from rally import plugins
from rally.task import scenario

from rally_vmperf import opts
from rally_vmperf.execution import ports
from rally_vmperf.guests import schema
from rally_vmperf.measurement import finding
from rally_vmperf.plugins.contexts import baseline
from rally_vmperf.plugins.contexts import guests
from rally_vmperf.plugins.sla import criteria
from rally_vmperf.questions import table
from rally_vmperf.questions.common import task
from rally_vmperf.report.formats import openmetrics
from tests.unit.doc import pages

plugins.load()
REFERENCE = pages.text("doc/source/reference.rst")
PLUGINS = {
    "vmperf_baseline",
    "vmperf_guests",
    "vmperf_task",
    "vmperf_cloud",
    "vmperf_reach",
    *table.criteria(),
}


def _rows(title):
    """Return option -> default in the table after a heading or a phrase."""
    table = REFERENCE.partition(title)[2].partition(".. list-table::")[2]
    table = re.split(r"\n(?=\S)", table)[0]
    found = re.findall(r"^   \* - ``(\w+)``\n     - (.*)$", table, re.M)
    return {name: default.strip("`") for name, default in found}


@ddt.ddt
class ReferenceTestCase(unittest.TestCase):
    @ddt.data(
        ("Context ``vmperf_baseline``", baseline.Baseline.CONFIG_SCHEMA),
        ("Context ``vmperf_guests@openstack``", guests.Guests.CONFIG_SCHEMA),
        *(
            (f"SLA ``{name}``", one.CONFIG_SCHEMA)
            for name, one in criteria.SLAS.items()
        ),
    )
    @ddt.unpack
    def test_options_are_those_of_the_schema(self, title, plugin_schema):
        rows = _rows(title)
        self.assertEqual(list(plugin_schema["properties"]), list(rows))
        required = [n for n, default in rows.items() if "required" in default]
        self.assertEqual(plugin_schema.get("required", []), required)

    def test_defaults_of_guests(self):
        rows = _rows("Context ``vmperf_guests@openstack``")
        for name, value in schema.DEFAULTS.items():
            shown = str(value).lower() if isinstance(value, bool) else value
            self.assertEqual(str(shown), rows[name])

    @ddt.data(*table.scenarios())
    def test_arguments_of_the_scenario(self, name):
        run = scenario.Scenario.get(name).run
        rows = _rows(f"Scenario ``{name}``")
        parameters = inspect.signature(run).parameters
        self.assertEqual([n for n in parameters if n != "self"], list(rows))

    def test_keys_of_the_peer(self):
        rows = _rows("Keys of ``peer``")
        self.assertEqual(set(task.PEER["properties"]), set(rows))

    def test_keys_of_a_jump_host(self):
        rows = _rows("Keys of a jump host")
        self.assertEqual(list(schema.JUMP["properties"]), list(rows))
        required = [n for n, default in rows.items() if "required" in default]
        self.assertEqual(schema.JUMP["required"], required)

    def test_options_of_the_configuration(self):
        shown = re.findall(
            r"^\.\. oslo.config:option:: (\w+)$", REFERENCE, re.M
        )
        self.assertEqual([option.name for option in opts.OPTIONS], shown)
        for option in opts.OPTIONS:
            self.assertIn(f":Default: ``{option.sample_default}``", REFERENCE)

    def test_ports_of_network_workloads(self):
        page = pages.text("doc/source/own-cloud.rst")
        self.assertEqual(2, page.count(f"ports from {ports.FIRST} "))
        self.assertIn(f"{ports.LAST}", page)


#: The families of metrics in results as OpenMetrics text.
FAMILIES = tuple(re.findall(r"vmperf_[a-z_]+", openmetrics.__doc__))


@ddt.ddt
class NothingElseTestCase(unittest.TestCase):
    def test_plugins_exist(self):
        for page in pages.PAGES:
            found = {
                name
                for name in re.findall(r"\bvmperf_[a-z]\w+", pages.text(page))
                if not name.startswith(FAMILIES)
            }
            self.assertLessEqual(found, PLUGINS, page)

    def test_findings_exist(self):
        for page in pages.PAGES:
            named = re.findall(r"finding\s+``(\w+)``", pages.text(page))
            self.assertLessEqual(set(named), set(finding.KINDS), page)

    def test_files_of_the_repository_exist(self):
        pattern = r"(?:rally_vmperf|tests|tasks|scenarios|doc)/[\w./-]+"
        for page, inline in pages.inlines():
            if re.fullmatch(pattern, inline) and "<" not in inline:
                if inline.startswith("doc/build"):
                    continue
                self.assertTrue((pages.ROOT / inline).exists(), (page, inline))

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
