# SPDX-License-Identifier: Apache-2.0
"""Tests of what the embedded cloud needs of Python's packages."""

import re
import subprocess
import sys
import unittest

from tests.unit.doc import pages

#: Imports all that ``cloud up`` may, where some packages are not there.
PROGRAM = """
import importlib, pkgutil, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top.startswith(tuple(sys.argv[1:])) and top != "rally_vmperf":
            raise ModuleNotFoundError(f"{name} is not there yet")

sys.meta_path.insert(0, Missing())
from rally_vmperf import image
from rally_vmperf.workloads import registry
from tests import cloud

for package in (cloud, image):
    prefix = package.__name__ + "."
    for module in pkgutil.walk_packages(package.__path__, prefix):
        importlib.import_module(module.name)
print(len(registry.debian_packages(registry.workload_names())))
"""


class EnvironmentTest(unittest.TestCase):
    """``make demo`` brings the cloud up before all packages are there."""

    def test_the_cloud_works_without_those_that_come_later(self):
        """Neither a command nor a step imports one of them."""
        makefile = (pages.ROOT / "Makefile").read_text()
        (later,) = re.findall(r"grep -vE '\^\((.*)\)' req", makefile)
        names = later.split("|")
        listed = (pages.ROOT / "requirements.txt").read_text()
        for name in names:
            self.assertRegex(listed, rf"(?m)^{name}")
        process = subprocess.run(
            [sys.executable, "-c", PROGRAM, *names],
            capture_output=True,
            text=True,
        )
        self.assertEqual("", process.stderr)
        self.assertGreater(int(process.stdout), 0)
