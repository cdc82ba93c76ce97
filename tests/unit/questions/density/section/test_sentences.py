# SPDX-License-Identifier: Apache-2.0
import dataclasses
import unittest

import ddt

from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import shares
from tests.unit import made

NAME = "memory.mbw.memcpy.bandwidth"


@ddt.ddt
class ToldTestCase(unittest.TestCase):
    def test_limit_is_a_share(self):
        series = shares.series(made.density_row(NAME, limit=20))
        alone, two, _ = series.shares
        self.assertIsNone(sentences.limit_of(series, alone))
        self.assertAlmostEqual(0.8, sentences.limit_of(series, two))

    def test_limit_against_bare_metal_moves_with_it(self):
        row = made.density_row(NAME, limit=20, compare_to="bare_metal")
        series = shares.series(row)
        two = series.shares[1]
        self.assertAlmostEqual(0.8 * two.bare, sentences.limit_of(series, two))
        point = dataclasses.replace(two.point, bare=())
        without = dataclasses.replace(two, point=point)
        self.assertIsNone(sentences.limit_of(series, without))

    def test_no_line_without_a_limit(self):
        series = shares.series(made.density_row(NAME, limit=None))
        self.assertIsNone(sentences.limit_of(series, series.shares[1]))

    def test_a_curve_can_be_read_aloud(self):
        row = made.density_row(NAME, void=(2,), gaps=(3,))
        self.assertEqual(
            "rate per guest in percent of a solo guest: 1 guest 100.0 %, "
            "2 guests 96.2 % (void), 3 guests not measured",
            sentences.curve(shares.series(row)),
        )

    @ddt.data(
        ("cpu.events.rate", 611.0, "611 events/s"),
        ("cpu.bzip2.compress_time", 0.592, "0.592 per s"),
        (NAME, 1.87e10, "18.7 GB/s"),
    )
    @ddt.unpack
    def test_rate_of_a_time_is_so_many_a_second(self, name, value, sentence):
        self.assertEqual(
            sentence, sentences.rate(made.density_row(name).metric, value)
        )

    def test_missing_figures_have_no_sentence(self):
        row = made.density_row(NAME, limit=None)
        self.assertEqual([], sentences.max_guests(row))
