# SPDX-License-Identifier: Apache-2.0
"""Tests of the SLA on findings, as Rally uses it."""

import dataclasses
import unittest

import ddt

from tests.unit import made
from tests.unit.plugins.criteria import contract

BARE = {made.EVENTS: (100.0, 101.0, 99.0)}
#: What both sides show at most, in the order of findings.
BEYOND = ("bare metal shows 101", "the guest shows 91.0")


def build_run(rates=(90.0, 91.0, 89.0), findings=(), bad=None, counted=None):
    """Return repetitions of one guest next to a baseline of 100 events/s.

    :param findings: The findings of the repetitions.
    :param bad: The number of repetitions with the findings; None for all.
    :param counted: The number of the first counted repetition; None for 1.
    """
    warmups = (counted or 1) - 1
    run = []
    for number, rate in enumerate(rates, 1):
        has_findings = bad is None or number <= bad
        run.append(
            dataclasses.replace(
                made.build_repetition(
                    number,
                    {made.EVENTS: rate},
                    reference=made.reference(BARE),
                    planned_repetitions=len(rates) - warmups,
                    counted=number > warmups,
                    expected_metrics=(made.EVENTS,),
                ),
                findings=tuple(findings) if has_findings else (),
                question="overhead",
            )
        )
    return run


@ddt.ddt
class TestValid(contract.SLAContract, unittest.TestCase):
    """No figure has a limit."""

    NAME = "vmperf_valid"
    RUN = build_run()
    # Bare metal has up to 101 events/s, the guest up to 91.
    PASSES = (
        {},
        {"physical_limit": {"cpu.*": 101.0}},
        {"refuse": ["steal_time"]},
    )
    FAILS = ({"physical_limit": {"*": 90.5}}, {"physical_limit": {"*": 99}})
    FAILED = "void"
    FORGIVES = {}  # noqa: RUF012
    UNMATCHED = ({"physical_limit": {"disk.*": 1.0}},)
    REJECTED = (
        {"refuse": "steal_time"},
        {"max": 1},
        {"physical_limit": {"*": 0}},
        {"physical_limit": {}},
    )

    def test_figures_without_limits(self):
        """It has none of its own."""
        sla = self.check("passed", self.RUN, {}, True)
        self.assertEqual((), sla.judge.judgement().rows)

    @ddt.data(
        ("swap_or_oom", {}, "void"),
        ("swap_or_oom", {"tolerate": ["swap_or_oom"]}, "passed"),
        ("swap_or_oom", {"tolerate": ["guest_faster"]}, "void"),
        ("steal_time", {}, "passed"),
        ("steal_time", {"refuse": ["steal_time"]}, "void"),
        ("bare_metal_unrestricted", {"refuse": ["steal_time"]}, "passed"),
    )
    @ddt.unpack
    def test_findings(self, kind, options, status):
        """A finding that voids or is refused fails if it is not tolerated."""
        run = build_run(findings=made.build_findings(kind))
        sla = self.check(status, run, options, status == "passed")
        refused = [
            refused_finding.finding.kind
            for refused_finding in sla.judge.judgement().refused
        ]
        self.assertEqual([kind] if status == "void" else [], refused)
        self.assertEqual(status == "void", "(g1: so it is)" in sla.details())

    @ddt.data((3, 0, True), (3, 1, False), (5, 2, True), (5, 3, False))
    @ddt.unpack
    def test_late_commands(self, count, late, passed):
        """Three repetitions without one are valid, fewer are not."""
        findings = made.build_findings("partial_overlap", made.EVENTS.name)
        rates = [90.0 + number for number in range(count)]
        run = build_run(rates, findings, late)
        self.check("passed" if passed else "void", run, {}, passed)

    def test_guest_that_is_too_fast(self):
        """The figures show it, although no metric has a limit."""
        run = build_run((190.0, 191.0, 189.0))
        sla = self.check("void", run, {})
        (refused_finding,) = sla.judge.judgement().refused
        self.assertEqual("guest_faster", refused_finding.finding.kind)
        self.check("passed", run, {"tolerate": ["guest_faster"]}, True)

    @ddt.data((101.0, ()), (99.0, BEYOND[:1]), (90.5, BEYOND))
    @ddt.unpack
    def test_physical_limit(self, limit, sides):
        """A value above it is a finding on either side."""
        options = {"physical_limit": {"cpu.*": limit}}
        sla, _ = self.create_sla(self.RUN, options)
        refused = sla.judge.judgement().refused
        self.assertEqual(
            [
                (
                    "above_physical_limit",
                    f"{side} events/s, the machine can do {limit} events/s",
                )
                for side in sides
            ],
            [
                (refused_finding.finding.kind, refused_finding.finding.detail)
                for refused_finding in refused
            ],
        )
        options["tolerate"] = ["above_physical_limit"]
        self.check("passed", self.RUN, options, True)

    def test_physical_limit_of_a_warmup(self):
        """A value above it in a warm-up voids nothing."""
        options = {"physical_limit": {"cpu.*": 101.0}}
        rates = (300.0, 90.0, 91.0, 89.0)
        self.check("passed", build_run(rates, counted=2), options, True)
        self.check("void", build_run(rates), options)

    def test_half_of_a_run(self):
        """One repetition of three is not a valid run."""
        self.check("inconclusive", self.RUN[:1], {})

    @ddt.data(
        ((), {}, "passed"),
        (made.build_findings("swap_or_oom"), {}, "void"),
        ((), {"physical_limit": {"*": 1e15}}, "passed"),
        ((), {"physical_limit": {"*": 1.0}}, "void"),
    )
    @ddt.unpack
    def test_density(self, findings, options, status):
        """The judge of density finds what each number of guests shows."""
        run = [
            dataclasses.replace(
                measured, findings=findings, question="density"
            )
            for measured in made.levels({made.EVENTS: made.SHARED})
        ]
        self.check(status, run, options, status == "passed")

    def test_tolerance_outweighs_refusal(self):
        """A kind that is tolerated is not refused."""
        run = build_run(findings=made.build_findings("steal_time"))
        kinds = ["steal_time"]
        self.check("passed", run, {"tolerate": kinds, "refuse": kinds}, True)
