# SPDX-License-Identifier: Apache-2.0
"""Tests of the console script as its user meets it."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import main
from rally_vmperf.measurement import repetition
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
        peer = repetition.Flow(
            target="peer", hosts="other", path="link", floating_ip=False
        )
        slower = made.entry(
            {made.EVENTS: (50.0, 50.5, 49.5)},
            cpus=("8,9",),
            numa_nodes=(1,),
            flows=(peer,),
        )
        registry.save(
            made.baseline(
                name="slow",
                entries=(slower,),
                machine=document.BaselineMachine(
                    name="old",
                    fingerprint={"kernel": "5.10", "isolated_cpus": "8-15"},
                ),
                machine_class="r740",
            )
        )
        self.conf = self.home / "rally.conf"
        self.conf.write_text(
            f"[vmperf]\nbaseline_dir = {registry.folder}\n"
            f"[database]\nconnection = sqlite:///{self.home}/rally.sqlite\n"
        )

    def script(self, *arguments):
        """Run the script with the test's configuration."""
        return subprocess.run(
            [SCRIPT, *arguments, "--config-file", str(self.conf)],
            capture_output=True,
            text=True,
            env={**os.environ, "HOME": str(self.home)},
            check=False,
        )

    def test_list(self):
        """Names, machines and workloads."""
        process = self.script("baseline", "list", "-f", "csv")
        self.assertEqual(0, process.returncode, process.stderr)
        self.assertIn('"metal"', process.stdout)
        self.assertIn('"old","r740"', process.stdout)

    def test_no_formula_in_csv(self):
        """A spreadsheet computes no text of a baseline."""
        registry = store.Store(self.home / "baselines")
        machine = document.BaselineMachine(
            name="=1+1", fingerprint={"kernel": "5"}
        )
        baseline = made.baseline(name="metal", machine=machine)
        registry.save(baseline, replace=True)
        process = self.script("baseline", "list", "-f", "csv")
        self.assertIn('"\'=1+1"', process.stdout)
        self.assertNotIn('"=1+1"', process.stdout)
        names = ("metal", "slow", "-f", "csv")
        process = self.script("baseline", "compare", *names)
        self.assertIn("cpu.sysbench.rate", process.stdout)
        self.assertNotIn("\"'", process.stdout)

    def test_closed_streams(self):
        """The exit code is the output."""
        for streams in (">&-", "2>&-", "<&- >&- 2>&-"):
            for arguments, code in (("baseline list", 0), ("judge none", 1)):
                process = subprocess.run(
                    f"exec {SCRIPT} {arguments} --config-file "
                    f"{shlex.quote(str(self.conf))} {streams}",
                    shell=True,
                    capture_output=True,
                    text=True,
                    env={**os.environ, "HOME": str(self.home)},
                    check=False,
                )
                self.assertEqual(code, process.returncode, process.stderr)
                printed = process.stdout + process.stderr
                self.assertNotIn("NoneType", printed)
                self.assertNotIn("Traceback", printed)

    def test_a_signal_before_the_command(self):
        """The exit code is that of an interrupt, without a traceback."""
        with mock.patch.object(
            main, "Shell", autospec=True, side_effect=KeyboardInterrupt
        ):
            self.assertEqual(130, main.main(["runs"]))

    def test_an_empty_list(self):
        """It says where it looked, and what makes one."""
        for path in (self.home / "baselines").glob("*.json"):
            path.unlink()
        process = self.script("baseline", "list")
        self.assertEqual(0, process.returncode, process.stderr)
        self.assertIn(f"no baseline in {self.home}/baselines;", process.stderr)

    def test_an_empty_journal(self):
        """A run that has measured nothing yet."""
        path = self.home / "run.jsonl"
        path.touch()
        process = self.script("judge", str(path))
        self.assertEqual(1, process.returncode)
        self.assertIn(f"journal {path}: has no record yet;", process.stderr)

    def test_no_database(self):
        """The way out is named, and SQLite creates no file."""
        for arguments in (
            ("cleanup",),
            ("judge", "nothing"),
            ("plan", "kvm-overhead.yaml", "--env", "nope"),
        ):
            process = self.script(*arguments)
            self.assertEqual(1, process.returncode)
            self.assertIn("/rally.sqlite does not exist; ", process.stderr)
            self.assertIn("to create it: rally-vmperf init", process.stderr)
            self.assertNotIn("unexpected", process.stderr)
        self.assertEqual([], [*self.home.rglob("rally.sqlite")])

    def test_an_environment_that_is_not_there(self):
        """Rally's own words for it are those of its database."""
        subprocess.run(
            [
                *(str(pathlib.Path(SCRIPT).parent / "rally"),),
                *("--config-file", str(self.conf), "db", "ensure"),
            ],
            env={**os.environ, "HOME": str(self.home)},
            capture_output=True,
            check=True,
        )
        process = self.script("cleanup", "--env", "nope")
        self.assertEqual(1, process.returncode)
        self.assertIn("environment 'nope' does not exist", process.stderr)

    def test_show(self):
        """Figures with their units."""
        process = self.script("baseline", "show", "metal")
        self.assertRegex(
            process.stdout, r"cpu\.sysbench\.rate +\| 100 events/s"
        )
        self.assertIn("10.0 ms", process.stdout)
        process = self.script("baseline", "show", "slow")
        self.assertIn("class of machines: r740\n", process.stderr)

    def test_show_where_it_ran(self):
        """Facts that a baseline of a former version lacks are unknown."""
        process = self.script("baseline", "show", "metal", "-f", "json")
        self.assertIn("isolated CPUs: unknown\n", process.stderr)
        first = json.loads(process.stdout)[0]
        self.assertEqual(("-", "-"), (first["CPUs"], first["NUMA node"]))
        self.assertEqual("-", first["Network"])
        process = self.script("baseline", "show", "slow", "-f", "json")
        self.assertIn("isolated CPUs: 8-15\n", process.stderr)
        first = json.loads(process.stdout)[0]
        self.assertEqual(("8,9", "1"), (first["CPUs"], first["NUMA node"]))
        self.assertEqual(
            "to the peer, on another host, in a network of its own",
            first["Network"],
        )

    def test_compare(self):
        """The loss of the second, and in what the machines differ."""
        process = self.script("baseline", "compare", "metal", "slow")
        self.assertIn("50.0 %", process.stdout)
        self.assertIn("class: none in metal, r740 in slow\n", process.stderr)
        self.assertRegex(process.stderr, "kernel_differs: .* of metal: 6.1")

    def test_delete(self):
        """Gone is gone, and the second time an error."""
        self.assertEqual(
            0, self.script("baseline", "delete", "slow").returncode
        )
        process = self.script("baseline", "delete", "slow")
        self.assertEqual(1, process.returncode)
        self.assertIn("registered: metal", process.stderr)

    @ddt.data(
        (("baseline", "show", "nope"), "no baseline 'nope'"),
        (
            ("baseline", "record", "x", "--workload", "mbw", "--local"),
            "shape of the guests is missing",
        ),
        (
            (
                *("baseline", "record", "x", "--workload", "mbw", "--local"),
                *("--flavor", "m1.small"),
            ),
            "no environment is in use; create one with: rally-vmperf init;",
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
            "workload 'nope' does not exist; available: bzip2",
        ),
        (
            (
                *("baseline", "record", "x", "--workload", "mbw", "--local"),
                *("--jump", "rally@192.0.2.1"),
            ),
            "add --host",
        ),
        (
            (
                *("baseline", "record", "x", "--workload", "mbw", "--local"),
                *("--cpus", "4096", "--memory", "64"),
            ),
            "and 1 copy of 4096 vCPUs need 4096;",
        ),
        (
            (
                *("baseline", "record", "x", "--workload", "mbw"),
                *("--cpus", "1", "--memory", "64", "--host", "root@[::1"),
            ),
            "'root@[::1' is not a valid login; write user@host",
        ),
        (
            ("baseline", "record", "x", "--task", "nope.yaml", "--local"),
            "rally-vmperf: task 'nope.yaml': must be a file, or the name of",
        ),
    )
    @ddt.unpack
    def test_errors_are_one_line(self, arguments, text):
        """The thing, the value and the way out; no stack trace."""
        process = self.script(*arguments)
        self.assertEqual(1, process.returncode)
        self.assertIn(text, process.stderr)
        self.assertEqual(1, len(process.stderr.strip().splitlines()))


class TestImports(unittest.TestCase):
    """The help of all commands needs no slow import."""

    def test_slow_libraries(self):
        """Commands import the SDK, SSH and Rally when they run."""
        program = (
            "import sys\n"
            "from rally_vmperf.cmd import main\n"
            "for _, entry in main.Commands('rally_vmperf.commands'):\n"
            "    entry.load()\n"
            "slow = {'asyncssh', 'matplotlib', 'openstack', 'rally'}\n"
            "print(sorted(slow & sys.modules.keys()))\n"
        )
        process = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual("[]", process.stdout.strip())
