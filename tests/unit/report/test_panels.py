# SPDX-License-Identifier: Apache-2.0
"""Tests of the drawings of distributions and of values over time."""

import re
import unittest

from rally_vmperf.report import page
from rally_vmperf.report import panels
from tests.unit import made
from tests.unit.report import shaped


def read(records):
    """Return what records hold."""
    return [record.repetition for record in records]


def gids(drawing):
    """Return the identifiers of what is drawn."""
    return re.findall(r' id="(here-[^"]*)"', drawing)


class TestOverhead(unittest.TestCase):
    """Guests and bare metal, in a panel for each metric."""

    def setUp(self):
        """Have a run of two guests."""
        super().setUp()
        self.repetitions = read(map(shaped.shaped, made.records(3, guests=2)))

    def test_distribution(self):
        """One curve of each side, on an axis of nines."""
        drawing = panels.distributions(self.repetitions, "here")
        self.assertEqual(
            ["here-0", "here-0-0-guests", "here-0-0-bare"], gids(drawing)
        )
        for phrase in ("disk.fio.randread.latency", "ms, logarithmic"):
            self.assertIn(phrase, drawing)
        for percent in ("50 %", "99 %", "99.9 %", "99.99 %"):
            self.assertIn(f">{percent}<", drawing)

    def test_only_as_far_as_values_support_it(self):
        """40,000 requests of one guest and repetition end before p99.99."""
        alone = read([shaped.shaped(made.run_record())])
        drawing = panels.distributions(alone, "here")
        self.assertIn(">99.9 %<", drawing)
        self.assertNotIn(">99.99 %<", drawing)

    def test_over_time(self):
        """The mean of the repetitions, each of them, and bare metal."""
        drawing = panels.over_time(self.repetitions, "here")
        self.assertEqual(
            ["here-0", "here-0-0-guests", "here-0-0-bare"], gids(drawing)
        )
        self.assertIn("kops/s", drawing)

    def test_warm_up_is_not_drawn(self):
        """Nor is anything where nothing was counted."""
        warm = [
            repetition
            for repetition in self.repetitions
            if not repetition.counted
        ]
        self.assertEqual(1, len(warm))
        self.assertEqual("", panels.distributions(warm, "here"))
        self.assertEqual("", panels.over_time(warm, "here"))

    def test_without_bare_metal(self):
        """Guests stand alone."""
        record = shaped.shaped(made.guest_records(count=1)[1])
        drawing = panels.over_time(read([record]), "here")
        self.assertEqual(["here-0", "here-0-0-guests"], gids(drawing))
        self.assertNotIn("bare metal<", drawing)

    def test_they_stand_on_the_page(self):
        """And not where there are none."""
        records = [shaped.shaped(record) for record in made.records(2)]
        whole = page.standalone([made.run_of(records)])
        plain = page.standalone([made.run_of(made.records(2))])
        for title in ("<h3>Distributions</h3>", "<h3>Over time</h3>"):
            self.assertIn(title, whole)
            self.assertNotIn(title, plain)

    def test_percentiles_that_no_guest_has_alone_are_in_the_table(self):
        """They compare all guests together with all copies."""
        records = [shaped.shaped(record) for record in made.records(guests=4)]
        run = made.run_of(records)
        comparisons = {
            row.metric.name: row.comparison for row in run.judgement.compared
        }
        tail = comparisons["disk.fio.randread.latency_p99_99"]
        self.assertGreater(
            tail.guest, 3 * comparisons["disk.fio.randread.latency_p95"].guest
        )
        self.assertGreater(tail.overhead_percent, 10)


class TestDensity(unittest.TestCase):
    """A curve for each number of guests, of many only some."""

    def repetitions(self, levels):
        """Return a run of these levels."""
        return read(
            map(
                shaped.shaped,
                made.density_records(levels, 2, bare_metal=(1,)),
            )
        )

    def test_each_number_of_guests(self):
        """With bare metal where it was measured."""
        drawing = panels.over_time(self.repetitions((1, 2, 3)), "here")
        self.assertEqual(
            [
                "here-0",
                "here-0-0-guests",
                "here-0-0-bare",
                "here-0-1-guests",
                "here-0-2-guests",
            ],
            gids(drawing),
        )
        for phrase in ("guests: 1<", "guests: 3<", "bare metal<"):
            self.assertIn(phrase, drawing)

    def test_of_many_the_first_the_last_and_two_between(self):
        """More could not be distinguished."""
        drawing = panels.distributions(
            self.repetitions((1, 2, 3, 4, 5, 6, 7)), "here"
        )
        self.assertEqual(
            ["guests: 1", "guests: 3", "guests: 5", "guests: 7"],
            re.findall(r"(guests: \d)<", drawing),
        )

    def test_they_stand_on_the_page(self):
        """As in a run of overhead."""
        records = [
            shaped.shaped(record) for record in made.density_records((1, 2), 2)
        ]
        whole = page.standalone(
            [made.density_run(records, made.DENSITY_LIMITS)]
        )
        self.assertIn("<h3>Distributions</h3>", whole)
        self.assertIn("<h3>Over time</h3>", whole)
