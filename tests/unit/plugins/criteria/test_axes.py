"""Tests of the SLAs that compare conditions of a repetition."""

import dataclasses
import unittest

from rally_vmperf.measurement.migration import figures
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
                    {"before": 1010.0, "during": 800.0, "after": 910.0},
                    {"before": 990.0, "during": 800.0, "after": 890.0},
                ],
                question="migration",
            ),
            (0.3, 0.25, 0.28),
        )
    )
    PASSES = (
        {"max_loss_after_percent": 20},
        {"max_downtime": 0.4, "max_loss_after_percent": 20},
    )
    FAILS = ({"max_downtime": 0.2}, {"max_loss_after_percent": 5})
    UNDECIDED = ({"max_loss_after_percent": 10},)
    REJECTED = ({}, {"max_downtime": -1}, {"max_loss_percent": 5})

    def test_figure_that_was_not_measured(self):
        """Its limit is undecided, and this is not forgiven."""
        options = {"max_dip_percent": 5, "max_loss_after_percent": 20}
        self.check("inconclusive", self.RUN, options)
        self.check("inconclusive", self.RUN, self.forgive(options))
