# SPDX-License-Identifier: Apache-2.0
"""Tests of self-checks of a site with equal and limited variants."""

import copy
import dataclasses
import random
import unittest

import ddt

from rally_vmperf.judging import verdict_table
from rally_vmperf.questions.tuning.section import self_check
from rally_vmperf.records import model
from rally_vmperf.report import page
from tests.unit import made
from tests.unit.report import test_page

RATE, TIME = made.EVENTS, made.TIME
LIMITED = {
    "name": "limited",
    "extra_specs": {
        "quota:cpu_quota": "90000",
        "quota:cpu_period": "100000",
    },
}
VARIANTS = [{"name": "equal-1"}, {"name": "equal-2"}, LIMITED]


def records(share=0.9, reboot="between_repetitions", count=6, deviation=0.01):
    """Return the records of a self-check.

    :param share: The share of a processor that the limited guest has.
    :param deviation: The standard deviation between boots.
    """
    noise = random.Random(1)
    run_records = []
    for number in range(1, count + 1):
        conditions = []
        for variant in VARIANTS:
            speed = noise.gauss(1, deviation)
            if variant is LIMITED:
                speed *= share
            conditions.append(
                made.build_condition(
                    number,
                    {RATE: [100 * speed], TIME: [20 / speed]},
                    axes={"variant": variant["name"]},
                    position=len(conditions) + 1,
                )
            )
        run_records.append(
            made.record(
                question="tuning",
                number=number,
                planned_repetitions=count,
                expected_metrics=(RATE, TIME),
                conditions=conditions,
                options={
                    "variants": copy.deepcopy(VARIANTS),
                    "reference": "equal-1",
                    "reboot": reboot,
                },
            )
        )
    return run_records


def run_of(**arguments):
    """Return the report of a self-check."""
    return made.run_of(records(**arguments), question="tuning")


@ddt.ddt
class TestSelfCheck(unittest.TestCase):
    """Boots, smallest limits, and the loss that is known."""

    def test_spread(self):
        """Twelve boots of two equal variants, not those of the limited."""
        rate, time = sorted(
            self_check.list_spreads(run_of(count=200)),
            key=lambda spread: spread.metric.name,
            reverse=True,
        )
        for spread in (rate, time):
            self.assertEqual(400, spread.boots)
            self.assertAlmostEqual(1, spread.percent, delta=0.1)
        # Half the width of Welch's interval, and the power of 4 of 5 runs.
        self.assertAlmostEqual(1.9, rate.limits[6], delta=0.3)
        self.assertAlmostEqual(1.35, rate.limits[10], delta=0.2)
        self.assertGreater(time.limits[6], rate.limits[6])

    def test_persistent_differences_are_not_a_spread(self):
        """A variant that is always slower is a difference, not a boot."""
        whole = made.with_factor(records(deviation=0.001), 0.5, RATE.name, [1])
        run = made.run_of(whole, question="tuning")
        for spread in self_check.list_spreads(run):
            self.assertLess(spread.percent, 0.3)

    def test_remarks(self):
        """The console has the spread, the limits and the loss."""
        run = run_of()
        boots, smallest, loss = run.remarks
        self.assertRegex(
            boots,
            r"^Boots of equal variants \(equal-1, equal-2\): 12 boots have a "
            r"standard deviation of \d\.\d % in the median metric and of "
            r"\d\.\d % in the worst \(cpu\.",
        )
        self.assertRegex(
            smallest,
            r"4 of 5 runs, in these metrics: \d\.\d to \d\.\d % with 6 boots, "
            r".* % with 10 boots of each side$",
        )
        self.assertRegex(
            loss,
            r"^limited, at most 90 % of each vCPU: the expected loss was "
            r"found in 2 of 2 CPU metrics: cpu.* loses \d+\.\d % \(.*; "
            r"expected 1\d",
        )
        for expected in (
            "cpu.sysbench.rate loses",
            "expected 10.0 %",
            "expected 11.1 %",
        ):
            self.assertIn(expected, loss)
        lines = " ".join(verdict_table.lines(run))
        for remark in run.remarks:
            self.assertIn(remark, lines)

    @ddt.data(
        (lambda rate: 100.0, "all boots gave the same value"),
        (round, "only . different values in 12 samples of equal variants"),
    )
    @ddt.unpack
    def test_rounded_values(self, change, reason):
        """They have no spread, which would be 0.0 %."""

        def change_rates(condition):
            return made.vary(
                condition,
                lambda name, value, _: (
                    change(value) if name == RATE.name else value
                ),
            )

        whole = made.with_conditions(records(), change_rates, [0, 1])
        run = made.run_of(whole, question="tuning")
        boots, _, rounded, *_ = run.remarks
        self.assertIn(f"in the worst ({TIME.name})", boots)
        self.assertEqual(
            "The spread of boots is not known in 1 metric, whose values are "
            f"rounded: {RATE.name}",
            rounded,
        )
        text = test_page.Reader(page.standalone([run])).text
        self.assertRegex(text, f"{RATE.name} 12 not known: {reason}")

    def test_a_limit_without_effect_is_not_proven(self):
        """Neither the guest nor Nova shows it."""
        *_, loss = run_of(share=1).remarks
        self.assertRegex(
            loss,
            r"no loss was found in 2 of 2 CPU metrics: cpu.sysbench.rate "
            r"loses -?\d\.\d % \(-\d\.\d to \d\.\d %; expected 10.0 %\).*\. "
            "Neither the guest",
        )
        self.assertIn("not proven that quota:cpu_quota has an effect", loss)

    @ddt.data(
        # 3 % are lost where the quota takes 10 %.
        (0.97, 0.001, "another loss than the expected one was found in 2"),
        (0.97, 0.08, "undecided in 2 of 2 CPU metrics"),
        (0.9, 0.08, "more boots are needed to say"),
        (0.9, 0.001, "the expected loss was found in 2"),
    )
    @ddt.unpack
    def test_other_losses(self, share, deviation, text):
        """A loss is found if it is the one that was injected."""
        *_, loss = run_of(share=share, deviation=deviation).remarks
        self.assertIn(text, loss)
        self.assertNotIn("not proven", loss)

    def test_a_limited_guest_that_does_not_boot(self):
        """The reason is stated in place of a loss."""
        whole = made.with_condition(
            made.with_fields(records(), state="incomplete"),
            2,
            state="incomplete",
            observations=(),
            machines=(),
        )
        run = made.run_of(whole, question="tuning")
        *_, loss = run.remarks
        self.assertRegex(loss, r"^limited, .*: not measured \(.*variants\)$")

    def test_without_boots(self):
        """Repetitions in one boot have no spread of boots."""
        run = run_of(reboot="never")
        self.assertEqual([], self_check.list_spreads(run))
        first, *_ = run.remarks
        self.assertIn("not measured, because their guests do not", first)

    def test_few_repetitions(self):
        """Two repetitions have no spread."""
        run = run_of(count=2)
        self.assertEqual([], self_check.list_spreads(run))
        first, *_ = run.remarks
        self.assertIn("not measured in 3 repetitions", first)
        *_, loss = run.remarks
        self.assertIn("not measured (fewer than 3 repetitions)", loss)

    def test_different_variants(self):
        """Other tuning runs have no remarks."""
        whole = records()
        for record in whole:
            first, second, _ = VARIANTS
            record.options["variants"] = [
                first,
                {**second, "image_properties": {"hw_disk_bus": "scsi"}},
                {"name": "limited", "extra_specs": {"hw:numa_nodes": "1"}},
            ]
        self.assertEqual((), made.run_of(whole, question="tuning").remarks)

    @ddt.data(
        ({}, 1),
        ({"quota:cpu_quota": "90000"}, 0.9),
        ({"quota:cpu_quota": "5000", "quota:cpu_period": "10000"}, 0.5),
        ({"quota:cpu_quota": "-1"}, 1),
        ({"quota:cpu_quota": "all"}, 1),
        ({"quota:cpu_quota": "900", "quota:cpu_period": "0"}, 1),
        ({"quota:cpu_quota": "60000", "quota:cpu_period": "0"}, 0.6),
        ({"quota:cpu_quota": "200000"}, 1),
    )
    @ddt.unpack
    def test_limits_of_vcpus(self, specs, share):
        """Values that libvirt does not understand are not limits."""
        run = run_of(share=share)
        for record in run.records:
            record.options["variants"][2]["extra_specs"] = specs
        remarks = self_check.list_remarks(run)
        limited_remarks = [
            text for text in remarks if text.startswith("limited")
        ]
        expected = [f"at most {100 * share:g} %"] if share < 1 else []
        self.assertEqual(
            expected,
            [text.split(", ")[1].split(" of")[0] for text in limited_remarks],
        )

    @ddt.data(
        ({"extra_specs": {"quota:cpu_period": "10000"}}, "50"),
        ({"extra_specs": {"quota:cpu_period": 10000}}, "50"),
        ({"extra_specs": None}, "5"),
        ({"extra_specs": "hidden"}, "5"),
        ("m1.small", "5"),
    )
    @ddt.unpack
    def test_period_of_the_task(self, flavor, percent):
        """A variant can limit vCPUs in the period of its flavor."""
        run = run_of(share=0.5)
        for record in run.records:
            record.options["variants"][2]["extra_specs"] = {
                "quota:cpu_quota": "5000"
            }
        guest = model.DescribedMachine(
            name="g3",
            role="guest",
            nova={"group": "limited", "flavor": flavor},
            fingerprint={},
            tools={},
        )
        run = dataclasses.replace(run, machines=(guest,))
        *_, limited = self_check.list_remarks(run)
        self.assertIn(f"limited, at most {percent} % of each vCPU", limited)

    def test_page(self):
        """The page has a row for each metric, and the remarks."""
        run = run_of()
        text = test_page.Reader(page.standalone([run])).text
        self.assertIn("equal-2: as the task requests, equal to equal-1", text)
        self.assertIn("Smallest limit, 6 boots", text)
        for remark in run.remarks:
            self.assertIn(remark, text)


class TestEqual(unittest.TestCase):
    """The first of several equal ones is named."""

    def test_equal(self):
        """Order of keys does not matter."""
        specs = {"a": "1", "b": "2"}
        self.assertEqual(
            {"y": "x", "z": "x"},
            self_check.find_equal(
                [
                    {"name": "x", "extra_specs": specs},
                    {"name": "w"},
                    {"name": "y", "extra_specs": specs},
                    {
                        "extra_specs": dict(reversed(specs.items())),
                        "name": "z",
                    },
                ]
            ),
        )
