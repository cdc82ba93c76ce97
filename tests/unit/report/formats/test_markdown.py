"""Tests of Markdown."""

import re
import unittest

from rally_vmperf.records import table
from rally_vmperf.report.formats import markdown
from tests.unit.report import planted


def read(rows):
    """Return the text of rows, and the cells of the lines of its tables."""
    text = "".join(markdown.render(lambda: iter(rows)))
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return text, cells


class TestMarkdown(unittest.TestCase):
    """A text that reviewers read."""

    def test_figures(self):
        """Failures are first."""
        text, cells = read(planted.rows())
        self.assertIn("\n- **overhead**: failed: 1 of 4 metrics", text)
        figures = cells[2:6]
        self.assertEqual(
            ["failed", "void", "inconclusive", "passed"],
            [verdict for verdict, *_ in figures],
        )
        self.assertEqual(
            planted.STATUSES,
            {metric: status for status, metric, *_ in figures},
        )

    def test_numbers_of_samples(self):
        """They are those of the table."""
        rows = planted.rows()
        _, cells = read(rows)
        heads, _, *body = cells[6:]
        self.assertEqual(["Samples", *table.COUNTS], heads)
        counts = planted.count_samples(planted.list_samples(rows))
        for column, name in enumerate(table.COUNTS, start=1):
            total = sum(int(line[column]) for line in body)
            self.assertEqual(counts[name], total, name)

    def test_hostile_texts(self):
        """A text ends no cell and has no markup."""
        text, cells = read(planted.hostile_rows())
        self.assertEqual({6, 7}, {len(line) for line in cells})
        self.assertNotRegex(text, r"[\x00\x1b\u202e]")
        self.assertNotRegex(text, r"(?<!\\)[<`]")

    def test_no_limits(self):
        """A run without limits says so."""
        row = table.Row(title="m1", metric="cpu.a.b", row="figure", value=1.0)
        self.assertIn("No limits.", read([row])[0])
