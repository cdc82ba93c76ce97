"""Tests of the console script as its user meets it."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import ddt

from rally_vmperf.baseline import store
from tests.unit import made

SCRIPT = str(pathlib.Path(sys.executable).parent / "rally-vmperf")


@ddt.ddt
class TestScript(unittest.TestCase):
    """Errors are one line, answers are tables or JSON."""

    def setUp(self):
        """Configure a registry with two baselines."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        registry = store.Store(self.home / "baselines")
        registry.save(made.baseline())
        slower = made.entry()
        for rows in slower["repetitions"]:
            rows["cpu.sysbench.rate"][0] /= 2
        registry.save(
            made.baseline(
                name="slow",
                entries=[slower],
                machine={"name": "old", "fingerprint": {"kernel": "5.10"}},
            )
        )
        self.conf = self.home / "rally.conf"
        self.conf.write_text(
            f"[vmperf]\nbaseline_dir = {registry.folder}\n"
            f"[database]\nconnection = sqlite:///{self.home}/rally.sqlite\n"
        )

    def script(self, *words):
        """Run the script with the test's configuration."""
        return subprocess.run(
            [SCRIPT, *words, "--config-file", str(self.conf)],
            capture_output=True,
            text=True,
            env={**os.environ, "HOME": str(self.home)},
            check=False,
        )

    def test_list(self):
        """Names, machines and workloads."""
        done = self.script("baseline", "list", "-f", "csv")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn('"metal"', done.stdout)
        self.assertIn('"old"', done.stdout)

    def test_show(self):
        """Figures with their units."""
        done = self.script("baseline", "show", "metal")
        self.assertRegex(done.stdout, r"cpu\.sysbench\.rate +\| 100 events/s")
        self.assertIn("10.0 ms", done.stdout)

    def test_compare(self):
        """The loss of the second, and in what the machines differ."""
        done = self.script("baseline", "compare", "metal", "slow")
        self.assertIn("50.0 %", done.stdout)
        self.assertIn("kernel_differs: bare metal: 6.1", done.stderr)

    def test_delete(self):
        """Gone is gone, and the second time an error."""
        self.assertEqual(
            0, self.script("baseline", "delete", "slow").returncode
        )
        done = self.script("baseline", "delete", "slow")
        self.assertEqual(1, done.returncode)
        self.assertIn("registered: metal", done.stderr)

    @ddt.data(
        (("baseline", "show", "nope"), "no baseline 'nope'"),
        (
            ("baseline", "record", "x", "--workload", "mbw", "--local"),
            "shape of the guests is not known",
        ),
        (
            ("baseline", "record", "metal", "--workload", "mbw", "--local"),
            "'metal' exists",
        ),
        (
            (
                *("baseline", "record", "x", "--workload", "nope"),
                *("--local", "--cpus", "1", "--memory", "64"),
            ),
            "no workload 'nope'; there are: bzip2",
        ),
        (
            (
                *("baseline", "record", "x", "--workload", "mbw", "--local"),
                *("--jump", "rally@192.0.2.1"),
            ),
            "add --host",
        ),
    )
    @ddt.unpack
    def test_errors_are_one_line(self, words, text):
        """The thing, the value and the way out; no stack trace."""
        done = self.script(*words)
        self.assertEqual(1, done.returncode)
        self.assertIn(text, done.stderr)
        self.assertEqual(1, len(done.stderr.strip().splitlines()))
