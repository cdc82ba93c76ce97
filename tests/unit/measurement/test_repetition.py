# SPDX-License-Identifier: Apache-2.0
"""Tests of the selection of conditions by their axes."""

import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import repetition
from tests.unit import made

AXES = (
    {"guests": 1, "neighbours": 0},
    {"guests": 1, "neighbours": 2},
    {"guests": 4, "neighbours": 0},
    {"guests": 4, "neighbours": 2},
)


def create_repetition(axes=AXES, **changes):
    """Return a repetition with a condition for each combination of axes."""
    return made.repetition(
        1,
        [
            made.build_condition(1, {made.IOPS: [1.0]}, axes=values)
            for values in axes
        ],
        **changes,
    )


@ddt.ddt
class SelectTestCase(unittest.TestCase):
    """Conditions are selected by any of their axes."""

    @ddt.data(
        ({}, AXES),
        ({"guests": 4}, AXES[2:]),
        ({"neighbours": False}, AXES[::2]),
        ({"neighbours": True}, AXES[1::2]),
        ({"guests": 4, "neighbours": False}, AXES[2:3]),
        ({"guests": 5}, ()),
        ({"variant": False}, AXES),
        ({"variant": "virtio"}, ()),
    )
    @ddt.unpack
    def test_selected(self, axes, expected):
        """The others are kept apart."""
        whole = create_repetition()
        selected = whole.select(**axes)
        self.assertEqual(
            list(expected),
            [condition.axes for condition in selected.conditions],
        )
        self.assertCountEqual(
            [condition.axes for condition in whole.conditions],
            [
                condition.axes
                for condition in (*selected.conditions, *selected.unselected)
            ],
        )

    def test_missing_measurements_of_other_conditions(self):
        """They stay missing, and change no selected condition."""
        gap = repetition.Missing(name="x", machine="g2", reason="it ended")
        whole = create_repetition(AXES[:2], state="incomplete")
        quiet, loud = whole.conditions
        whole = dataclasses.replace(
            whole,
            conditions=(
                quiet,
                dataclasses.replace(loud, state="incomplete", missing=(gap,)),
            ),
        )
        selected = whole.select(neighbours=False)
        self.assertEqual((gap,), selected.all_missing)
        self.assertEqual("incomplete", selected.state)
        self.assertTrue(selected.condition.complete)

    def test_only_condition(self):
        """One of several must be selected first."""
        with self.assertRaisesRegex(ValueError, "4 conditions, select one"):
            create_repetition().condition  # noqa: B018

    def test_has_axis(self):
        """All conditions must have it."""
        self.assertTrue(create_repetition().has_axis("guests"))
        self.assertFalse(create_repetition().has_axis("variant"))
