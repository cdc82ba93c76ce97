# SPDX-License-Identifier: Apache-2.0
"""Tests of all formats together."""

import base64
import gzip
import unittest
from unittest import mock

import ddt

from rally_vmperf.records import table
from rally_vmperf.report import export
from tests.unit import listing
from tests.unit import made
from tests.unit.report import planted
from tests.unit.report.formats import test_csv
from tests.unit.report.formats import test_json
from tests.unit.report.formats import test_junit
from tests.unit.report.formats import test_markdown
from tests.unit.report.formats import test_ndjson
from tests.unit.report.formats import test_openmetrics


def count_csv(rows):
    """Return the numbers of samples in CSV."""
    lines, _ = test_csv.read(rows)
    return count_documents(
        {**line, "counted": line["counted"] == "true"} for line in lines
    )


def has_value(document):
    """Return whether a row as a mapping has a value."""
    return document.get("value") not in ("", None)


def count_documents(documents):
    """Return the numbers of samples in rows as mappings."""
    return planted.count_samples(
        table.Row(
            side=document["side"],
            counted=document["counted"],
            value=document["value"] if has_value(document) else None,
            status=document["status"],
        )
        for document in documents
        if document["row"] == "sample"
    )


def count_junit(rows):
    """Return the numbers of samples in the properties of JUnit."""
    (suite,) = test_junit.read(rows)
    return {
        item.name.removeprefix("samples: "): int(item.value)
        for item in suite.properties()
    }


def count_openmetrics(rows):
    """Return the numbers of samples in the families of OpenMetrics."""
    families = test_openmetrics.read(rows)
    lines = [
        *((line, line.value) for line in test_openmetrics.samples(families)),
        *((line, None) for line in families["vmperf_missing"].samples),
    ]
    return count_documents(
        {
            **line.labels,
            "row": "sample",
            "counted": line.labels["counted"] == "true",
            "value": value,
        }
        for line, value in lines
    )


def count_markdown(rows):
    """Return the numbers of samples in the table of Markdown."""
    _, cells = test_markdown.read(rows)
    start = next(n for n, line in enumerate(cells) if "guest" in line)
    heads, _, *body = cells[start:]
    columns = zip(*body, strict=True)
    return {
        head: sum(map(int, column))
        for head, column in zip(heads[1:], [*columns][1:], strict=True)
    }


#: Format -> a function that counts the samples in its text, by kind.
COUNTERS = {
    "csv": count_csv,
    "json": lambda rows: count_documents(test_json.read(rows)["rows"]),
    "ndjson": lambda rows: count_documents(test_ndjson.read(rows)[1]),
    "junit": count_junit,
    "openmetrics": count_openmetrics,
    "markdown": count_markdown,
}


@ddt.ddt
class TestExport(unittest.TestCase):
    """The content that all formats share."""

    def test_every_format_is_counted(self):
        """The formats of the counters are those of the package."""
        listing.check(
            self,
            COUNTERS,
            export.NAMES,
            "COUNTERS in tests/unit/report/test_export.py",
            "add a function of rows that counts the samples in a text of it",
        )

    @ddt.data(*COUNTERS)
    def test_numbers_of_samples(self, name):
        """They are those of the records, by kind."""
        # Seven metrics in six repetitions of two guests, without one sample;
        # bare metal has five repetitions.
        expected = {
            "guest": 7 * 6 * 2 - 1,
            "bare metal": 7 * 5 * 2,
            "warm-up": 7 * 2,
            "void": 6 * 2,
            "missing": 1,
            "skipped": 0,
        }
        counts = COUNTERS[name](planted.rows())
        self.assertEqual(
            expected, {counter: counts[counter] for counter in table.COUNTS}
        )

    @ddt.data(*export.NAMES)
    def test_pieces(self, name):
        """The text of a run is that of its rows, in small pieces."""
        pieces = [*export.render(name, [planted.run()])]
        render = export.load_format(name).render
        self.assertEqual(
            "".join(render(lambda: iter(planted.rows()))), "".join(pieces)
        )
        if name not in ("junit", "markdown"):
            self.assertLess(max(map(len, pieces)), 2000)

    @ddt.data("csv", "json")
    def test_verdicts_only(self, name):
        """They have no sample."""
        text = "".join(export.render_verdicts(name, [planted.run()]))
        self.assertNotIn("bare_metal", text)
        for metric in planted.STATUSES:
            self.assertIn(metric, text)

    def test_several_runs(self):
        """Rows of all runs are in one document."""
        run = planted.run()
        rows = [*export.list_rows([run, run])]
        self.assertEqual(2 * len(planted.rows()), len(rows))

    def test_run_wide_findings(self):
        """A figure of a void run names the finding that voids it."""
        (row,) = (
            row
            for row in planted.rows()
            if row.row == "figure" and row.status == "void"
        )
        self.assertIn("above_physical_limit", row.findings)


class LinkTestCase(unittest.TestCase):
    """The results are part of the page."""

    def read(self, run):
        """Return the link of a run, and the lines of its file."""
        link = export.create_link(run)
        kind, _, encoded = link.address.partition(";base64,")
        content = base64.b64decode(encoded)
        if kind == "data:application/gzip":
            self.assertEqual("results.csv.gz", link.name)
            content = gzip.decompress(content)
        else:
            self.assertEqual(
                ("results.csv", "data:text/csv"), (link.name, kind)
            )
        return link, content.decode().splitlines()

    def test_small_file_is_plain(self):
        """It has what the format itself has."""
        run = made.run_of(made.records(), {"vmperf_overhead": made.LIMITS})
        link, lines = self.read(run)
        self.assertTrue(link.has_samples)
        self.assertEqual("results.csv", link.name)
        written = "".join(export.render("csv", [run]))
        self.assertEqual(written.splitlines(), lines)

    def test_large_file_is_compressed(self):
        """The same run has the same file."""
        run = made.run_of(made.records(count=50, guests=5))
        link, lines = self.read(run)
        self.assertEqual("results.csv.gz", link.name)
        self.assertTrue(link.has_samples)
        self.assertGreater(len("\n".join(lines)), 200_000)
        self.assertEqual(link, export.create_link(run))

    def test_too_many_samples_are_not_there(self):
        """The figures are."""
        run = made.run_of(made.records(), {"vmperf_overhead": made.LIMITS})
        with mock.patch.object(export, "MOST_SAMPLES", 10):
            link, lines = self.read(run)
        self.assertFalse(link.has_samples)
        written = "".join(export.render_verdicts("csv", [run]))
        self.assertEqual(written.splitlines(), lines)
