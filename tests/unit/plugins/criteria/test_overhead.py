# SPDX-License-Identifier: Apache-2.0
"""Tests of the SLA on overhead as Rally uses it."""

import dataclasses
import unittest
from unittest import mock

import ddt

from rally_vmperf.measurement import repetition
from tests.unit import made
from tests.unit.plugins.criteria import contract

LIMITS = {"max_percent": {"*": 15}}
NEAR = made.several(made.NEAR)


@ddt.ddt
class TestOverhead(contract.SLAContract, unittest.TestCase):
    """Guests lose 10.6 % of the rate of bare metal."""

    NAME = "vmperf_overhead"
    RUN = NEAR
    PASSES = (LIMITS, {"min": {"*": 10900}}, {"max": {"disk.*": 11100}})
    FAILS = (
        {"max_percent": {"disk.*": 5}},
        {"min": {"*": 11400}},
        {"max_percent": {"*": 15}, "max": {"*": 10000}},
    )
    UNDECIDED = ({"max_percent": {"*": 10.6}}, {"min": {"*": 11012}})
    UNMATCHED = (
        {"max_percent": {"*": 15, "x.*": 1}},
        {"max_percent": {"*": 15}, "max": {"x": 1}},
    )
    REJECTED = (
        {},
        {"max_percent": {}},
        {"max_percent": {"cpu.*": "5"}},
        {**LIMITS, "statistic": "median"},
    )

    def test_no_limit_that_is_judged(self):
        """The SLA is not passed, also if undecided limits are forgiven."""
        for limits in (
            {"max_percent": {"network.*": 15}},
            {"max_percent": {"network.*": 15}, "on_inconclusive": "pass"},
        ):
            sla = self.check(
                "inconclusive", self.RUN, {**limits, "unmeasured": "skip"}
            )
            detail = sla.result()["detail"]
            self.assertIn("inconclusive: no limit is judged", detail)
            self.assertIn("(network.*)", detail)

    def test_a_skipped_workload(self):
        """Its limits are not judged, because there is no peer."""
        skipped = made.build_findings(
            "workload_skipped", "iperf3", ("network.iperf3.x.throughput",)
        )
        run = [
            dataclasses.replace(measured, findings=skipped)
            for measured in self.RUN
        ]
        network = {"max_percent": {"disk.*": 15, "network.*": 15}}
        self.check("inconclusive", run, network)
        sla = self.check(
            "passed", run, {**network, "unmeasured": "skip"}, passed=True
        )
        self.assertIn(
            "not judged: no peer (network.*)", sla.result()["detail"]
        )

    def test_guests_alone(self):
        """Limits in percent are not judged, and the others are."""
        run = [
            made.changed(measured, reference=repetition.NO_REFERENCE)
            for measured in self.RUN
        ]
        limits = {**LIMITS, "min": {"*": 10900}, "unmeasured": "skip"}
        sla = self.check("passed", run, limits, passed=True)
        self.assertIn("not judged: no bare metal (*)", sla.result()["detail"])
        self.check("failed", run, {**limits, "min": {"*": 11400}})
        self.check("inconclusive", run, {**LIMITS, "unmeasured": "skip"})
        self.check("void", run, LIMITS)

    @ddt.data("add", "is_failure_final", "figures", "judgement")
    def test_defect_of_the_judge(self, method):
        """It voids the verdict in one line, and nothing is raised."""
        sla, _ = self.create_sla(self.RUN, LIMITS)
        error = OverflowError("too large\nto convert")
        with mock.patch.object(
            sla.judge, method, autospec=True, side_effect=error
        ):
            if method != "judgement":
                iteration = contract.build_iteration(self.RUN[0])
                self.assertTrue(sla.add_iteration(iteration))
                merged, _ = self.create_sla([], LIMITS)
                merged.merge(sla)
                sla = merged
            result = sla.result()
        self.assertFalse(result["success"])
        self.assertTrue(result["detail"].startswith("void: the judge failed"))
        self.assertIn("OverflowError: too large to convert", result["detail"])
        self.assertNotIn("\n", result["detail"])

    def test_no_log(self):
        """The context of the guests prints the verdicts of all SLAs once."""
        sla, _ = self.create_sla(self.RUN, LIMITS)
        with self.assertNoLogs("rally_vmperf", "INFO"):
            sla.result()
