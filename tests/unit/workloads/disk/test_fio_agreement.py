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
