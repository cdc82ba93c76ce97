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
class TestPercentiles(unittest.TestCase):
    """The percentiles that fio prints are those of its bins."""

    def setUp(self):
        """Have a real output of 1000 requests."""
        super().setUp()
        disk = fio.Fio()
        (self.command,) = disk.commands(
            disk.complete(ARGUMENTS), base.Endpoints()
        )
        self.text = (DATA / "fio-3.33-read-1000.json").read_text()

    def check(self, text):
        """Check an output against the command and against itself."""
        _fio_agreement.check("read", text, self.command.argv, 1 << 20)

    def test_of_a_thousand(self):
        """fio has none above 99.9 % of them."""
        self.check(self.text)

    def test_of_another_bin(self):
        """The bin below is not that of so many."""
        (told,) = set(re.findall(r'"99.900000" : (\d+)', self.text)[-1:])
        changed = self.text.replace(
            f'"99.900000" : {told}', '"99.900000" : 14745600'
        )
        self.assertNotEqual(self.text, changed)
        with self.assertRaisesRegex(base.WorkloadError, "its bins give"):
            self.check(changed)

    @ddt.data(
        (50, 10, 5),
        (50, 11, 6),
        (99, 1000, 990),
        (99.9, 999, 999),
        (99.9, 1000, 1000),
        (99.9, 2000, 1999),
        (99.99, 10000, 9999),
    )
    @ddt.unpack
    def test_rank(self, percent, counted, rank):
        """As fio computes it."""
        self.assertEqual(rank, _fio_agreement.rank_of(percent, counted))


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
        _fio_agreement.check("read", changed, command.argv, 1 << 20)

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


class OldVersionTestCase(unittest.TestCase):
    """The parts of a latency are less than the whole before fio 3.33."""

    def check(self, text):
        """Check an output of random reads for a second."""
        disk = fio.Fio()
        given = {**ARGUMENTS, "patterns": ["randread"], "size_mib": 16}
        (command,) = disk.commands(disk.complete(given), base.Endpoints())
        _fio_agreement.check("randread", text, command.argv, 4096)

    def test_versions(self):
        text = (DATA / "fio-3.25-randread.json").read_text()
        self.check(text)
        with self.assertRaisesRegex(base.WorkloadError, "which are not"):
            self.check(text.replace("fio-3.25", "fio-3.33"))
