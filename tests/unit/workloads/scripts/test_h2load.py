# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from rally_vmperf.workloads.scripts import h2load


class SummaryTestCase(unittest.TestCase):
    def test_pages_that_came_are_counted_and_others_are_not(self):
        log = ["5000000\t200\t123456\n", "6100000\t404\t7\n"]
        log += ["4000000\t200\t123400\n", "6200000\t-1\t9\n"]
        self.assertEqual(
            {
                "rows": 4,
                "microseconds": 1123456,
                "response_microseconds": 246856,
                "response_times": {"123000": 2},
                "per_second": [1, 1],
                "response_times_per_second": {
                    "0": [123400, 123400],
                    "1": [123456, 123456],
                },
            },
            h2load.summary(log),
        )

    def test_seconds_without_pages_are_zero(self):
        log = ["1000000\t200\t10\n", "3500000\t200\t10\n"]
        self.assertEqual([1, 0, 1], h2load.summary(log)["per_second"])

    def test_the_percentile_of_a_second(self):
        """It is the smallest value that 95 % of the pages do not exceed."""
        log = [f"1000000\t200\t{time}\n" for time in range(1, 41)]
        percentiles = h2load.summary(log)["response_times_per_second"]
        self.assertEqual({"0": [820, 38]}, percentiles)

    def test_an_empty_log(self):
        log_summary = h2load.summary([])
        self.assertEqual(
            (0, []), (log_summary["rows"], log_summary["per_second"])
        )


#: An h2load: it writes its log and its line, or fails.
FAKE = """\
#!/bin/sh
case "$*" in
*fails*) echo "cannot connect"; exit 3 ;;
esac
log=${1#--log-file=}
printf '%s\\t200\\t100\\n' "$2" >"$log"
echo "requests: $2 total"
"""


class ProgramTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        (self.top / "h2load").write_text(FAKE)
        (self.top / "h2load").chmod(0o755)

    def run_program(self, *arguments):
        (self.top / h2load.LOG).write_text("of another run")
        process = subprocess.run(
            [sys.executable, h2load.__file__, *arguments],
            cwd=self.top,
            env={**os.environ, "PATH": f"{self.top}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(
            ["h2load"], [path.name for path in self.top.iterdir()]
        )
        return process

    def test_one_load(self):
        loads = json.loads(self.run_program("5").stdout)
        self.assertEqual(1, loads["rows"])
        self.assertEqual(["requests: 5 total"], loads["h2load"])

    def test_one_that_fails(self):
        process = self.run_program("fails")
        self.assertEqual(
            (3, "", "cannot connect\n"),
            (process.returncode, process.stdout, process.stderr),
        )

    def test_an_h2load_that_does_not_start(self):
        (self.top / "h2load").write_text("")
        process = self.run_program("5")
        self.assertEqual((1, ""), (process.returncode, process.stdout))
