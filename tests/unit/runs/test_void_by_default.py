# SPDX-License-Identifier: Apache-2.0
"""Tests of what makes a comparison with bare metal void unless tolerated."""

import dataclasses
import datetime
import types
import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.measurement import finding
from rally_vmperf.runs import comparability
from rally_vmperf.runs import reference
from tests.unit import made

NOW = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)


def guests(*hosts):
    """Return guests on these hosts, as a member and an admin see them."""
    return [
        types.SimpleNamespace(
            name=f"g{n}", hypervisor=hypervisor, host_id=hidden
        )
        for n, (hypervisor, hidden) in enumerate(hosts, start=1)
    ]


@ddt.ddt
class TestVoid(unittest.TestCase):
    """Findings that a task must tolerate by name."""

    @ddt.data(
        "bare_metal_is_guest",
        "page_cache_measured",
        "guests_not_on_one_host",
        "shape_not_enforced",
    )
    def test_never_passed(self, kind):
        """Without its name in the task; with it the verdict is as before."""
        entries = made.several(made.NEAR, findings=made.build_findings(kind))
        self.assertEqual("void", made.judgement(entries).status)
        tolerated = made.judgement(entries, tolerate=[kind])
        self.assertEqual("passed", tolerated.status)

    @ddt.data(*finding.ABOUT_BARE_METAL)
    def test_guests_among_themselves(self, kind):
        """They are not compared with bare metal, and need not tolerate it."""
        curves = [
            dataclasses.replace(level, findings=made.build_findings(kind))
            for level in made.levels({made.EVENTS: made.SHARED})
        ]
        loose = {"max_percent": {"*": 50}}
        self.assertEqual("passed", made.degradation(curves, **loose).status)
        against = made.degradation(curves, compare_to="bare_metal", **loose)
        self.assertEqual("void", against.status)

    @ddt.data(
        (("a", "1"), ("b", "2"), 2, True),
        ((None, "1"), (None, "2"), 2, True),
        (("a", "1"), ("a", "1"), 2, False),
        (("a", "1"), ("b", "2"), 1, False),
        ((None, None), ("b", "2"), 2, False),
    )
    @ddt.unpack
    def test_guests_apart(self, first, second, copies, void):
        """Guests on two hosts do not compete as copies on one machine do."""
        findings = comparability.compare_distribution(
            guests(first, second), copies
        )
        self.assertEqual(
            ["guests_not_on_one_host"] if void else [],
            [finding_.kind for finding_ in findings],
        )

    @ddt.data(
        ("sysbench", "shape_not_enforced", "cpu.sysbench.rate"),
        ("mbw", "shape_not_enforced", "memory.mbw.memcpy.bandwidth"),
        ("fio", "io_shape_not_enforced", "disk.fio.read.iops"),
    )
    @ddt.unpack
    def test_shape(self, name, kind, metric):
        """A processor that is not limited to the shape has no valid result."""
        findings = self.find(name, "shape_not_enforced", "host-1")
        self.assertEqual([kind], [each.kind for each in findings])
        self.assertIn(metric, findings[0].metrics)

    @ddt.data(
        ("disks of bare metal", ["disk.fio.read.iops"]),
        # Guests on the machine concern all workloads.
        ("baseline", []),
    )
    @ddt.unpack
    def test_background_load(self, subject, metrics):
        """A busy part of the machine voids the workloads that use it."""
        (finding_,) = self.find("fio", "bare_metal_busy", subject)
        self.assertEqual("void", finding_.severity)
        self.assertEqual(bool(metrics), bool(finding_.metrics))
        self.assertLessEqual({*metrics}, {*finding_.metrics})

    def find(self, name, kind, subject):
        """Return the findings of a baseline with one finding."""
        (assigned,) = assignment.assign([{"name": name}])
        entry = made.entry(
            workload=name,
            arguments=assigned.arguments,
            findings=made.build_findings(kind, subject),
        )
        baseline = made.baseline(entries=(entry,))
        return [
            each
            for each in reference.find_baseline_findings(
                baseline, [assigned], entry.shape, NOW
            )
            if each.kind != "baseline_old"
        ]
