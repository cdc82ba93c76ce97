# SPDX-License-Identifier: Apache-2.0
"""The search for the most requests within a limit on their latency."""

import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

import ddt

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads.disk import fio
from rally_vmperf.workloads.scripts import fio_search
from tests.unit.workloads import golden

RUN = golden.RUNS["fio-search"]
#: Prints latencies of so many times 100 us as there are requests in flight.
FIO = """#!/bin/sh
for word; do case $word in --iodepth=*) depth=${word#*=};; esac; done
[ "$depth" -lt "$BROKEN" ] || exit 3
printf '{"jobs": [{"read": {"clat_ns": {"percentile": {"99.000000": %s}}}}]}' \
    "${depth}00000"
echo
"""


@ddt.ddt
class SearchTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = fio.Fio()
        self.arguments = self.workload.complete(RUN.arguments)
        (outcome,) = RUN.outcomes().values()
        self.text = outcome.stdout
        ends = [m.end() for m in re.finditer(r"^}\n", self.text, re.M)]
        self.steps = [
            self.text[a:b] for a, b in zip([0, *ends], ends, strict=False)
        ]

    def parse(self, text, **changes):
        """Return what is read of an output."""
        arguments = {**self.arguments, **changes}
        return self.workload.parse_all(
            arguments, {"search": golden.outcome("search", text)}
        )

    @ddt.data(
        ([(1, 1), (2, 1), (4, 0), (3, 1)], None),
        ([(1, 1), (2, 1), (4, 1), (8, 0), (6, 0), (5, 1)], None),
        ([(1, 1), (2, 1), (4, 1), (8, 1), (16, 0), (12, 1)], 14),
        ([(1, 0)], None),
        ([(1, 1), (2, 0)], None),
        ([], 1),
        ([(1 << n, 1) for n in range(9)], None),
    )
    @ddt.unpack
    def test_steps(self, steps, following):
        self.assertEqual(following, fio_search.next_depth(steps))

    def test_highest_rate_within_the_limit(self):
        value, series = self.parse(self.text)
        rates = [
            json.loads(step)["jobs"][0]["read"]["iops"] for step in self.steps
        ]
        self.assertEqual(9, len(rates))
        # The deepest of those that kept it.
        self.assertEqual(rates[5], value.value)
        self.assertEqual("disk.fio.search.iops", value.metric.name)
        self.assertIsInstance(series, sample.Series)
        self.assertEqual(rates, [rate for _, rate in series.points])

    def test_command(self):
        (command,) = self.workload.commands(self.arguments, base.Endpoints())
        self.assertEqual(
            ("python3", "fio_search.py", "8000000", "fio"), command.argv[:4]
        )
        self.assertNotIn("--iodepth=8", command.argv)
        (brought,) = self.workload.files(self.arguments)
        self.assertEqual("fio_search.py", brought.name)
        tools = [x.command for x in self.workload.tools(self.arguments)]
        self.assertEqual(["fio", "python3"], tools)
        plain = self.workload.complete({})
        self.assertEqual((), self.workload.files(plain))

    def test_invalid_searches(self):
        for text, message in (
            ("".join(self.steps[:-1]), "ended after 8 steps"),
            (self.text + self.steps[0], "more steps"),
            ("".join(self.steps[1:]), "iodepth=2 instead of iodepth=1"),
            (self.text + "x", "text after its last step"),
        ):
            with self.assertRaisesRegex(base.WorkloadError, message):
                self.parse(text)
        with self.assertRaisesRegex(base.WorkloadError, "runtime=1 instead"):
            self.parse(self.text, runtime=2)

    def test_none_within_the_limit(self):
        with self.assertRaisesRegex(
            base.WorkloadError, "exceeds 9 us with one request in flight"
        ):
            self.parse(self.steps[0], search_latency_us=9)

    def run_script(self, limit, broken=1000):
        """Run the program with a fio that answers at once."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "fio").write_text(FIO)
        (folder / "fio").chmod(stat.S_IRWXU)
        return subprocess.run(
            [sys.executable, fio_search.__file__, str(limit), "fio"],
            env={
                "PATH": f"{folder}:{os.environ['PATH']}",
                "BROKEN": str(broken),
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def test_program(self):
        process = self.run_script(2_000_000)
        self.assertEqual((0, ""), (process.returncode, process.stderr))
        latencies = re.findall(r'"99.000000": (\d+)00000}', process.stdout)
        self.assertEqual(
            ["1", "2", "4", "8", "16", "32", "24", "20"], latencies
        )

    def test_program_ends_with_fio(self):
        process = self.run_script(2_000_000, broken=4)
        self.assertEqual(3, process.returncode)
        self.assertEqual(2, process.stdout.count("jobs"))
