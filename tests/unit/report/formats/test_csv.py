# SPDX-License-Identifier: Apache-2.0
"""Tests of CSV, read with Python's module."""

import csv
import io
import unittest

from rally_vmperf.records import table
from rally_vmperf.report.formats import csv as csv_format
from tests.unit.report import planted


def read(rows):
    """Return the lines of rows as dicts, and the names of the columns."""
    text = "".join(csv_format.render(lambda: iter(rows)))
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    return [*reader], reader.fieldnames


class TestCsv(unittest.TestCase):
    """A line per row, with numbers that are not rounded."""

    def test_rows(self):
        """Each row keeps its numbers and states."""
        rows = planted.rows()
        lines, names = read(rows)
        self.assertEqual(list(table.Row._fields), names)
        self.assertEqual(len(rows), len(lines))
        for row, line in zip(rows, lines, strict=True):
            number = float(line["value"]) if line["value"] else None
            self.assertEqual(row.value, number)
            self.assertEqual(row.status or "", line["status"])
            self.assertEqual(
                str(row.counted).lower(), line["counted"] or "none"
            )
            self.assertEqual(" ".join(row.findings), line["findings"])

    def test_no_formula(self):
        """A spreadsheet computes no text; a number stays a number."""
        rows = planted.hostile_rows()
        lines, names = read(rows)
        self.assertEqual(len(rows), len(lines))
        for line in lines:
            self.assertEqual(set(names), set(line))
            for column in ("guest", "metric", "title", "reason", "findings"):
                self.assertTrue(line[column].startswith("'="), line[column])
        self.assertEqual("-1.5", lines[1]["value"])
        full_width = "\uff1d\uff0b\uff0d\uff20"
        for start in f"=+-@\t\r{full_width}":
            (line,), _ = read([table.Row(title=f"{start}1")])
            self.assertEqual("'", line["title"][0])

    def test_text(self):
        """Quotes and line ends survive; control characters do not."""
        (line, *_), _ = read(planted.hostile_rows())
        self.assertIn("\"\\,|`'", line["guest"])
        self.assertIn("\n", line["guest"])
        self.assertIn("</testsuite>", line["guest"])
        self.assertNotRegex(line["guest"], "[\x00\x1b\u202e]")
