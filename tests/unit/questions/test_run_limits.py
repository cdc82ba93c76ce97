# SPDX-License-Identifier: Apache-2.0
"""Tests of the SLAs of a run."""

import unittest

import ddt

from rally_vmperf.judging.results import changes
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.event import figures
from rally_vmperf.questions import run_limits
from tests.unit import made

NAMES = {made.IOPS.name, made.EVENTS.name, made.COUNT.name}


def condition(**axes):
    """Return a condition with some axes."""
    return made.build_condition(1, {made.IOPS: [1.0]}, axes=axes)


@ddt.ddt
class TestRunLimits(unittest.TestCase):
    """The SLA that limits a metric in a condition."""

    CRITERIA = (
        ("vmperf_overhead", {"max_percent": {"disk.*": 20}}),
        ("vmperf_spread", {"max_cv_percent": {"*": 5}}),
        (
            "vmperf_neighbours",
            {"max_percent": {"*": 2}, "statistic": "worst"},
        ),
    )

    def slas(self, **tolerate):
        """Return the SLAs, some of which tolerate kinds of findings."""
        criteria = {name: {**options} for name, options in self.CRITERIA}
        for name, kinds in tolerate.items():
            criteria.setdefault(name, {})["tolerate"] = kinds
        return run_limits.RunLimits(
            {**criteria, "failure_rate": {"max": 0}}, NAMES
        )

    @ddt.data(
        (made.IOPS, {}, changes.Limit(20.0)),
        (made.EVENTS, {}, None),
        (made.IOPS, {"neighbours": 2}, changes.Limit(2.0, "worst")),
        (made.COUNT, {"neighbours": 2}, None),
    )
    @ddt.unpack
    def test_limit(self, metric, axes, expected):
        """A spread is no limit of a change."""
        self.assertEqual(
            expected, self.slas().find_limit(condition(**axes), metric)
        )

    @ddt.data(
        ({"max": {"*": 7}}, made.COUNT, changes.Limit(7.0)),
        ({"max": {"*": 7}}, made.IOPS, changes.Limit(verdict.MARGIN)),
        (
            {"min": {"*": 7}, "statistic": "worst"},
            made.IOPS,
            changes.Limit(verdict.MARGIN, "worst"),
        ),
        ({"max_percent": {"*": -3}}, made.IOPS, changes.Limit(0.0)),
    )
    @ddt.unpack
    def test_limit_on_values(self, options, metric, expected):
        slas = run_limits.RunLimits({"vmperf_overhead": options}, NAMES)
        self.assertEqual(expected, slas.find_limit(None, metric))

    @ddt.data(
        ("before", made.IOPS, None),
        ("during", made.IOPS, None),
        ("during", figures.DOWNTIME, changes.Limit(0.4)),
        ("after", made.IOPS, changes.Limit(20.0)),
    )
    @ddt.unpack
    def test_limit_of_a_phase(self, phase, metric, expected):
        """The limit of a loss applies to the phase that loses."""
        options = {"max_downtime": 0.4, "max_loss_after_percent": 20}
        slas = run_limits.RunLimits(
            {"vmperf_disruption": options},
            {made.IOPS.name, figures.DOWNTIME.name},
        )
        self.assertEqual(
            expected, slas.find_limit(condition(phase=phase), metric)
        )

    def test_tolerated(self):
        """Each metric by its SLA; others by vmperf_valid, or the first."""
        slas = self.slas(
            vmperf_overhead=["clock_wrong"],
            vmperf_spread=["partial_overlap"],
            vmperf_valid=["guest_rebooted"],
        )
        for metric, axes, expected in (
            (made.IOPS, {}, "clock_wrong"),
            (made.EVENTS, {}, "partial_overlap"),
        ):
            self.assertEqual(
                {expected}, slas.find_tolerated(condition(**axes), metric)
            )
        self.assertEqual({"guest_rebooted"}, slas.tolerated)
        self.assertEqual(
            {"clock_wrong"},
            self.slas(vmperf_overhead=["clock_wrong"]).tolerated,
        )
        self.assertEqual(
            frozenset(), run_limits.RunLimits({}, NAMES).tolerated
        )
