# SPDX-License-Identifier: Apache-2.0
"""Tests of what Rally sees of this package."""

import inspect
import json
import subprocess
import sys
import typing as t
import unittest

from rally import plugins
from rally.common.plugin import plugin

from tests.unit import listing

EXPECTED = {
    ("VMPerf.overhead", "openstack"),
    ("VMPerf.density", "openstack"),
    ("VMPerf.event", "openstack"),
    ("VMPerf.tuning", "openstack"),
    ("vmperf_baseline", "default"),
    ("vmperf_guests", "openstack"),
    ("vmperf_overhead", "default"),
    ("vmperf_spread", "default"),
    ("vmperf_neighbours", "default"),
    ("vmperf_promise", "default"),
    ("vmperf_disruption", "default"),
    ("vmperf_tuning", "default"),
    ("vmperf_degradation", "default"),
    ("vmperf_fairness", "default"),
    ("vmperf_valid", "default"),
    ("vmperf_task", "default"),
    ("vmperf_cloud", "default"),
    ("vmperf_reach", "default"),
    ("VMPerfRecord", "default"),
    ("VMPerfRun", "default"),
    ("vmperf-csv", "default"),
    ("vmperf-json", "default"),
    ("vmperf-junit", "default"),
    ("vmperf-markdown", "default"),
    ("vmperf-ndjson", "default"),
    ("vmperf-openmetrics", "default"),
}
HEAVY = ("asyncssh", "numpy", "openstack", "scipy")

# Loads all plugins through the entry points, as `rally plugin list` does.
LIST = """
import json, logging, sys
logged = []
class Keep(logging.Handler):
    def emit(self, record):
        logged.append(record.getMessage())
logging.getLogger().addHandler(Keep(logging.WARNING))
from rally import plugins
from rally.common.plugin import plugin
plugins.load()
from_package = [
    (p.get_name(), p.get_platform())
    for p in plugin.Plugin.get_all(allow_hidden=True)
    if p.__module__.startswith("rally_vmperf.")
]
print(json.dumps({"plugins": from_package, "logged": logged,
                  "modules": sorted(sys.modules)}))
"""


class TestEntryPoint(unittest.TestCase):
    """Rally finds every plugin, without a warning and without weight."""

    @classmethod
    def setUpClass(cls):
        """Load the plugins in a fresh interpreter."""
        super().setUpClass()
        process = subprocess.run(
            [sys.executable, "-c", LIST],
            capture_output=True,
            text=True,
            check=True,
        )
        cls.detail = json.loads(process.stdout.splitlines()[-1])

    def test_every_plugin_is_there(self):
        """Each by its name and platform, and no other."""
        listing.check(
            self,
            EXPECTED,
            {tuple(plugin) for plugin in self.detail["plugins"]},
            "EXPECTED in tests/unit/test_plugins.py",
            "a name of a plugin is public: add it with its platform, and "
            "document it in CHANGELOG.rst",
        )

    def test_no_warning_is_about_us(self):
        """One broken module would hide all that come after it."""
        warnings = [line for line in self.detail["logged"] if "vmperf" in line]
        self.assertEqual([], warnings)

    def test_nothing_heavy_is_imported(self):
        """A mere list of plugins needs no SSH, no statistics, no plots."""
        loaded = {name.split(".")[0] for name in self.detail["modules"]}
        self.assertEqual(
            set(),
            loaded & set(HEAVY),
            "import them in the functions that need them",
        )


def list_plugins() -> list[t.Any]:
    """Return our plugin classes."""
    plugins.load()
    return [
        candidate
        for candidate in plugin.Plugin.get_all(allow_hidden=True)
        if candidate.__module__.startswith("rally_vmperf.")
    ]


def schemas(schema: t.Any, path: str) -> t.Iterator[tuple[str, dict]]:
    """Yield every object schema in a schema, with its path."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield path, schema
        for key, value in schema.items():
            yield from schemas(value, f"{path}.{key}")
    elif isinstance(schema, list):
        for index, value in enumerate(schema):
            yield from schemas(value, f"{path}[{index}]")


class TestDocumentation(unittest.TestCase):
    """`rally plugin show` has something to show."""

    def test_titles_and_parameters(self):
        """A title for each plugin, a line for each argument."""
        for plugin_class in list_plugins():
            info = plugin_class.get_info()
            self.assertTrue(info["title"], plugin_class)
            if hasattr(plugin_class, "run"):
                named = {p["name"] for p in info["parameters"]}
                parameters = set(
                    inspect.signature(plugin_class.run).parameters
                ) - {"self"}
                self.assertEqual(parameters, named, plugin_class)

    def test_schemas_are_closed_and_described(self):
        """No key is accepted by accident, each says what it is for."""
        for plugin_class in list_plugins():
            schema = getattr(plugin_class, "CONFIG_SCHEMA", {})
            for path, subschema in schemas(schema, plugin_class.get_name()):
                self.assertIn("additionalProperties", subschema, path)
                for key, rule in subschema.get("properties", {}).items():
                    self.assertIn("description", rule, f"{path}.{key}")
