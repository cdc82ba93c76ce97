# SPDX-License-Identifier: Apache-2.0
"""Tests of workloads that measure options one after another."""

import unittest

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sequence


class Copies(sequence.CommandSequenceWorkload):
    """A workload with two metrics for each option."""

    name = "copies"
    title = "Copies"
    part = "memory"
    ARGUMENTS = schemas.schema(
        methods=schemas.sequence(("fast", "slow"), note=" (in words)"),
        limit=schemas.optional("Largest copy", 9, "no limit"),
    )
    OPTIONS = "methods"
    METRICS = (
        sample.Metric("memory.copies.{}.rate", "B/s", "higher"),
        sample.Metric("memory.copies.{}.p99", "s", "lower", optional=True),
    )
    TOOLS = ()

    def check_arguments(self, arguments):
        if arguments["limit"] == 7:
            raise ValueError("limit=7: must not be 7")

    def command(self, option, arguments, endpoints):
        return base.Command(name=option, argv=("cp", option), timeout=1)

    def parse(self, arguments, outcome):
        return self.samples(outcome.name, 5.0, None)


class SequenceTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = Copies()

    def test_options_are_in_the_order_of_the_schema(self):
        arguments = self.workload.complete({"methods": ["slow", "fast"]})
        commands = self.workload.commands(arguments, base.Endpoints())
        self.assertEqual(
            ["fast", "slow"], [command.name for command in commands]
        )
        self.assertEqual(
            ["fast.rate", "fast.p99", "slow.rate", "slow.p99"],
            [
                metric.name.removeprefix("memory.copies.")
                for metric in self.workload.metrics(arguments)
            ],
        )

    def test_optional_metric_may_be_missing(self):
        (rate,) = self.workload.samples("slow", 5.0, None)
        self.assertEqual("memory.copies.slow.rate", rate.metric.name)
        self.assertEqual(5.0, rate.value)

    def test_every_metric_needs_a_value(self):
        with self.assertRaises(ValueError):
            self.workload.samples("slow", 5.0)

    def test_combinations_are_checked(self):
        with self.assertRaisesRegex(
            base.WorkloadError, "^workload copies: limit=7: must not be 7$"
        ):
            self.workload.complete({"limit": 7})

    def test_descriptions(self):
        properties = Copies.ARGUMENTS["properties"]
        self.assertEqual(
            "Measured one after the other: fast, slow (in words).",
            properties["methods"]["description"],
        )
        self.assertEqual(
            "Largest copy, 0 to 9; 0 for no limit.",
            properties["limit"]["description"],
        )
