"""Tests of the worst guests of repetitions."""

import unittest
from unittest import mock

import numpy

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.density import worst_guests


class TestChance(unittest.TestCase):
    """How far chance moves the largest loss of equal guests."""

    def draw(self, shared, guests=16):
        """Return losses with noise of guests, and of all guests at once."""
        random = numpy.random.default_rng(3)
        losses = 10 + random.normal(0, 0.5, (10, guests))
        losses += random.normal(0, 1, (10, 1)) * shared
        return {
            number: {f"g{guest}": loss for guest, loss in enumerate(row)}
            for number, row in enumerate(losses.tolist())
        }

    def test_shared_noise_is_no_chance(self):
        """A victim that rotates cannot hide in the noise of the level."""
        quiet = worst_guests.WorstGuests(self.draw(0)).percent_by_chance
        self.assertAlmostEqual(0.88, quiet, delta=0.15)
        loud = worst_guests.WorstGuests(self.draw(5)).percent_by_chance
        self.assertAlmostEqual(quiet, loud, delta=0.01)

    def test_fewer_than_two_guests(self):
        for losses in ({}, {1: {}}, {1: {"g1": 5.0}, 2: {"g1": 7.0}}):
            self.assertAlmostEqual(
                0, worst_guests.WorstGuests(losses).percent_by_chance
            )


class TestWorstGuests(unittest.TestCase):
    """A victim that rotates, with the allowance for chance."""

    ROTATING = worst_guests.WorstGuests(
        {
            number: {
                f"g{guest}": 41.0 if guest == number else 1.0 + guest / 100
                for guest in range(6)
            }
            for number in range(6)
        }
    )

    def test_rotating(self):
        """Each repetition has another worst guest."""
        self.assertEqual(
            [(number, f"g{number}") for number in range(6)],
            [(loss.number, loss.guest) for loss in self.ROTATING.largest],
        )
        self.assertAlmostEqual(41, self.ROTATING.percent)
        self.assertTrue(self.ROTATING.are_beyond(20))
        self.assertFalse(self.ROTATING.are_beyond(41))
        self.assertIn("41.0 % at most (g0 in", self.ROTATING.describe())

    def test_solo_guest(self):
        """It has no loss against itself."""
        nothing = worst_guests.WorstGuests({})
        self.assertIsNone(nothing.percent)
        self.assertFalse(nothing.are_beyond(0))
        self.assertEqual("", nothing.describe())

    def test_chance_is_computed_once(self):
        """Several limits and the remark need one computation at most."""
        guests = worst_guests.WorstGuests(self.ROTATING.losses)
        with mock.patch.object(
            statistics,
            "expected_largest",
            autospec=True,
            side_effect=statistics.expected_largest,
        ) as compute:
            for limit in (50, 60):
                self.assertFalse(guests.are_beyond(limit))
            compute.assert_not_called()
            for limit in (5, 10, 20):
                self.assertTrue(guests.are_beyond(limit))
            compute.assert_called_once()
