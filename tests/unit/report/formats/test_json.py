# SPDX-License-Identifier: Apache-2.0
"""Tests of the JSON document against the schema of its rows."""

import json
import unittest

import jsonschema

from rally_vmperf.records import table
from rally_vmperf.report.formats import json as json_format
from tests.unit.records import test_table
from tests.unit.report import planted


def read(rows):
    """Return the document of rows."""
    return json.loads("".join(json_format.render(lambda: iter(rows))))


class TestJson(unittest.TestCase):
    """A document that is valid by the published schema."""

    def test_rows(self):
        """Each row is as in the table."""
        rows = planted.rows()
        document = read(rows)
        self.assertEqual(table.VERSION, document["version"])
        validator = jsonschema.Draft7Validator(test_table.schema())
        for row, content in zip(rows, document["rows"], strict=True):
            validator.validate(content)
            expected = row._replace(findings=[*row.findings])
            self.assertEqual(
                expected,
                table.Row(**{"findings": [], **content}),
            )

    def test_hostile_texts(self):
        """Texts are not changed, and a terminal is not controlled."""
        rows = planted.hostile_rows()
        text = "".join(json_format.render(lambda: iter(rows)))
        self.assertTrue(text.replace("\n", "").isprintable())
        self.assertTrue(text.isascii())
        for row, content in zip(rows, read(rows)["rows"], strict=True):
            self.assertEqual(row.guest, content["guest"])

    def test_no_rows(self):
        """Nothing is a document, too."""
        self.assertEqual({"version": table.VERSION, "rows": []}, read([]))
