# SPDX-License-Identifier: Apache-2.0
"""Tests for what else than the machine can hold a rate."""

import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import sample
from tests.unit import made

WIRE = sample.Metric(
    name="network.iperf3.to_peer.throughput", unit="bit/s", better="higher"
)
HTTP = sample.Metric(
    name="network.h2load.throughput", unit="B/s", better="higher"
)
DISK = sample.Metric(
    name="disk.fio.read.bandwidth", unit="B/s", better="higher"
)
IOPS = sample.Metric(
    name="disk.fio.randread.iops", unit="ops/s", better="higher"
)
MEMORY = sample.Metric(
    name="memory.mbw.memcpy.bandwidth", unit="B/s", better="higher"
)
LATENCY = sample.Metric(name="network.ping.rtt", unit="s", better="lower")

TEN_GIGABIT = [{"name": "eth0", "speed": "10000", "mtu": "1500"}]


def compared(metric, bare, guest, spread=0.01):
    """Return a comparison of five repetitions that vary."""
    places = (-1, -0.5, 0, 0.5, 1)
    return loss.compare(
        metric,
        [[bare * (1 + spread * place)] for place in places],
        [[guest * (1 + spread * place)] for place in places],
    )


def offered(metric):
    """Return the finding that a metric's rate was asked for."""
    return finding.Finding(
        kind="fixed_rate",
        subject="iperf3",
        detail="9.41 Gbit/s of UDP are offered",
        metrics=(metric.name,),
    )


@ddt.ddt
class LinkTest(unittest.TestCase):
    """A full link."""

    def test_the_payload_counts_the_mtu(self):
        (link,) = rate_caps.links(TEN_GIGABIT, "metal")
        self.assertAlmostEqual(9.415e9, link.payload_rate, delta=1e6)
        (jumbo,) = rate_caps.links(
            [{**TEN_GIGABIT[0], "mtu": "9000"}], "metal"
        )
        self.assertAlmostEqual(9.900e9, jumbo.payload_rate, delta=1e6)

    @ddt.data(
        {"name": "eth0", "speed": "", "mtu": "1500"},
        {"name": "eth0", "speed": "-1", "mtu": "1500"},
        {"name": "eth0", "speed": "0", "mtu": "1500"},
        {"name": "eth0", "speed": "\u00b2", "mtu": "1500"},
        {"name": "eth0", "speed": "9" * 5000, "mtu": "1500"},
        {"name": "eth0", "speed": "10000", "mtu": None},
        {"name": "eth0"},
    )
    def test_a_link_that_does_not_tell(self, link):
        self.assertEqual([], rate_caps.links([link], "metal"))

    @ddt.unpack
    @ddt.data(
        (WIRE, 9.41e9, 1, True),
        (WIRE, 9.30e9, 1, True),
        (WIRE, 9.10e9, 1, False),
        # More than the link carries: it is another one.
        (WIRE, 10.5e9, 1, False),
        (WIRE, 2.35e9, 4, True),
        (WIRE, 2.35e9, 1, False),
        (HTTP, 9.41e9 / 8, 1, True),
        (DISK, 9.41e9, 1, False),
        (MEMORY, 9.41e9, 1, False),
    )
    def test_rates(self, metric, rate, machines, expected):
        pair = compared(metric, 1.3 * rate, rate)
        bottleneck = rate_caps.describe_bottleneck(
            pair, rate_caps.links(TEN_GIGABIT, "metal"), machines
        )
        self.assertEqual(expected, "link eth0 of metal" in bottleneck)


@ddt.ddt
class PolicyTest(unittest.TestCase):
    """Rates of a policy."""

    LIMITS = (
        rate_caps.disk(2000, "ops/s", "volume type ssd"),
        rate_caps.network(1e8, "QoS policy slow"),
    )

    @ddt.unpack
    @ddt.data(
        (IOPS, 2010, 4, True),
        (IOPS, 1900, 1, False),
        (DISK, 2000, 1, False),
        (WIRE, 9.5e7, 4, True),
        # Each guest has its own.
        (WIRE, 2.4e7, 4, False),
    )
    def test_rates(self, metric, rate, machines, expected):
        bottleneck = rate_caps.describe_bottleneck(
            compared(metric, 3 * rate, rate), self.LIMITS, machines
        )
        self.assertEqual(expected, "the guest has" in bottleneck)


@ddt.ddt
class EqualTest(unittest.TestCase):
    """The same on both sides."""

    @ddt.unpack
    @ddt.data(
        (IOPS, 1.001, 0.001, True),
        (IOPS, 1.0, 0.0, True),
        (IOPS, 0.99, 0.001, False),
        (IOPS, 1.001, 0.02, False),
        (LATENCY, 1.0, 0.0, False),
        (MEMORY, 1.0, 0.0, False),
    )
    def test_rates(self, metric, share, spread, expected):
        bottleneck = rate_caps.describe_bottleneck(
            compared(metric, 100.0, 100.0 * share, spread)
        )
        self.assertEqual(expected, bottleneck.startswith("both sides"))

    def test_steadiness_by_chance(self):
        """Sides that vary by 0.2 % may be steady by chance in one of 46."""
        pair = compared(IOPS, 100.0, 100.0, 0.0021)
        for metrics, expected in ((1, True), (46, False)):
            bottleneck = rate_caps.describe_bottleneck(pair, metrics=metrics)
            self.assertEqual(expected, bool(bottleneck))
        steady = compared(IOPS, 100.0, 100.0, 0.0005)
        self.assertTrue(rate_caps.describe_bottleneck(steady, metrics=46))

    def test_two_repetitions(self):
        pair = loss.compare(IOPS, [[100.0]] * 2, [[100.0]] * 2)
        self.assertEqual("", rate_caps.describe_bottleneck(pair))


class VerdictTest(unittest.TestCase):
    """No silent 0 %."""

    #: All that a guest may send, just as bare metal does.
    POLICY = (rate_caps.network(9.95e9, "QoS policy slow"),)

    def judged(
        self, rate, caps_=(), tolerate=(), limit=5, findings=(), **changes
    ):
        steady = (0.9995, 1.001, 0.999, 1.0005, 1.0)
        entries = made.several(
            {WIRE: [rate * share for share in steady]},
            reference=made.reference({WIRE: [9.41e9 * x for x in steady]}),
        )
        return made.judgement(
            [
                dataclasses.replace(
                    repetition,
                    rate_limits=caps_,
                    findings=(*repetition.findings, *findings),
                )
                for repetition in entries
            ],
            {"*": limit},
            tolerate=tolerate,
            **changes,
        )

    def test_equal_sides_pass_with_a_warning(self):
        judgement = self.judged(9.411e9)
        self.assertEqual("passed", judgement.status)
        self.assertIn(
            "2 warnings: bottleneck_outside_guest, interval_one_session",
            judgement.headline(),
        )

    def test_a_policy_is_no_pass(self):
        """Without the policy, the guest can lose more."""
        judgement = self.judged(9.411e9, self.POLICY)
        self.assertEqual("inconclusive", judgement.status)
        (row,) = judgement.limited
        self.assertEqual(
            "the guest has 9.41 Gbit/s of QoS policy slow", row.limiting_policy
        )

    def test_it_is_not_forgiven(self):
        """``on_inconclusive: pass`` is for a limit inside the interval."""
        for limit in (5, 0):
            judgement = self.judged(
                9.411e9, self.POLICY, limit=limit, on_inconclusive="pass"
            )
            self.assertEqual("inconclusive", judgement.status)
            self.assertFalse(judgement.passed, judgement.sentence())
        judgement = self.judged(
            9.411e9,
            self.POLICY,
            limit=0,
            tolerate=["bottleneck_outside_guest"],
            on_inconclusive="pass",
        )
        self.assertTrue(judgement.passed, judgement.sentence())

    def test_a_full_link_passes_with_a_warning(self):
        """A better link passes as a worse one does."""
        link = tuple(rate_caps.links(TEN_GIGABIT, "metal"))
        full = self.judged(9.28e9, link)
        self.assertEqual("passed", full.status)
        self.assertIn("bottleneck_outside_guest", full.headline())
        worse = self.judged(9.28e9)
        self.assertEqual("passed", worse.status)
        self.assertNotIn("bottleneck_outside_guest", worse.headline())

    def test_tolerated(self):
        kinds = ["bottleneck_outside_guest"]
        judgement = self.judged(9.411e9, self.POLICY, tolerate=kinds)
        self.assertEqual("passed", judgement.status)

    def test_a_rate_that_was_asked_for_is_not_capped_by_something_else(self):
        """Datagrams are offered at a rate, and on both sides all arrive."""
        judgement = self.judged(9.411e9, findings=[offered(WIRE)])
        self.assertEqual("passed", judgement.status)
        self.assertNotIn("bottleneck_outside_guest", judgement.headline())
        other = self.judged(9.411e9, findings=[offered(HTTP)])
        self.assertIn("bottleneck_outside_guest", other.headline())

    def test_what_is_beyond_its_limit_has_failed(self):
        slow = (rate_caps.network(5e9, "QoS policy slow"),)
        judgement = self.judged(4.9e9, slow)
        self.assertEqual("failed", judgement.status)
        self.assertIn("bottleneck_outside_guest", judgement.headline())
