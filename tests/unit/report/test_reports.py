# SPDX-License-Identifier: Apache-2.0
"""Tests of reports of judged runs."""

import dataclasses
import unittest

from rally_vmperf.report import reports
from tests.unit import made


class TitleTestCase(unittest.TestCase):
    """Links on a page need unique titles."""

    def test_repeated_titles_are_numbered(self):
        run = made.run_of(made.records(count=1, warmup=0))
        other = dataclasses.replace(run, title="x")
        titles = [
            each.title
            for each in reports.with_unique_titles([run, other, run, run])
        ]
        self.assertEqual(
            [run.title, "x", f"{run.title} (2)", f"{run.title} (3)"], titles
        )


class NeighboursTestCase(unittest.TestCase):
    """Guests that are not measured have a line."""

    def test_guests_with_another_workload(self):
        (record,) = made.records(count=1, warmup=0)
        self.assertEqual([], made.run_of([record]).unmeasured_facts)
        neighbours = {
            "guests": 2,
            "workload": "fio",
            "arguments": {"runtime": 5},
        }
        record = made.with_fields(record, options={"neighbours": neighbours})
        ((title, lines),) = made.run_of([record]).unmeasured_facts
        self.assertEqual("Neighbours", title)
        self.assertEqual(["2 guests, the last, with fio (runtime=5)"], lines)
