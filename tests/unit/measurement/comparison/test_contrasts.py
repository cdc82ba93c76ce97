# SPDX-License-Identifier: Apache-2.0
"""Tests of contrasts of guests with a reference."""

import unittest

import ddt
import numpy

from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from tests.unit import made

HUNDRED = (100.0, 101.0, 99.0, 100.0, 100.0)


def build_samples(rates_by_guest):
    """Return the samples of repetitions from the rates of each guest."""
    longest = max(map(len, rates_by_guest.values()))
    return [
        sample.MetricSamples(
            number=place + 1,
            observations=tuple(
                sample.Observation(
                    guest, sample.Sample(made.IOPS, rates[place])
                )
                for guest, rates in rates_by_guest.items()
                if place < len(rates)
            ),
        )
        for place in range(longest)
    ]


class TestWorst(unittest.TestCase):
    """The worst guest is the one that decides."""

    def test_a_guest_without_an_interval(self):
        """It never fails a limit, and never keeps one."""
        contrast = contrasts.Contrast(
            metric=made.IOPS,
            reference=build_samples({"bare": HUNDRED}),
            other=build_samples(
                {"g1": HUNDRED[:1], "g2": HUNDRED, "g3": HUNDRED[:2]}
                | {"g4": [0.7 * rate for rate in HUNDRED], "g5": [60.0]}
            ),
        )
        for status, worst in (("failed", "g4"), ("inconclusive", "g5")):
            self.assertEqual(worst, contrast.find_worst(status))
            comparison, guests = contrast.find_decisive("worst", status)
            self.assertIs(contrast.corrected[worst], comparison)
            self.assertEqual(5, guests)


def draw(guests, repetitions=10, shared=0.0, seed=3):
    """Return losses with noise of guests, and of all guests at once."""
    random = numpy.random.default_rng(seed)
    losses = random.normal(0, 0.02, (repetitions, guests))
    return losses + random.normal(0, 1, (repetitions, 1)) * shared


def build(table):
    """Return the worst guests of a table of losses by repetition."""
    return contrasts.WorstGuests(
        {
            number: {f"g{guest}": loss for guest, loss in enumerate(row)}
            for number, row in enumerate(table.tolist(), start=1)
        }
    )


@ddt.ddt
class TestTurns(unittest.TestCase):
    """Guests take turns if their means and chance do not explain the worst."""

    @ddt.data(2, 4, 8, 32)
    def test_equal_guests(self, guests):
        """Chance alone makes one of them the worst, in about 1 %."""
        turns = [
            build(draw(guests, repetitions, seed=seed)).take_turns
            for seed in range(100)
            for repetitions in (6, 10)
        ]
        self.assertLessEqual(sum(turns), 3)

    @ddt.data(2, 4, 8, 32)
    def test_rotating_victim(self, guests):
        """Each repetition has another victim."""
        losses = draw(guests)
        for number in range(10):
            losses[number, number % guests] += 0.5
        self.assertTrue(build(losses).take_turns)

    @ddt.data((2, 10), (4, 10), (4, 6), (8, 10), (32, 15))
    @ddt.unpack
    def test_half_of_the_guests(self, guests, repetitions):
        """Half of the guests suffer by turns: they raise no allowance."""
        losses = draw(guests, repetitions)
        for number in range(repetitions):
            losses[number, numpy.arange(guests) % 2 == number % 2] += 0.5
        self.assertTrue(build(losses).take_turns)

    @ddt.data(2, 4, 8, 32)
    def test_one_victim(self, guests):
        """The same guest is always the worst: it has a loss of its own."""
        losses = draw(guests)
        losses[:, 0] += 0.5
        self.assertFalse(build(losses).take_turns)

    def test_shared_noise(self):
        """A victim cannot hide in what all guests of a repetition share."""
        losses = draw(8, shared=0.2)
        self.assertFalse(build(losses).take_turns)
        for number in range(10):
            losses[number, number % 8] += 0.2
        self.assertTrue(build(losses).take_turns)

    @ddt.data({}, {1: {}}, {1: {"g1": 5.0}, 2: {"g1": 7.0}}, {1: {"g1": 0.1}})
    def test_too_few(self, losses):
        self.assertFalse(contrasts.WorstGuests(losses).take_turns)


class TestLargestLosses(unittest.TestCase):
    def test_worst(self):
        table = numpy.array([[0.1, 0.3], [0.2, 0.1]])
        self.assertEqual({1: "g1", 2: "g0"}, build(table).worst)
        self.assertEqual({}, contrasts.WorstGuests({1: {}}).worst)


@ddt.ddt
class TestAlike(unittest.TestCase):
    """A guest that is worse than the mean guest, with the noise of all."""

    @ddt.data(2, 4, 8, 32)
    def test_equal_guests(self, guests):
        """Chance alone makes one of them worse, in about 2.5 %."""
        count = 0
        for seed in range(200):
            alike = build(draw(guests, 6, 0.5, seed)).list_alike(0.95)
            count += len(alike) < guests
        self.assertLessEqual(count, 10)

    @ddt.data(2, 4, 8, 32)
    def test_one_victim(self, guests):
        losses = draw(guests, 6, 0.5)
        losses[:, 1] += 0.15
        alike = build(losses).list_alike(0.95)
        self.assertNotIn("g1", alike)
        self.assertEqual(guests - 1, len(alike))

    def test_half_of_the_guests(self):
        losses = draw(8, 6)
        losses[:, :4] += 0.1
        self.assertEqual(
            ["g4", "g5", "g6", "g7"], build(losses).list_alike(0.95)
        )

    def test_too_few(self):
        """One guest or one repetition is not compared."""
        for losses in (draw(1), draw(4, 1), draw(4)[:0]):
            self.assertEqual([], build(losses).list_alike(0.95))

    def test_absent_guest(self):
        """A guest that some repetitions lack is not compared."""
        losses = {1: {"g1": 0.1, "g2": 0.2}, 2: {"g1": 0.1, "g3": 0.3}}
        guests = contrasts.WorstGuests(losses)
        self.assertEqual(["g1"], guests.common)
        self.assertEqual([], guests.list_alike(0.95))


class TestSides(unittest.TestCase):
    """Sentences name the side that they speak of."""

    def test_solo_guests_without_pairs(self):
        """More repetitions of bare metal would not decide."""
        contrast = contrasts.Contrast(
            metric=made.IOPS,
            reference=build_samples({"g1": HUNDRED[:2]}),
            other=build_samples({"g1": HUNDRED, "g2": HUNDRED})[2:],
            pairing="if_enough",
            as_rates=True,
        )
        self.assertFalse(contrast.mean.paired)
        self.assertEqual(
            "at least 5 repetitions are needed to say",
            verdict.would_decide(contrast.mean),
        )
