# SPDX-License-Identifier: Apache-2.0
import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import sample
from tests.unit import made

RATE = sample.Metric("network.iperf3.to_peer.throughput", "bit/s", "higher")
LINK = rate_caps.network(10e9, "link eth0 of peer", shared=True)
POLICY = rate_caps.network(1e9, "policy gold")
#: One guest fills the link, and so do several together.
SHARED = {1: [9.41e9], 2: [4.8e9, 4.6e9], 4: [2.35e9] * 4}
#: Each has what its policy allows.
OWN = {1: [0.945e9], 2: [0.945e9] * 2, 4: [0.944e9] * 4}


def levels(rates, cap, **changes):
    """Return repetitions of a run in which one thing may hold rates."""
    return [
        dataclasses.replace(level, rate_limits=(cap,))
        for level in made.levels({RATE: rates}, 5, **changes)
    ]


def capped(judgement):
    """Return what is seen of what holds the rate."""
    return [
        finding.finding.detail
        for finding in judgement.findings
        if finding.finding.kind == "bottleneck_outside_guest"
    ]


@ddt.ddt
class CappedTestCase(unittest.TestCase):
    """Something else than the host holds the rate of the guests."""

    @ddt.data((30, "failed"), (80, "passed"))
    @ddt.unpack
    def test_a_link_that_guests_share(self, limit, status):
        """The link causes the loss of each; the verdict does not change."""
        got = made.degradation(levels(SHARED, LINK), {"*": limit})
        self.assertEqual(status, got.status, got.sentence())
        (detail,) = capped(got)
        self.assertEqual(
            "with 1, 2, 4 guests: the guests together have 9.40 Gbit/s of "
            "link eth0 of peer",
            detail,
        )
        self.assertIn("bottleneck_outside_guest", got.headline())

    def test_a_policy_of_each(self):
        """The host gives each what it may have."""
        got = made.degradation(levels(OWN, POLICY), {"*": 5})
        self.assertEqual("passed", got.status)
        self.assertEqual(1, len(capped(got)))

    def test_no_cap_is_near(self):
        """Guests that share a host, and not the link."""
        half = {n: [x / 2 for x in values] for n, values in SHARED.items()}
        self.assertEqual([], capped(made.degradation(levels(half, LINK))))

    def test_a_link_against_bare_metal(self):
        """It limits both sides, and what guests lose is within the limit."""
        bare = {RATE: [9.41e9, 9.42e9, 9.40e9]}
        rates = {1: [9.41e9], 2: [9.41e9 / 2] * 2}
        got = made.degradation(
            levels(rates, LINK, bare=bare), {"*": 60}, compare_to="bare_metal"
        )
        self.assertEqual("passed", got.status, got.sentence())
        self.assertIn("bottleneck_outside_guest", got.headline())

    def test_against_bare_metal(self):
        """As in overhead: of virtualisation it says nothing."""
        bare = {RATE: [0.945e9, 0.946e9, 0.944e9]}
        curves = levels(OWN, POLICY, bare=bare)
        for tolerate, status in (
            ((), "inconclusive"),
            (["bottleneck_outside_guest"], "passed"),
        ):
            got = made.degradation(
                curves, {"*": 5}, compare_to="bare_metal", tolerate=tolerate
            )
            self.assertEqual(status, got.status, got.sentence())
        for on_inconclusive in ("fail", "pass"):
            strict = made.degradation(
                curves,
                {"*": 5},
                compare_to="bare_metal",
                on_inconclusive=on_inconclusive,
            )
            self.assertFalse(strict.passed)
            for row in strict.limited:
                self.assertTrue(row.limiting_policy)

    @ddt.data((1, 1), (20, 0))
    @ddt.unpack
    def test_steadiness_by_chance(self, metrics, expected):
        """One of many metrics and levels varies by a fifth of a percent."""
        noise = (1.0, 1.0025, 0.9975, 1.002, 0.998)
        rates = [
            sample.Metric(f"disk.fio.m{number}.iops", "ops/s", "higher")
            for number in range(metrics)
        ]
        curves = made.levels(
            {rate: {1: [100.0], 2: [100.0] * 2} for rate in rates},
            5,
            bare={rate: [100 * factor for factor in noise] for rate in rates},
            noise=noise,
        )
        got = made.degradation(curves, {"*": 5}, compare_to="bare_metal")
        self.assertEqual(expected * metrics, len(capped(got)))

    def test_what_is_offered_at_a_rate(self):
        """It arrives at that rate, which no cap is the reason of."""
        offered = finding.Finding(
            kind="fixed_rate",
            subject="iperf3",
            detail="x",
            metrics=(RATE.name,),
        )
        curves = levels(OWN, POLICY)
        conditions = tuple(
            dataclasses.replace(condition, findings=(offered,))
            for condition in curves[0].conditions
        )
        curves[0] = dataclasses.replace(curves[0], conditions=conditions)
        self.assertEqual([], capped(made.degradation(curves, {"*": 5})))
