# SPDX-License-Identifier: Apache-2.0
"""Tests that judges judge whatever values records may hold."""

import math
import unittest

import hypothesis
from hypothesis import strategies

from rally_vmperf.judging.results import spreads
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.overhead import question as overhead
from tests.unit import made

VALUES = strategies.one_of(
    strategies.floats(sample.LOWEST, sample.HIGHEST),
    # As likely small as large, and at the ends, and the same again.
    strategies.floats(
        math.log(sample.LOWEST) + 1e-9, math.log(sample.HIGHEST) - 1e-9
    ).map(math.exp),
    strategies.sampled_from([sample.LOWEST, 1.0, sample.HIGHEST]),
)
STATUSES = {"passed", "failed", "inconclusive", "void", "unjudged"}


def several(size):
    return strategies.lists(VALUES, min_size=size, max_size=size)


class TestExtremes(unittest.TestCase):
    """A judgement and its sentence, and no exception."""

    def check(self, got):
        self.assertIn(got.status, STATUSES)
        self.assertTrue(got.sentence())

    @hypothesis.settings(max_examples=8, deadline=None)
    @hypothesis.given(strategies.data(), strategies.integers(1, 7))
    def test_of_repetitions(self, data, count):
        bare = {
            metric: data.draw(several(data.draw(strategies.integers(1, 7))))
            for metric in (made.EVENTS, made.LATENCY)
        }
        guest = {metric: data.draw(several(count)) for metric in bare}
        entries = made.several(guest, reference=made.reference(bare))
        self.check(made.judgement(entries))
        for figure in spreads.NAMES:
            limits = {f"max_{figure}": {"*": 10}}
            judge = overhead.SPREAD.parse(limits).create_judge()
            self.check(made.feed_judge(judge, entries).judgement())

    @hypothesis.settings(max_examples=8, deadline=None)
    @hypothesis.given(
        strategies.data(),
        strategies.sampled_from([(1, 2), (1, 2, 3, 4), (1, 2, 4, 8)]),
    )
    def test_of_numbers_of_guests(self, data, numbers):
        count = data.draw(strategies.integers(1, 4))
        entries = [
            made.repetition(
                number,
                [
                    made.level(
                        number,
                        guests,
                        {
                            metric: data.draw(several(guests))
                            for metric in (made.EVENTS, made.LATENCY)
                        },
                        planned_repetitions=count,
                    )
                    for guests in numbers
                ],
                planned_repetitions=count,
            )
            for number in range(1, count + 1)
        ]
        for of in ("mean", "worst"):
            self.check(made.degradation(entries, statistic=of))
        self.check(made.fairness(entries, {"*": 0.9}, {"*": 10}))
