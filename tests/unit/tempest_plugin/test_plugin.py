# SPDX-License-Identifier: Apache-2.0
"""Tempest finds the plugin, its options and its tests."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import typing as t
import unittest

from rally_vmperf.workloads import base

BIN = pathlib.Path(sys.executable).parent
TESTS = {
    "test_density.TestDensity.test_density",
    *(
        f"test_overhead.TestOverhead.test_{component}"
        for component in t.get_args(base.Component)
    ),
    "test_placement.TestPlacement.test_placement",
}
#: Tests as Tempest's own loader finds them, and what they are marked with.
LIST = """
import json, sys, unittest
from tempest.test_discover import plugins
found = plugins.TempestTestPluginManager().get_plugin_load_tests_tuple()
folder, top = found["rally-vmperf"]
def each(suite):
    for one in suite:
        yield from each(one) if isinstance(one, unittest.TestSuite) else [one]
tests = list(each(unittest.TestLoader().discover(folder, "test*.py", top)))
print(json.dumps({
    "tests": [one.id() for one in tests],
    "serial": [type(one).is_serial_execution_requested() for one in tests],
    "rally": [name for name in sys.modules
              if name.split(".")[0] in ("rally", "rally_openstack")],
}))
"""
#: ``rally plugin list`` in a process that finds no Tempest.
WITHOUT = """
import sys

class Blocked:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "tempest":
            raise ModuleNotFoundError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked)
from rally.cli import main
sys.argv = ["rally", "plugin", "list", "VMPerf"]
try:
    main.main()
finally:
    print("tempest:", "tempest" in sys.modules)
"""


class TestPlugin(unittest.TestCase):
    """As the commands of Tempest see it."""

    @classmethod
    def setUpClass(cls):
        """Let Tempest find our tests, in a process of its own."""
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        conf = pathlib.Path(folder.name, "tempest.conf")
        conf.write_text(f"[oslo_concurrency]\nlock_path = {folder.name}\n")
        cls.environment = {
            **os.environ,
            "TEMPEST_CONFIG": conf.name,
            "TEMPEST_CONFIG_DIR": folder.name,
            "HOME": folder.name,
        }
        process = cls.run_here([sys.executable, "-c", LIST])
        cls.detail = json.loads(process.stdout.splitlines()[-1])

    @classmethod
    def run_here(cls, argv):
        """Run a program with a tempest.conf of its own."""
        return subprocess.run(
            argv,
            env=cls.environment,
            capture_output=True,
            text=True,
            check=True,
        )

    def test_every_test_is_found_and_marked(self):
        """Each has a stable identifier, and is marked as slow and vmperf."""
        prefix = "rally_vmperf.tempest_plugin.tests."
        names = {
            test_name.removeprefix(prefix).partition("[")[0]
            for test_name in self.detail["tests"]
        }
        self.assertEqual(TESTS, names)
        for name in self.detail["tests"]:
            marks = name.partition("[")[2].rstrip("]").split(",")
            self.assertLessEqual(
                {"slow", "vmperf", "compute", "network", "image"}, set(marks)
            )
            self.assertTrue(any(mark.startswith("id-") for mark in marks))

    def test_no_two_measure_at_once(self):
        """Tempest runs serial classes alone."""
        self.assertEqual([True] * len(TESTS), self.detail["serial"])

    def test_rally_is_not_imported(self):
        """Tempest runs the tests without Rally."""
        self.assertEqual([], self.detail["rally"])

    def test_identifiers(self):
        """They pass Tempest's own check for duplicates and gaps."""
        package = "rally_vmperf.tempest_plugin.tests"
        self.run_here([str(BIN / "check-uuid"), "--package", package])

    def test_rally_works_without_tempest(self):
        """The plugins for Rally load where Tempest cannot be imported."""
        process = self.run_here([sys.executable, "-c", WITHOUT])
        self.assertIn("VMPerf.overhead", process.stdout)
        self.assertIn("tempest: False", process.stdout)

    def test_list_plugins(self):
        """The command names it."""
        process = self.run_here([str(BIN / "tempest"), "list-plugins"])
        self.assertIn("rally-vmperf", process.stdout)

    def test_sample_configuration(self):
        """Both generators know the options."""
        process = self.run_here(
            [
                str(BIN / "oslo-config-generator"),
                *("--namespace", "rally_vmperf.tempest"),
            ]
        )
        self.assertIn("#limits_file = <None>", process.stdout)
        process = self.run_here(
            [
                str(BIN / "oslo-config-generator"),
                *("--namespace", "tempest.config"),
            ]
        )
        self.assertIn("#limits_file = <None>", process.stdout)
