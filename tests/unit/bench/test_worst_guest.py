# SPDX-License-Identifier: Apache-2.0
"""A short form of the simulation of one of several guests, with few runs."""

import unittest

import ddt

from tests.bench import worst_guest

NOISE = 0.01
TRIALS = 8


@ddt.ddt
class WorstGuestTest(unittest.TestCase):
    """Four guests with six repetitions, and noise of 1 %."""

    @ddt.data(*worst_guest.LOSSES)
    def test_one_guest(self, name):
        """One guest beyond the limit is named, and fails under ``worst``."""
        case = worst_guest.LOSSES[name]
        for multiple, status, differ in (
            (0.5, "passed", 0),
            (0.9, "", 0),
            (2, "failed", 100),
        ):
            multiples = worst_guest.one_guest(4, multiple)
            shares = worst_guest.simulate(case, NOISE, multiples, TRIALS)
            self.assertEqual(differ, shares["differ"], multiple)
            wrong = worst_guest.WRONG[multiple]
            self.assertEqual((0, 0), (shares[wrong], shares["void"]))
            if case.has_worst and status:
                self.assertGreaterEqual(shares[status], 75, multiple)

    def test_spread(self):
        """A range is what is observed, and has no noise of its own."""
        for multiple, status, differ in (
            (0.9, "passed", 0),
            (2, "failed", 100),
        ):
            shares = worst_guest.simulate(
                worst_guest.SPREADS["range"],
                0,
                worst_guest.one_guest(4, multiple),
                TRIALS,
            )
            self.assertEqual(100, shares[status])
            self.assertEqual(differ, shares["differ"])

    @ddt.data(*worst_guest.BY_TURNS)
    def test_turns(self, name):
        """Each repetition has another victim."""
        for victims in (1, 2):
            shares = worst_guest.simulate(
                worst_guest.LOSSES[name],
                NOISE,
                worst_guest.take_turns(4, 2, 10, victims),
                TRIALS,
            )
            self.assertEqual(0, shares["passed"])
            self.assertGreaterEqual(shares["differ"], 75)
