"""What skips our tests of Tempest's, what fails them, and what is left."""

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
        conf.write_text(f"[oslo_concurrency]\nlock_path = {folder.name}\n")
        done = subprocess.run(
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
        assert not done.returncode, done.stderr
        cls.detail = json.loads(done.stdout.splitlines()[-1])

    @ddt.data(
        ("no limits", [], "no limits: set [vmperf] limits_file"),
        ("no peer", ["boot"], "no peer: set [vmperf] peer"),
    )
    @ddt.unpack
    def test_skipped_with_a_reason_of_one_line(self, name, done, words):
        """What is not configured is no failure."""
        seen = self.detail[name]
        self.assertEqual([], seen["failed"])
        self.assertEqual(done, seen["done"][: len(done)])
        (reason,) = seen["skipped"]
        self.assertIn(words, reason)
        self.assertNotIn("\n", reason)

    @ddt.data(
        ("no baseline", [], "[vmperf] baseline must be set"),
        ("no workloads", [], "[vmperf] workloads_file or baseline must be"),
        ("no answer", ["credentials"], "peer: no SSH at root@127.0.0.1:1"),
        ("no tool", ["boot"], "g1 has no fio: install it"),
        ("limits on values", ["boot"], "g1 has no fio: install it"),
    )
    @ddt.unpack
    def test_limits_that_cannot_be_tested_fail(self, name, done, words):
        """Otherwise a run would be green without a measurement."""
        seen = self.detail[name]
        self.assertEqual([], seen["skipped"])
        self.assertEqual(done, seen["done"][: len(done)])
        (text,) = seen["failed"]
        self.assertIn(words, text)

    @ddt.data("interrupted while it measures", "interrupted while it boots")
    def test_interrupted(self, name):
        """What was made is removed before Ctrl-C goes on."""
        done = self.detail[name]["done"]
        self.assertEqual("interrupted", done.pop())
        self.assertEqual(REMOVED, done)

    def test_placement(self):
        """The host that was asked for passes, another one fails by name."""
        seen = self.detail["on the host"]
        self.assertEqual([], seen["failed"])
        self.assertEqual(REMOVED, seen["done"])
        seen = self.detail["elsewhere"]
        (text,) = seen["failed"]
        self.assertIn("g1 runs on h2, host h1 was requested", text)
        self.assertEqual(REMOVED, seen["done"])
