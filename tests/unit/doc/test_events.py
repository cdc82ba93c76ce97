# SPDX-License-Identifier: Apache-2.0
"""Tests of the page on events."""

import unittest

from rally_vmperf import declaration
from rally_vmperf.runs import event_types
from tests.unit.doc import pages

PAGE = pages.ROOT / "doc/source/events.rst"


class EventsTestCase(unittest.TestCase):
    """Each event has a row, which names its options."""

    def test_rows(self):
        text = PAGE.read_text()
        table = text[text.index("\nEvent  ") :]
        rows = dict(
            row.split("``", 1)
            for row in table.partition("\n\n")[0].split("\n``")[1:]
        )
        hint = f"the table of {PAGE} has one row for each event"
        self.assertEqual([*event_types.list_names()], sorted(rows), hint)
        for name, row in rows.items():
            event_type = event_types.get_type(name)
            for option in declaration.build_schema(event_type)["properties"]:
                self.assertIn(f"``{option}``", row, name)
            # The first word after the name is who can request it.
            needs_admin = row.split()[0] == "required"
            self.assertEqual(event_type.needs_admin, needs_admin, name)
