# SPDX-License-Identifier: Apache-2.0
"""Tests of the SLAs that compare conditions of a repetition."""

import dataclasses
import unittest

from rally_vmperf.measurement.event import figures
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample
from tests.unit import made
from tests.unit.plugins.criteria import contract


def build_run(axis, rows, **fields):
    """Return repetitions with a condition for each value of an axis.

    :param rows: The rate by value of the axis, in each repetition.
    :param fields: The other fields of repetitions.
    """
    return [
        made.repetition(
            number,
            [
                made.build_condition(
                    number, {made.IOPS: [rate]}, axes={axis: axis_value}
                )
                for axis_value, rate in row.items()
            ],
            expected_metrics=(made.IOPS,),
            **fields,
        )
        for number, row in enumerate(rows, 1)
    ]


def add_downtime(measured, seconds):
    """Return a repetition with the downtime of the migrated guest."""
    before, during, after = measured.conditions
    downtime = made.observations(["g1"], {figures.DOWNTIME: [seconds]})
    during = dataclasses.replace(
        during, observations=(*during.observations, *downtime)
    )
    return dataclasses.replace(measured, conditions=(before, during, after))


class TestNeighbours(contract.SLAContract, unittest.TestCase):
    """Neighbours cost 10 % of a rate that varies between repetitions."""

    NAME = "vmperf_neighbours"
    RUN = build_run(
        "neighbours",
        [
            {0: 1000.0, 2: 900.0},
            {0: 2000.0, 2: 1801.0},
            {0: 4000.0, 2: 3599.0},
        ],
    )
    PASSES = ({"max_percent": {"*": 12}},)
    FAILS = ({"max_percent": {"disk.*": 8}},)
    UNDECIDED = ({"max_percent": {"*": 10}},)
    UNMATCHED = ({"max_percent": {"*": 12, "x.*": 1}},)
    REJECTED = ({}, {"max_percent": {}}, {"max": {"*": 5}})


class TestTuning(contract.SLAContract, unittest.TestCase):
    """The variant virtio has twice the rate of the reference."""

    NAME = "vmperf_tuning"
    RUN = build_run(
        "variant",
        [
            {"ide": 1000.0, "virtio": 2000.0},
            {"ide": 1010.0, "virtio": 2010.0},
            {"ide": 990.0, "virtio": 1995.0},
        ],
        question="tuning",
    )
    PASSES = (
        {"max_loss_percent": {"virtio": {"*": 5}}},
        {"min_gain_percent": {"virtio": {"*": 90}}},
    )
    FAILS = ({"min_gain_percent": {"virtio": {"disk.*": 150}}},)
    UNDECIDED = ({"min_gain_percent": {"virtio": {"*": 100}}},)
    UNMATCHED = (
        {"max_loss_percent": {"virtio": {"*": 5, "x.*": 1}}},
        {"max_loss_percent": {"virtio": {"*": 5}, "scsi": {"*": 5}}},
    )
    REJECTED = (
        {},
        {"max_loss_percent": {"*": 5}},
        {"max_loss_percent": {"virtio": {}}},
    )


class TestDisruption(contract.SLAContract, unittest.TestCase):
    """A migration stops the guest for 0.3 s and costs 10 % afterwards."""

    NAME = "vmperf_disruption"
    RUN = tuple(
        map(
            add_downtime,
            build_run(
                "phase",
                [
                    {"before": 1000.0, "during": 800.0, "after": 900.0},
                    {"before": 1010.0, "during": 806.0, "after": 910.0},
                    {"before": 990.0, "during": 793.0, "after": 890.0},
                ],
                question="event",
            ),
            (0.3, 0.25, 0.28),
        )
    )
    PASSES = (
        {"max_loss_after_percent": 20},
        {"max_downtime": 0.4, "max_loss_after_percent": 20},
        {"max_loss_after_percent": {"disk.*": 20}},
        {"max_loss_during_percent": 30},
    )
    FAILS = (
        {"max_downtime": 0.2},
        {"max_loss_after_percent": 5},
        {"max_loss_during_percent": 15},
    )
    UNDECIDED = ({"max_loss_after_percent": 10},)
    REJECTED = (
        {},
        {"max_downtime": -1},
        {"max_loss_percent": 5},
        {"max_peak": {"*": -1}},
        {"max_spike_duration": -1},
        {"max_spike_duration": {"*": -1}},
    )

    def test_figure_that_was_not_measured(self):
        """Its limit is undecided, and this is not forgiven."""
        options = {"max_dip_percent": 5, "max_loss_after_percent": 20}
        sla = self.check("inconclusive", self.RUN, options)
        self.assertEqual((), sla.judge.judgement().unmatched)
        self.check("inconclusive", self.RUN, self.forgive(options))

    def of_guests(self, **rates):
        """Return repetitions with the rates of guests in the last phase.

        The first guest is migrated.
        """
        event = phases.EventRecord(
            guest="g1", outcome="completed", requested=10.0, ended=20.0
        )
        repetitions = []
        for measured, share in zip(self.RUN, (1, 1.01, 0.99), strict=True):
            before, during, after = measured.conditions
            names = [*rates]
            usual = made.observations(
                names, {made.IOPS: [1000.0 * share] * len(names)}
            )
            ends = [share * rate + measured.number for rate in rates.values()]
            last = made.observations(names, {made.IOPS: ends})
            repetitions.append(
                dataclasses.replace(
                    measured,
                    conditions=(
                        dataclasses.replace(before, observations=usual),
                        dataclasses.replace(
                            during,
                            observations=usual,
                            phase=phases.Phase(event=event),
                        ),
                        dataclasses.replace(after, observations=last),
                    ),
                )
            )
        return repetitions

    def test_loss_is_that_of_the_migrated_guest(self):
        """The mean of both guests would be another figure."""
        options = {"max_loss_after_percent": 5}
        run = self.of_guests(g1=990.0, g2=700.0)
        sla = self.check("passed", run, options, True)
        values = [row.to_value() for row in sla.judge.judgement().limited]
        self.assertEqual(["g1"], [value.guest for value in values])
        self.check("failed", self.of_guests(g1=900.0, g2=1100.0), options)

    def add_times(self, peak):
        """Return the run with figures of response times of the guest."""
        metric = sample.Metric(
            "network.h2load.response_time_mean", "s", "lower"
        )
        added = {
            figures.create_peak(metric): [peak],
            figures.create_spike_duration(metric): [7.0],
        }
        repetitions = []
        for measured in self.RUN:
            before, during, after = measured.conditions
            times = made.observations(["g1"], added)
            during = dataclasses.replace(
                during, observations=(*during.observations, *times)
            )
            repetitions.append(
                dataclasses.replace(
                    measured, conditions=(before, during, after)
                )
            )
        return repetitions

    def test_response_times(self):
        """A rate that catches up hides them."""
        options = {"max_peak": {"network.*": 0.2}}
        self.check("passed", self.add_times(0.1), options, True)
        self.check("failed", self.add_times(6.0), options)
        run = self.add_times(0.1)
        self.check("failed", run, {"max_spike_duration": 5})
        limits = {"max_spike_duration": {"*.response_time_mean": 9}}
        self.check("passed", run, limits, True)

    def test_response_times_that_were_not_measured(self):
        """The limit is not met."""
        options = {"max_peak": {"*": 5}, "max_loss_after_percent": 20}
        self.check("inconclusive", self.RUN, options)
