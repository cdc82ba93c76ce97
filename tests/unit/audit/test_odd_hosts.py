# SPDX-License-Identifier: Apache-2.0
"""Tests that an audit speaks of the odd host, and of no other."""

import datetime
import math
import random
import unittest

import ddt

from rally_vmperf.audit import acknowledged
from rally_vmperf.audit import host_table
from rally_vmperf.audit import result
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from tests.unit.audit import made

#: Twenty metrics, one of them of a disk.
DISK = sample.Metric("disk.fio.randread.iops", "ops/s", "higher")
METRICS = (
    DISK,
    *(
        sample.Metric(f"cpu.m{index}.rate", "1/s", "higher")
        for index in range(19)
    ),
)
DAY = datetime.date(2026, 3, 4)


def draw(factors, noises=(), number=10, seed=1, **changes):
    """Return hosts with six repetitions of each metric.

    :param factors: The factors on the disk of the first hosts.
    :param noises: The relative standard deviations of the first hosts; that
        of the others is 1.5 %.
    """
    generator = random.Random(seed)

    def draw_values(noise, factor):
        return [
            100 * factor * math.exp(generator.gauss(0, noise))
            for _ in range(6)
        ]

    fleet = []
    for index in range(number):
        noise = noises[index] if index < len(noises) else 0.015
        factor = factors[index] if index < len(factors) else 1.0
        means = {
            made.figure(metric): made.mean(
                values=draw_values(noise, factor if metric is DISK else 1.0),
                metric=metric,
            )
            for metric in METRICS
        }
        fleet.append(made.host(f"h{index}", means=means, **changes))
    return fleet


def audit(fleet, patterns=(), **options):
    """Return the audit of a fleet.

    :param patterns: The margins by metric or glob.
    """
    return result.audit(fleet, verdict.Limits(dict(patterns)), **options)


def name(found, status="worse"):
    """Return the hosts with a status."""
    return {
        host_result.host.name
        for host_result in found.results
        if host_result.status == status
    }


@ddt.ddt
class TestOddHosts(unittest.TestCase):
    """The reference is the median of the other hosts."""

    @ddt.data((5, 1.5), (10, 2.0), (3, 1.5), (4, 1.5))
    @ddt.unpack
    def test_fast_host(self, number, factor):
        """It condemns none of the healthy ones."""
        found = audit(draw([factor], number=number))
        self.assertEqual(set(), name(found))
        self.assertTrue(found.passed)

    @ddt.data((5, 0.5, 0.8), (10, 0.1, 0.8), (20, 0.1, 0.85))
    @ddt.unpack
    def test_two_slow_hosts(self, number, slowest, slow):
        """A dead host hides none that is slower."""
        found = audit(draw([slowest, slow], number=number))
        self.assertEqual({"h0", "h1"}, name(found))
        self.assertFalse(found.passed)

    def test_half_of_the_hosts(self):
        """Two of four that lose 10 % are both named."""
        found = audit(draw([0.9, 0.9], number=4))
        self.assertEqual({"h0", "h1"}, name(found))

    def test_slow_host_of_three(self):
        """It is named, and not the others."""
        found = audit(draw([0.8], number=3))
        self.assertEqual({"h0"}, name(found))

    def test_erratic_host(self):
        """It is undecided, and the nine others are decided."""
        found = audit(draw([], [0.2]), {"*": 5})
        self.assertEqual({"h0"}, name(found, "undecided"))
        self.assertEqual(9, len(name(found, "not worse")))
        self.assertFalse(found.passed)

    def test_equal_hosts(self):
        """They pass, with a margin, too."""
        found = audit(draw([], number=20), {"*": 5})
        self.assertEqual(20, len(name(found, "not worse")))
        self.assertTrue(found.passed)

    @ddt.data((0.5, True), (0.5, False), (1.0, True))
    @ddt.unpack
    def test_two_hosts(self, factor, is_first):
        """They differ, and neither is worse; equal ones pass."""
        factors = [factor, 1.0] if is_first else [1.0, factor]
        found = audit(draw(factors, number=2))
        self.assertEqual(set(), name(found))
        differing = {"h0", "h1"} if factor < 1 else set()
        self.assertEqual(differing, name(found, "differ"))
        self.assertEqual(factor == 1, found.passed)
        if differing:
            self.assertEqual("2 hosts: 0 worse, 2 differ", found.headline)
            self.assertRegex(
                host_table.describe(found.results[0]),
                r"^differs from h[01]: disk.fio.randread.iops \(m1.small\) ",
            )


@ddt.ddt
class TestExitCode(unittest.TestCase):
    """Options that must not pass in silence."""

    def test_lost_cpus(self):
        """A host with half of its CPUs and rates is worse."""
        fleet = draw([1.0] * 7 + [0.5], number=8)
        fleet[7] = made.host("h7", means=fleet[7].means, cpus=32)
        found = audit(fleet)
        self.assertEqual({"h7"}, name(found))
        self.assertFalse(found.passed)
        self.assertEqual(
            "32 CPUs; 7 hosts of this CPU model have 64; no other host of its "
            "class has 3 repetitions of the same test",
            host_table.describe(found.results[0]),
        )

    def test_lost_memory(self):
        """A host with less memory than before is worse."""
        before = draw([], number=3, memory_mib=131072)
        found = audit(draw([], number=3, memory_mib=65536), earlier=before)
        self.assertEqual({"h0", "h1", "h2"}, name(found))
        self.assertEqual(
            "64 GiB of memory; 128 before",
            host_table.describe(found.results[0]),
        )

    def test_not_compared(self):
        """A host without others of its class does not pass."""
        fleet = [*draw([]), made.host("x", cpu_model="ARM")]
        found = audit(fleet)
        self.assertEqual({"x"}, name(found, "not compared"))
        self.assertFalse(found.passed)

    def test_compared_with_itself(self):
        """An earlier result is enough."""
        fleet = [*draw([]), made.host("x", cpu_model="ARM")]
        found = audit(fleet, earlier=[made.host("x")])
        self.assertEqual(
            {"x", *name(audit(draw([])), "not worse")},
            name(found, "not worse"),
        )
        self.assertTrue(found.passed)

    @ddt.data("limit", "margin", "neither")
    def test_failing_disk(self, deciding):
        """An undecided metric does not pass if it has a limit or a margin."""
        limited = {DISK.name} if deciding == "limit" else set()
        fleet = draw([], limited=limited)
        wild = {
            **fleet[0].means,
            made.figure(DISK): made.mean(
                0.85, (100.0, 80.0, 130.0, 90.0, 125.0, 85.0), metric=DISK
            ),
        }
        fleet[0] = made.host("h0", means=wild, limited=limited)
        patterns = {"disk.*": 5} if deciding == "margin" else {}
        found = audit(fleet, patterns)
        self.assertEqual({"h0"}, name(found, "undecided"))
        self.assertEqual(deciding == "neither", found.passed)
        self.assertTrue(audit(fleet, patterns, accepts_undecided=True).passed)
        self.assertRegex(
            host_table.describe(found.results[0]),
            "^undecided: 1 metric$"
            if deciding == "neither"
            else r"^undecided: disk.fio.randread.iops \(m1.small\) .* %$",
        )

    def acknowledge(self, fleet, loss_percent, metrics="*", **options):
        """Return an audit with a known difference of the first host."""
        entry = acknowledged.Acknowledgement(
            host="h0",
            metrics=metrics,
            loss_percent=loss_percent,
            until=DAY,
            reason="old disks",
        )
        accepted = acknowledged.Acknowledgements([entry], DAY)
        return audit(fleet, accepted=accepted, **options)

    def test_acknowledged_loss(self):
        """It is accepted while it may be as small as stated."""
        for factor, status in ((0.9, "acknowledged"), (0.4, "worse")):
            found = self.acknowledge(draw([factor]), 10, "disk.*")
            self.assertEqual({"h0"}, name(found, status))
            self.assertEqual(status == "acknowledged", found.passed)
        self.assertRegex(
            host_table.describe(found.results[0]),
            r"^disk.fio.randread.iops \(m1.small\) [56]\d.\d %, beyond the "
            "acknowledged 10 %$",
        )

    def test_acknowledged_pair(self):
        """The known loss of the slower host of two is that of both."""
        for factor, loss, is_accepted in (
            (0.5, 50, True),
            (0.5, 30, False),
            # The other host is the slower one.
            (2.0, 90, False),
        ):
            found = self.acknowledge(draw([factor], number=2), loss)
            status = "acknowledged" if is_accepted else "differ"
            self.assertEqual({"h0", "h1"}, name(found, status))
            self.assertEqual(is_accepted, found.passed)

    def test_acknowledged_hardware(self):
        """Lost CPUs are a loss of the whole host."""
        fleet = draw([], cpus=32)
        before = draw([])
        for loss, metrics, is_accepted in (
            (50, "*", True),
            (49, "*", False),
            (50, "cpu.*", False),
        ):
            found = self.acknowledge(fleet, loss, metrics, earlier=before)
            self.assertEqual("h0" not in name(found), is_accepted)
            (text,) = (
                host_table.describe(host_result)
                for host_result in found.results
                if host_result.host.name == "h0"
            )
            self.assertEqual(
                "32 CPUs; 64 before"
                + "; old disks (until 2026-03-04)" * is_accepted,
                text,
            )

    def test_acknowledged_absence(self):
        """A loss of 100 % includes a host that is not compared."""
        fleet = draw([])
        fleet[0] = made.host("h0", cpu_model="ARM")
        self.assertTrue(self.acknowledge(fleet, 100).passed)
        self.assertFalse(self.acknowledge(fleet, 99).passed)

    def test_acknowledged_in_vain(self):
        """A host that is not worse has no reason."""
        found = self.acknowledge(draw([]), 100)
        self.assertEqual(
            {""}, {host_table.describe(row) for row in found.results}
        )

    def test_acknowledged_undecided(self):
        """A loss that may be as small as stated is covered, too."""
        fleet = draw([0.95], limited={DISK.name})
        self.assertEqual({"h0"}, name(audit(fleet), "undecided"))
        found = self.acknowledge(fleet, 6, "disk.*")
        self.assertEqual({"h0"}, name(found, "acknowledged"))
        self.assertTrue(found.passed)
