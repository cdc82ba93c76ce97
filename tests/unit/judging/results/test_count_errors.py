# SPDX-License-Identifier: Apache-2.0
"""Tests of counts that have an error, such as those of a migration."""

import unittest

import ddt

from rally_vmperf.judging.results import absolute_value
from rally_vmperf.judging.results import result
from rally_vmperf.measurement.event import figures
from rally_vmperf.measurement.samples import sample


def create(metric, *pairs):
    """Return the worst count of repetitions, each a value and its error."""
    guest = tuple(
        sample.MetricSamples(
            number=number,
            observations=(
                figures.observe(
                    metric,
                    "g1",
                    figures.Approximation(value=value, error=error),
                ),
            ),
        )
        for number, (value, error) in enumerate(pairs, 1)
    )
    return absolute_value.AbsoluteValue(metric=metric, side="max", guest=guest)


@ddt.ddt
class TestCountErrors(unittest.TestCase):
    """The whole interval of the worst repetition is compared."""

    @ddt.data(
        (0.35, "passed"),
        (0.33, "inconclusive"),
        (0.30, "inconclusive"),
        (0.25, "failed"),
    )
    @ddt.unpack
    def test_status(self, limit, expected):
        figure = create(
            figures.DOWNTIME, (0.2, 0.01), (0.3, 0.04), (0.1, 0.01)
        )
        self.assertEqual(expected, figure.decide(limit))

    def test_an_imprecise_repetition_does_not_pass(self):
        """It may have been worse than the worst value."""
        figure = create(figures.DOWNTIME, (0.2, 0.0), (0.1, 0.4), (0.2, 0.0))
        self.assertEqual("inconclusive", figure.decide(0.3))
        self.assertEqual((0.2, 0.2, 0.5), tuple(figure.estimate()))

    def test_two_repetitions_do_not_pass(self):
        figure = create(figures.DOWNTIME, (0.2, 0.0), (0.2, 0.0))
        self.assertEqual("inconclusive", figure.decide(1))

    def test_percent_has_one_sign(self):
        row = result.Result(
            figure=create(figures.DIP, (12.0, 2.0), (11.0, 2.0)),
            limit=40.0,
            pattern=figures.DIP.name,
        )
        self.assertEqual(
            ("12.0 %", "10.0 to 14.0 %", "limit 40 %"), tuple(row.cells())
        )
