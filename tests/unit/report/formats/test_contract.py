# SPDX-License-Identifier: Apache-2.0
"""The contract of all formats: a text changes no structure and no terminal.

A format is read as its programs read it. With hostile texts in its rows it has
the same lines, cells, elements and labels as with harmless ones.
"""

import csv
import io
import json
import re
import types
import unittest
from xml.etree import ElementTree

import ddt
from prometheus_client.openmetrics import parser

from rally_vmperf.records import table
from rally_vmperf.report import export
from tests.unit import listing
from tests.unit.report import planted

#: Characters with an effect on terminals, and those that change directions.
EFFECTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def _shape_csv(text):
    """Return the names of the columns, and the number of cells of lines."""
    names, *lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    return [names, *map(len, lines)]


def _shape_row(row):
    """Return the names and the types of the values of a JSON object."""
    return [(name, type(value)) for name, value in row.items()]


def _shape_json(text):
    """Return the names and the types of the values of all rows."""
    return [*map(_shape_row, json.loads(text)["rows"])]


def _shape_ndjson(text):
    """Return the names and the types of the values of all lines."""
    return [_shape_row(json.loads(line)) for line in text.splitlines()]


def _shape_junit(text):
    """Return the names of elements and of their attributes."""
    return [
        (element.tag, sorted(element.attrib))
        for element in ElementTree.fromstring(text).iter()
    ]


def _shape_openmetrics(text):
    """Return the names of the labels of all samples."""
    return [
        sorted(sample.labels)
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    ]


def _shape_markdown(text):
    """Return the marks, the number of cells and the HTML of lines."""
    shape = []
    for line in text.splitlines():
        outside = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", line)
        is_row = line.startswith("|")
        cells = len(re.findall(r"(?<!\\)\|", line)) if is_row else 0
        shape.append((line[:2], cells, outside.count("<")))
    return shape


#: Format -> a function that returns the structure of its text.
SHAPES = {
    "csv": _shape_csv,
    "json": _shape_json,
    "junit": _shape_junit,
    "markdown": _shape_markdown,
    "ndjson": _shape_ndjson,
    "openmetrics": _shape_openmetrics,
}


def _soften(content):
    """Return the content of a column without its hostile text."""
    if isinstance(content, tuple):
        return tuple(map(_soften, content))
    if isinstance(content, str):
        return content.replace(planted.HOSTILE, "x")
    return content


class Contract:
    """The checks of a format, which a test applies to each one."""

    def check(self, module, get_shape):
        """Fail if a text changes the structure, or acts on a terminal."""
        hostile_rows = planted.hostile_rows()
        harmless_rows = [table.Row(*map(_soften, row)) for row in hostile_rows]
        hostile, harmless = (
            "".join(module.render(lambda rows=rows: iter(rows)))
            for rows in (hostile_rows, harmless_rows)
        )
        self.assertIsNone(EFFECTS.search(hostile))
        self.assertNotEqual([], get_shape(harmless))
        self.assertEqual(get_shape(harmless), get_shape(hostile))


@ddt.ddt
class ContractTestCase(Contract, unittest.TestCase):
    def test_every_format_has_a_reader(self):
        listing.check(
            self,
            SHAPES,
            export.NAMES,
            "SHAPES in tests/unit/report/formats/test_contract.py",
            "add a function that returns the structure of a text in it",
        )

    @ddt.data(*SHAPES)
    def test_format(self, name):
        self.check(export.load_format(name), SHAPES[name])

    @ddt.data(
        ("csv", lambda row: ",".join(map(str, row)) + "\n"),
        ("ndjson", lambda row: f'{{"title": "{row.title}"}}\n'),
        ("markdown", lambda row: f"| {row.title} |\n"),
    )
    @ddt.unpack
    def test_format_without_escapes(self, name, render_row):
        """The contract rejects it."""
        module = types.SimpleNamespace(
            render=lambda rows: map(render_row, rows())
        )
        with self.assertRaises((AssertionError, ValueError, csv.Error)):
            self.check(module, SHAPES[name])
