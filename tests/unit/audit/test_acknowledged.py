"""Tests of known differences."""

import datetime
import pathlib
import tempfile
import unittest

import ddt

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
            "- {host: a, metrics: 'disk.*', until: 2026-03-04, reason: old}\n"
        )
        self.assertEqual(
            "old (until 2026-03-04)",
            acknowledgements.for_metric("a", "disk.fio.iops"),
        )
        self.assertEqual(
            "", acknowledgements.for_metric("a", "cpu.sysbench.rate")
        )
        self.assertEqual("", acknowledgements.for_metric("b", "disk.fio.iops"))
        self.assertEqual("", acknowledgements.for_missing_result("a"))
        self.assertEqual([], acknowledgements.list_expired())

    def test_all_metrics(self):
        """They are the default, and include a missing result."""
        acknowledgements = self.read(
            "- {host: a, until: '2026-12-31', reason: broken}\n"
        )
        self.assertIn("broken", acknowledgements.for_metric("a", "cpu.x.rate"))
        self.assertIn("broken", acknowledgements.for_missing_result("a"))

    def test_expired(self):
        """An expired entry is not accepted any more, and is reported."""
        acknowledgements = self.read(
            "- {host: a, until: 2026-03-03, reason: old}\n"
        )
        self.assertEqual("", acknowledgements.for_metric("a", "cpu.x.rate"))
        self.assertEqual(
            ["the acknowledgement of a (old) expired on 2026-03-03"],
            acknowledgements.list_expired(),
        )

    def test_unknown_hosts(self):
        """They are reported."""
        acknowledgements = self.read(
            "- {host: a, until: 2026-03-04, reason: old}\n"
        )
        self.assertEqual([], acknowledgements.list_unknown_hosts({"a"}))
        self.assertIn(
            "of a applies", acknowledgements.list_unknown_hosts({"b"})[0]
        )

    def test_none(self):
        """Accept nothing."""
        acknowledgements = acknowledged.Acknowledgements()
        self.assertEqual("", acknowledgements.for_metric("a", "x"))
        self.assertEqual("", acknowledgements.for_missing_result("a"))

    @ddt.data(
        ("a", "known.yaml is damaged"),
        ("- a", "known.yaml is damaged"),
        ("- {host: a, reason: x}", "until"),
        ("- {host: a, until: soon, reason: x}", "until: Invalid isoformat"),
        ("- {host: a, until: 2026-03-04}", "reason"),
        ("- {host: a, until: 2026-03-04, reason: x, y: 1}", "y"),
        ("- {host: a, until: 20, reason: x}", "until"),
        ("{", "not valid YAML"),
    )
    @ddt.unpack
    def test_invalid_files(self, text, message):
        """They are rejected with the position."""
        with self.assertRaisesRegex(
            acknowledged.AcknowledgementError, f"--acknowledge .*{message}"
        ):
            self.read(text)

    def test_missing_file(self):
        """It is named."""
        with self.assertRaisesRegex(
            acknowledged.AcknowledgementError, "nowhere.yaml"
        ):
            acknowledged.read("nowhere.yaml", TODAY)
