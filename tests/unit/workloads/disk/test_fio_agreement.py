# SPDX-License-Identifier: Apache-2.0
import pathlib
import re
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.disk import _fio_agreement
from rally_vmperf.workloads.disk import fio

DATA = pathlib.Path(__file__).parents[1] / "data"
ARGUMENTS = {
    "patterns": ["read"],
    "size_mib": 32,
    "runtime": 1,
    "ramp_time": 0,
}


@ddt.ddt
class OptionsTestCase(unittest.TestCase):
    """fio repeats the options of its command line, and no others."""

    def check(self, pattern, new):
        """Check an output in which a pattern was replaced once."""
        disk = fio.Fio()
        (command,) = disk.commands(disk.complete(ARGUMENTS), base.Endpoints())
        text = (DATA / "fio-3.33-read-1000.json").read_text()
        changed = re.sub(pattern, new, text, count=1)
        self.assertNotEqual(text, changed)
        _fio_agreement.check("read", changed, command.argv)

    @ddt.data(
        ('"direct" : "0"', "with direct=0 instead of direct=1"),
        ('"gtod_reduce" : "1"', "ran without direct=1"),
        ('"direct" : "1", "buffered" : "1"', "buffered=1, which was not"),
        ('"direct" : "1", "eta" : "x"', "ran with eta=x, which was not"),
        ('"direct" : "1", "time_based" : "0"', "time_based=0, which was not"),
    )
    @ddt.unpack
    def test_other_options(self, new, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.check('"direct" : "1"', new)

    def test_no_options(self):
        with self.assertRaisesRegex(base.WorkloadError, "without name=read"):
            self.check("job options", "options")

    @ddt.data("", "1")
    def test_flags_may_be_repeated(self, value):
        """Versions differ in it."""
        self.check(
            '"direct" : "1"', f'"direct" : "1", "time_based" : "{value}"'
        )
