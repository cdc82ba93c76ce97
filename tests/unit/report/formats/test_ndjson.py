# SPDX-License-Identifier: Apache-2.0
"""Tests of the lines for OpenSearch's bulk interface."""

import json
import unittest

from rally_vmperf.report.formats import ndjson
from tests.unit.report import planted


def read(rows):
    """Return the actions and the documents of rows."""
    text = "".join(ndjson.render(lambda: iter(rows)))
    lines = [json.loads(line) for line in text.splitlines()]
    return lines[::2], lines[1::2]


class TestNdjson(unittest.TestCase):
    """An action and a document per row."""

    def test_rows(self):
        """Each document has its own identifier, the same each time."""
        rows = planted.rows()
        actions, documents = read(rows)
        self.assertEqual(len(rows), len(documents))
        for action in actions:
            self.assertEqual(["index"], [*action])
            self.assertEqual("vmperf", action["index"]["_index"])
        names = [action["index"]["_id"] for action in actions]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(actions, read(planted.rows())[0])

    def test_numbers_are_floats(self):
        """An index that guesses types must not take them for integers."""
        text = "".join(ndjson.render(lambda: iter(planted.rows())))
        self.assertNotRegex(text, r'"(value|low|high|limit)": -?\d+[,}]')

    def test_hostile_texts(self):
        """A text does not end a line."""
        rows = planted.hostile_rows()
        actions, documents = read(rows)
        self.assertEqual(len(rows), len(actions))
        self.assertEqual(
            [row.guest for row in rows],
            [document["guest"] for document in documents],
        )
