# SPDX-License-Identifier: Apache-2.0
"""Tests of known differences."""

import datetime
import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf import errors
from rally_vmperf.audit import acknowledged

TODAY = datetime.date(2026, 3, 4)


@ddt.ddt
class TestAcknowledgements(unittest.TestCase):
    """A file of hosts, metrics, days and reasons."""

    def read(self, text):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = pathlib.Path(folder, "known.yaml")
        path.write_text(text)
        return acknowledged.read(str(path), TODAY)

    def test_accepted_metrics(self):
        """They are accepted by glob, until the last day."""
        acknowledgements = self.read(
            "- {host: a, metrics: 'disk.*', loss_percent: 10, "
            "until: 2026-03-04, reason: old}\n"
        )
        known = acknowledgements.find("a", "disk.fio.iops")
        self.assertEqual("old (until 2026-03-04)", known.describe())
        self.assertIsNone(acknowledgements.find("a", "cpu.sysbench.rate"))
        self.assertIsNone(acknowledgements.find("b", "disk.fio.iops"))
        self.assertIsNone(acknowledgements.find("a"))
        self.assertEqual([], acknowledgements.list_expired())

    def test_loss(self):
        """A loss is covered while it may be within the accepted one."""
        acknowledgements = self.read(
            "- {host: a, loss_percent: 10, until: 2026-03-04, reason: old}\n"
        )
        known = acknowledgements.find("a", "disk.fio.iops")
        for low, is_covered in ((-1, True), (10, True), (10.1, False)):
            self.assertEqual(is_covered, known.covers(low))
        self.assertFalse(known.covers(None))
        self.assertFalse(known.covers(acknowledged.ALL_LOST))

    def test_largest_loss(self):
        """It is that of several entries for a metric."""
        acknowledgements = self.read(
            "- {host: a, loss_percent: 10, until: 2026-03-04, reason: x}\n"
            "- {host: a, metrics: d*, loss_percent: 30, until: 2026-03-04, "
            "reason: y}\n"
        )
        self.assertEqual(30, acknowledgements.find("a", "disk").loss_percent)
        self.assertEqual(10, acknowledgements.find("a", "cpu").loss_percent)

    def test_missing_result(self):
        """A loss of 100 % of all metrics, the default, includes it."""
        acknowledgements = self.read(
            "- {host: a, loss_percent: 100, until: '2026-12-31', reason: x}\n"
        )
        self.assertTrue(
            acknowledgements.find("a").covers(acknowledged.ALL_LOST)
        )

    def test_expired(self):
        """An expired entry is not accepted any more, and is reported."""
        acknowledgements = self.read(
            "- {host: a, loss_percent: 9, until: 2026-03-03, reason: old}\n"
        )
        self.assertIsNone(acknowledgements.find("a", "cpu.x.rate"))
        self.assertEqual(
            ["the acknowledgement of a (old) expired on 2026-03-03"],
            acknowledgements.list_expired(),
        )

    def test_unknown_hosts(self):
        """They are reported."""
        acknowledgements = self.read(
            "- {host: a, loss_percent: 9, until: 2026-03-04, reason: old}\n"
        )
        self.assertEqual([], acknowledgements.list_unknown_hosts({"a"}))
        self.assertIn(
            "of a applies", acknowledgements.list_unknown_hosts({"b"})[0]
        )

    def test_none(self):
        """Accept nothing."""
        self.assertIsNone(acknowledged.Acknowledgements().find("a", "x"))

    @ddt.data(
        ("a", "known.yaml is damaged"),
        ("- a", "known.yaml is damaged"),
        ("- {host: a, loss_percent: 1, reason: x}", "until"),
        (
            "- {host: a, loss_percent: 1, until: soon, reason: x}",
            "until: 'soon': must be a day such as 2026-12-31$",
        ),
        ("- {host: a, loss_percent: 1, until: 2026-03-04}", "reason"),
        (
            "- {host: a, loss_percent: 1, until: 2026-03-04, reason: x, y: 1}",
            "y",
        ),
        ("- {host: a, loss_percent: 1, until: 20, reason: x}", "until"),
        (
            "- {host: a, until: 2026-03-04, reason: x}",
            r"known.yaml is damaged: .*'loss_percent' is a required",
        ),
        (
            "- {host: a, loss_percent: -1, until: 2026-03-04, reason: x}",
            "loss_percent",
        ),
        ("{", "not valid YAML"),
    )
    @ddt.unpack
    def test_invalid_files(self, text, message):
        """They are rejected with the position."""
        with self.assertRaisesRegex(
            errors.VMPerfError, f"--acknowledge .*{message}"
        ):
            self.read(text)

    def test_missing_file(self):
        """It is named."""
        with self.assertRaisesRegex(errors.VMPerfError, "nowhere.yaml"):
            acknowledged.read("nowhere.yaml", TODAY)
