# SPDX-License-Identifier: Apache-2.0
"""Tests of what our commands and Rally's log show on a terminal."""

import dataclasses
import json
import os
import pathlib
import sys
import tempfile
import unittest

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.report import export
from tests.unit import confinement
from tests.unit import made
from tests.unit.hostile import records
from tests.unit.hostile import terminal

SCRIPT = str(pathlib.Path(sys.executable).parent / "rally-vmperf")
#: What a file's name may hold.
NAME = records.ALL.replace("/", "").replace("\0", "")[:60]


@ddt.ddt
class TestTerminal(unittest.TestCase):
    """It obeys no text of others, in any quote."""

    @classmethod
    def setUpClass(cls):
        """Have a baseline, a journal, results and limits of others."""
        super().setUpClass()
        cls.home = pathlib.Path(
            cls.enterClassContext(tempfile.TemporaryDirectory())
        )
        registry = store.Store(cls.home / "baselines")
        registry.save(made.baseline())
        bad = records.ALL
        registry.save(
            made.baseline(
                name="bad",
                entries=(made.entry(limited_by=bad),),
                machine=document.BaselineMachine(
                    name=bad,
                    fingerprint={"kernel": bad, "isolated_cpus": bad},
                ),
            )
        )
        metric = dataclasses.replace(made.EVENTS, name=bad)
        values = (100.0, 100.1, 99.9, 100.2, 200.0, 200.1, 199.9, 200.2)
        registry.save(
            made.baseline(
                name="irregular",
                entries=(made.entry({metric: values}),),
            )
        )
        (registry.folder / "folder.json").mkdir()
        for name, content in {
            "baselines/damaged.json": {"version": bad, bad: bad},
            "limits.json": {"vmperf_overhead": made.LIMITS},
            "wrong.json": {bad: {bad: bad}},
        }.items():
            (cls.home / name).write_text(json.dumps(content))
        lines = map(json.dumps, records.of_overhead())
        (cls.home / "bad.jsonl").write_text("\n".join(lines))
        (cls.home / "rally.conf").write_text(
            f"[vmperf]\nbaseline_dir = {registry.folder}\n"
            f"[database]\nconnection = sqlite:///{cls.home}/rally.sqlite\n"
        )

    def check(self, code, *argv):
        """Return what a process shows that must end so."""
        status, shown = terminal.shown(argv, HOME=str(self.home))
        self.assertEqual(code, status, shown[-2000:])
        self.assertEqual([], terminal.obeyed(shown.replace("\t", "")))
        self.assertNotIn("Traceback", shown)
        return shown

    @ddt.data(
        (0, "baseline list --config-file {home}/rally.conf"),
        (0, "baseline show bad --config-file {home}/rally.conf"),
        (0, "baseline show irregular --config-file {home}/rally.conf"),
        (0, "baseline compare metal bad --config-file {home}/rally.conf"),
        (1, "baseline show damaged --config-file {home}/rally.conf"),
        (2, "judge {home}/bad.jsonl --limits {home}/limits.json"),
        (1, "judge {home}/bad.jsonl --limits {home}/wrong.json"),
        (0, "report {home}/bad.jsonl -o {home}/page.html"),
        (0, "report {home}/bad.jsonl -o -"),
        *(
            (0, f"report {{home}}/bad.jsonl --format {name}")
            for name in export.NAMES
        ),
    )
    @ddt.unpack
    def test_command(self, code, command):
        """Figures and errors of documents of others."""
        argv = command.format(home=self.home).split()
        self.assertTrue(self.check(code, SCRIPT, *argv))

    def test_one_function_writes(self):
        """A command that writes by itself can forget to sanitise."""
        folder = confinement.CHECKOUT / "rally_vmperf" / "cmd"
        for path in sorted(folder.rglob("*.py")):
            if path.name != "base.py":
                with self.subTest(path=path):
                    self.assertNotRegex(
                        path.read_text(),
                        r"std(out|err)\.write|\bprint\(|"
                        r"stream\.write|file=sys",
                    )

    def test_name_of_a_file(self):
        """One that is not there is named all the same."""
        shown = self.check(1, SCRIPT, "report", f"{NAME}.json")
        self.assertIn("No such file", shown)

    def test_log_of_rally(self):
        """Contexts that failed, in Rally's log on standard error."""
        argv = (sys.executable, "-m", "tests.unit.hostile.loud")
        previous = os.getcwd()
        self.addCleanup(os.chdir, previous)
        os.chdir(confinement.CHECKOUT)
        status, shown = terminal.shown(argv)
        self.assertEqual(0, status, shown[-2000:])
        self.assertEqual([], terminal.obeyed(shown.replace("\t", "")))
        self.assertGreater(shown.count("PWNED"), 6)

    def test_the_terminal_would_obey(self):
        """These tests see text that is not sanitised."""
        text = "\x1b[2J\x07"
        argv = (sys.executable, "-c", f"print({text!r})")
        _, shown = terminal.shown(argv)
        self.assertEqual(list("\x1b\x07"), terminal.obeyed(shown))
