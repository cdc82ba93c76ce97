# SPDX-License-Identifier: Apache-2.0
"""Tests of contrasts of guests with a reference."""

import unittest

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
