# SPDX-License-Identifier: Apache-2.0
"""Tests of OpenMetrics text, read with the parser of prometheus-client."""

import collections
import unittest

from prometheus_client.openmetrics import parser

from rally_vmperf import sanitize
from rally_vmperf.report.formats import openmetrics
from tests.unit.report import planted


def read(rows):
    """Return the families of rows by name."""
    text = "".join(openmetrics.render(lambda: iter(rows)))
    return {
        family.name: family
        for family in parser.text_string_to_metric_families(text)
    }


def samples(families, prefix="vmperf_sample"):
    """Return the lines of families whose names begin with a prefix."""
    return [
        line
        for name, family in families.items()
        if name.startswith(prefix)
        for line in family.samples
    ]


class TestOpenMetrics(unittest.TestCase):
    """Stable names, base units, few labels."""

    def test_samples(self):
        """Each sample keeps its value, its state and its time."""
        rows = planted.list_samples(planted.rows())
        lines = samples(read(planted.rows()))
        expected = collections.Counter(
            (row.metric, row.guest, row.value, row.status)
            for row in rows
            if row.value is not None
        )
        self.assertEqual(
            expected,
            collections.Counter(
                (
                    line.labels["metric"],
                    line.labels["guest"],
                    line.value,
                    line.labels["status"],
                )
                for line in lines
            ),
        )
        self.assertTrue(all(line.timestamp for line in lines))
        counted = collections.Counter(line.labels["counted"] for line in lines)
        counts = planted.count_samples(rows)
        self.assertEqual(counts["warm-up"], counted["false"])
        self.assertGreater(counted["false"], 0)

    def test_missing(self):
        """A missing sample has no value, but a line."""
        (line,) = read(planted.rows())["vmperf_missing"].samples
        self.assertEqual("disk.fio.randread.iops", line.labels["metric"])
        self.assertEqual(
            ("g1", "missing"), (line.labels["guest"], line.labels["status"])
        )

    def test_units(self):
        """A suffix names the base unit; percentages become ratios."""
        families = read(planted.rows())
        for suffix in (
            *("seconds", "bytes_per_second", "bits_per_second"),
            *("operations_per_second", "events_per_second"),
        ):
            family = families[f"vmperf_sample_{suffix}"]
            self.assertEqual(suffix, family.unit)
        limits = {
            line.labels["metric"]: line.value
            for line in families["vmperf_limit_ratio"].samples
        }
        self.assertEqual(0.5, limits["cpu.events.rate"])
        self.assertEqual(set(planted.STATUSES), set(limits))

    def test_verdicts(self):
        """One state of each figure is set."""
        lines = samples(read(planted.rows()), "vmperf_verdict")
        states = {
            line.labels["metric"]: line.labels["vmperf_verdict"]
            for line in lines
            if line.value and "metric" in line.labels
        }
        self.assertEqual(planted.STATUSES, states)
        (whole,) = (
            line.labels["vmperf_verdict"]
            for line in lines
            if line.value and "metric" not in line.labels
        )
        self.assertEqual("failed", whole)

    def test_hostile_texts(self):
        """A text ends no label; a hostile unit ends no name."""
        families = read(planted.hostile_rows())
        for line in samples(families):
            self.assertEqual(
                sanitize.printable(f"{planted.HOSTILE}guest"),
                line.labels["guest"],
            )
        for name in families:
            self.assertRegex(name, "^vmperf_[a-z0-9_]+$")
