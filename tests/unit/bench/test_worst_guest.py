"""A short form of the simulation of the worst guest, with few runs."""

import unittest

import ddt

from tests.bench import worst_guest


@ddt.ddt
class WorstGuestTest(unittest.TestCase):
    """Eight guests with six repetitions, and noise of 1 % or 2 %."""

    @ddt.data(
        (0.01, 0.5, "passed", 90),
        (0.01, 1.5, "failed", 85),
        (0.02, 0.9, "failed", -15),
        (0.02, 1.1, "passed", -15),
    )
    @ddt.unpack
    def test_a_guest(self, noise, multiple, status, percent):
        """It is decided by its own mean, hardly ever wrongly.

        :param percent: the least share of runs, or the largest if negative
        """
        shares = worst_guest.simulate(8, noise, 10, multiple, 20)
        if percent > 0:
            self.assertGreaterEqual(shares[status], percent)
        else:
            self.assertLessEqual(shares[status], -percent)
