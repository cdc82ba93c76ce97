# SPDX-License-Identifier: Apache-2.0
"""Tests of what keeps unit tests where they belong."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import ddt

from tests import skips
from tests.unit import confinement

#: Runs one test in a process of its own, whose temporary folders are beside
#: what it may not use.
RUN = """
import os, pathlib, shutil, sqlite3, subprocess, sys, unittest
from tests import unit
path = sys.argv[1]
class Nosy(unittest.TestCase):
    def test(self):
        {deed}
result = unittest.TestResult()
Nosy("test").run(result)
print(*(text for _, text in result.errors + result.failures))
sys.exit(not result.wasSuccessful())
"""


@ddt.ddt
class TestBegin(unittest.TestCase):
    """A process of its own meets a file of an earlier cloud."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.temporary = pathlib.Path(folder.name, "temporary")
        self.temporary.mkdir()
        self.outside = pathlib.Path(folder.name, "cloud")
        self.outside.mkdir()
        (self.outside / "key").write_text("secret\n")

    def run_test(self, deed, path):
        """Run a test that does one thing with a path, in a home of its own."""
        home = {"HOME": str(self.outside), "XDG_CACHE_HOME": str(self.outside)}
        return subprocess.run(
            [sys.executable, "-c", RUN.format(deed=deed), str(path)],
            cwd=confinement.CHECKOUT,
            env={**os.environ, **home, "TMPDIR": str(self.temporary)},
            capture_output=True,
            text=True,
            check=False,
        )

    @ddt.data(
        "open(path)",
        "try: open(path)\n        except Exception: pass",
        "open(path.encode())",
        "pathlib.Path(path).read_text()",
        "pathlib.Path(path).is_file()",
        "os.path.exists(path)",
        "os.access(path, os.R_OK)",
        "os.listdir(os.path.dirname(path))",
        "os.remove(path)",
        "os.rename(path, path + '2')",
        "os.symlink('.', path + '2')",
        "sqlite3.connect(path)",
        "os.chdir(os.path.dirname(path)); open(os.path.basename(path))",
    )
    def test_a_test_that_goes_outside_fails(self, deed):
        """The reason names the path, and nothing has been done to it."""
        process = self.run_test(deed, self.outside / "key")
        self.assertEqual(1, process.returncode, process.stderr)
        self.assertIn("OutsideError", process.stdout)
        self.assertIn(str(self.outside), process.stdout)
        self.assertEqual(["key"], os.listdir(self.outside))

    @ddt.data(
        "open(path, 'w').close(); os.remove(path)",
        "open('setup.cfg').close()",
        "open('/etc/passwd').close()",
        "open('/proc/self/stat').close()",
        "open(os.devnull, 'w').close()",
        "open(unittest.__file__).close()",
        "sqlite3.connect(':memory:').close()",
        "self.assertFalse(os.path.exists('/nowhere/at/all'))",
        "os.close(os.open(os.path.dirname(path), os.O_RDONLY))",
        "os.symlink('/nowhere', path)",
    )
    def test_what_every_machine_has_is_free(self, deed):
        process = self.run_test(deed, self.temporary / "new")
        self.assertEqual(
            0, process.returncode, process.stdout + process.stderr
        )

    @ddt.data(
        "subprocess.run(['foreign'], check=True)",
        "subprocess.run(['sh', '-c', 'foreign'], check=True)",
        "subprocess.run(['bash', '-c', 'exec foreign'], check=True)",
    )
    def test_program_of_no_allowed_package(self, deed):
        """It is not found, neither by a test nor by what a test starts."""
        program = self.outside / "foreign"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        with mock.patch.dict(
            os.environ, PATH=f"{self.outside}:{os.environ['PATH']}"
        ):
            subprocess.run(["foreign"], check=True)
            process = self.run_test(deed, "unused")
        self.assertEqual(1, process.returncode, process.stderr)
        self.assertIn("foreign", process.stdout)

    def test_programs_of_allowed_packages(self):
        """They are those of Debian's base, the README and the Makefile."""
        for program in ("sh", "awk", "git"):
            with self.subTest(program):
                self.assertIsNotNone(shutil.which(program))

    @ddt.data("debugfs", "iperf3", "ssh-agent", "ip")
    def test_program_of_a_unit_package(self, program):
        """It is found if its package is installed."""
        installed = shutil.which(program, path=":".join(confinement.PROGRAMS))
        if not installed:
            skips.require(self, program)
        self.assertIsNotNone(shutil.which(program))

    def test_home_is_nobodys(self):
        """It is empty, in the tests and in what they start."""
        home = "os.listdir(os.path.expanduser('~'))"
        deed = f"print(os.environ.get('XDG_CACHE_HOME'), {home})"
        process = self.run_test(deed, "unused")
        self.assertEqual("None []", process.stdout.strip(), process.stderr)
        self.assertEqual([], os.listdir(self.temporary))

    def test_others_that_borrow_are_free(self):
        """Tests on a real cloud import some of these, and use its files."""
        borrowed = "import tests.functional, tests.unit; "
        code = f"{borrowed}print(open({str(self.outside / 'key')!r}).read())"
        process = subprocess.run(
            [sys.executable, "-c", code],
            cwd=confinement.CHECKOUT,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual("secret", process.stdout.strip(), process.stderr)
