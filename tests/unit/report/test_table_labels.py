# SPDX-License-Identifier: Apache-2.0
"""Tests of the names of tables and the labels of their cells."""

import re
import unittest

from rally_vmperf.report import table_labels

_HEAD = "<thead><tr><th>Metric</th><th>Bare <br>metal</th></tr></thead>"


def _labels(html):
    """Return the labels of cells, None where a cell has none."""
    return [
        (cell.groups() or [None])[0] or None
        for cell in re.finditer(
            r'<td\b[^>]*?(?:data-label="([^"]*)")?>', table_labels.add(html)
        )
    ]


class AddTestCase(unittest.TestCase):
    """Cells are labelled, and tables named."""

    def test_cell_has_the_title_of_its_column(self):
        html = f"<table>{_HEAD}<tbody><tr><th>x</th><td>1</td></tr></table>"
        self.assertEqual(["Bare metal"], _labels(html))

    def test_roles_are_explicit(self):
        html = f"<table>{_HEAD}<tbody><tr><th>x</th><td>1</td></tr></table>"
        roles = re.findall(r'<(\w+)[^>]* role="(\w+)"', table_labels.add(html))
        self.assertEqual(
            [
                ("table", "table"),
                ("thead", "rowgroup"),
                ("tr", "row"),
                ("th", "columnheader"),
                ("th", "columnheader"),
                ("tbody", "rowgroup"),
                ("tr", "row"),
                ("th", "rowheader"),
                ("td", "cell"),
            ],
            roles,
        )

    def test_cell_below_a_span_of_rows(self):
        """A head of several rows shifts the cells of the later ones."""
        html = (
            f"<table>{_HEAD}<tbody><tr><th rowspan='2'>x</th><td>1</td></tr>"
            "<tr><td>2</td></tr><tr><th>y</th><td>3</td></tr></table>"
        ).replace("'", '"')
        self.assertEqual(["Bare metal"] * 3, _labels(html))
        (row,) = re.findall(
            "<tr[^>]*data-heading[^>]*>", table_labels.add(html)
        )
        self.assertEqual('<tr role="row" data-heading="x">', row)

    def test_cell_of_several_columns_has_no_title(self):
        html = f'<table>{_HEAD}<tbody><tr><td colspan="2">-</td></tr></table>'
        self.assertEqual([None], _labels(html))

    def test_quotes_end_no_attribute(self):
        """A title is that of another package, or of a run."""
        head = "<thead><tr><th>a&lt;b&gt;\"c'<wbr>d</th></tr></thead>"
        html = f"<table>{head}<tbody><tr><td>1</td></tr></table>"
        self.assertEqual(["a&lt;b&gt;&quot;c'd"], _labels(html))

    def test_table_without_titles(self):
        self.assertEqual([None], _labels("<table><tr><td>1</td></tr></table>"))

    def test_region_has_the_name_of_its_heading(self):
        """It is the last one: the next table of a section has another."""
        html = (
            '<h3>All <b class="x">"runs"</b></h3><p>x</p>'
            '<div class="scroll"><table></table></div>'
            '<details><summary>More</summary><div class="scroll"></div>'
        )
        self.assertEqual(
            ["All &quot;runs&quot;", "More"],
            re.findall(
                '<div class="scroll" tabindex="0" role="group" '
                'aria-label="([^"]*)">',
                table_labels.add(html),
            ),
        )

    def test_other_text_stays(self):
        html = "<p>table</p><h2>title</h2><td>1</td>"
        self.assertEqual(html, table_labels.add(html))
