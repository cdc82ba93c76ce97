# SPDX-License-Identifier: Apache-2.0
"""Tests of the Tempest plugin: skipped, failed, and removed resources."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import ddt

REMOVED = ["boot", "remove", "credentials"]


@ddt.ddt
class OnFakesTestCase(unittest.TestCase):
    """Tests on fakes, in a process whose configuration Tempest may keep."""

    @classmethod
    def setUpClass(cls):
        """Run them all."""
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        conf = pathlib.Path(folder.name, "tempest.conf")
        conf.write_text(
            f"[oslo_concurrency]\nlock_path = {folder.name}\n"
            "[service_available]\ncinder = false\n"
        )
        process = subprocess.run(
            [
                *(sys.executable, "-m", "tests.unit.tempest_plugin.on_fakes"),
                folder.name,
            ],
            env={
                **os.environ,
                "TEMPEST_CONFIG": conf.name,
                "TEMPEST_CONFIG_DIR": folder.name,
                "HOME": folder.name,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert not process.returncode, process.stderr
        cls.detail = json.loads(process.stdout.splitlines()[-1])

    @ddt.data(
        ("no limits", [], "no limits: set [vmperf] limits_file"),
        ("no peer", ["boot"], "no peer: set [vmperf] peer"),
        ("no volumes", [], "volume_size_gib: cinder is not available"),
    )
    @ddt.unpack
    def test_skipped_with_a_reason_of_one_line(self, name, calls, message):
        """A test without its configuration is skipped and does not fail."""
        outcome = self.detail[name]
        self.assertEqual([], outcome["failed"])
        self.assertEqual(calls, outcome["calls"][: len(calls)])
        (reason,) = outcome["skipped"]
        self.assertIn(message, reason)
        self.assertNotIn("\n", reason)

    @ddt.data(
        ("no baseline", [], "[vmperf] baseline must be set"),
        ("no workloads", [], "[vmperf] workloads_file or baseline must be"),
        ("no answer", ["credentials"], "peer: no SSH at root@127.0.0.1:1"),
        ("no tool", ["boot"], "g1 has no fio: install it"),
        ("limits on values", ["boot"], "g1 has no fio: install it"),
    )
    @ddt.unpack
    def test_limits_that_cannot_be_tested_fail(self, name, calls, message):
        """Otherwise a run would be green without a measurement."""
        outcome = self.detail[name]
        self.assertEqual([], outcome["skipped"])
        self.assertEqual(calls, outcome["calls"][: len(calls)])
        (text,) = outcome["failed"]
        self.assertIn(message, text)

    @ddt.data("interrupted while it measures", "interrupted while it boots")
    def test_interrupted(self, name):
        """The guests are removed before Ctrl-C is raised again."""
        calls = self.detail[name]["calls"]
        self.assertEqual("interrupted", calls.pop())
        self.assertEqual(REMOVED, calls)

    def test_placement(self):
        """The requested host passes, another one fails by name."""
        outcome = self.detail["on the host"]
        self.assertEqual([], outcome["failed"])
        self.assertEqual(REMOVED, outcome["calls"])
        outcome = self.detail["elsewhere"]
        (text,) = outcome["failed"]
        self.assertIn("g1 runs on h2, host h1 was requested", text)
        self.assertEqual(REMOVED, outcome["calls"])
