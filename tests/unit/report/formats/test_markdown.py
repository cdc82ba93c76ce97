# SPDX-License-Identifier: Apache-2.0
"""Tests of Markdown."""

import re
import unittest

import ddt

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


def outside_spans(text):
    """Return a text without its code spans, by the rules of CommonMark."""
    return re.sub(r"(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)", "", text)


@ddt.ddt
class TestMarkdown(unittest.TestCase):
    """A text that reviewers read."""

    def test_figures(self):
        """Failures are first."""
        text, cells = read(planted.rows())
        self.assertIn("\n- **overhead**: `failed: 1 of 4 metrics", text)
        figures = cells[2:6]
        self.assertEqual(
            ["failed", "void", "inconclusive", "passed"],
            [verdict for verdict, *_ in figures],
        )
        self.assertEqual(
            planted.STATUSES,
            {metric.strip("`"): status for status, metric, *_ in figures},
        )
        self.assertEqual("1.7 to 2.4 %", figures[-1][5])

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
        self.assertEqual({7}, {len(line) for line in cells})
        self.assertNotRegex(text, r"[\x00\x1b\u202e]")
        self.assertNotRegex(outside_spans(text), '[<`"={}&]')

    @ddt.data(
        *("@team", "http://evil.example", "www.evil.example", ":smile:"),
        *("#12", "!12", "~label", "%milestone", "g@evil.example", "a/b#1"),
        *("<b>", "[a](b)", "![a](b)", "**a**", "0123abc", "`@team`"),
        *("``@team`", "`", "@a `b` @c", "JIRA-1", "$1", "&amp;", "a|@b"),
    )
    def test_what_acts_in_a_merge_request(self, name):
        """Mentions, addresses and references are quoted, wherever they are."""
        row = table.Row(
            title=name,
            criterion=name,
            metric=name,
            figure=name,
            condition=name,
            unit=name,
            value=1.0,
            low=1.0,
            high=1.0,
            limit=1.0,
            status="failed",
            reason=f"{name} of {name}.",
        )
        text, cells = read(
            [
                row._replace(row="verdict", passed=False),
                row._replace(row="figure"),
                row._replace(row="sample", side="guest"),
            ]
        )
        self.assertEqual({7}, {len(line) for line in cells})
        allowed = "[a-zA-Z|*:# -]|\\n|[0-9](?= \\|)"
        self.assertEqual("", re.sub(allowed, "", outside_spans(text)))
        self.assertNotIn("team", outside_spans(text))
        self.assertNotIn("smile", outside_spans(text))

    def test_no_limits(self):
        """A run without limits says so."""
        row = table.Row(title="m1", metric="cpu.a.b", row="figure", value=1.0)
        self.assertIn("No limits.", read([row])[0])
