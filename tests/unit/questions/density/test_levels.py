# SPDX-License-Identifier: Apache-2.0
"""Tests of numbers of guests."""

import unittest

import ddt

from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import levels


@ddt.ddt
class TestExpand(unittest.TestCase):
    """Three forms of the numbers of guests."""

    @ddt.data(
        ([1, 2, 3], (1, 2, 3)),
        ([3, 1], (3, 1)),
        ([2.0], (2,)),
        ({"from": 2, "to": 4}, (2, 3, 4)),
        ({"to": 3}, (1, 2, 3)),
        ({"doubling_to": 8}, (1, 2, 4, 8)),
        ({"doubling_to": 7}, (1, 2, 4)),
        ({"doubling_to": 1}, (1,)),
        ({"doubling_to": 1000}, tuple(1 << power for power in range(10))),
        ({"to": 1000}, tuple(range(1, 1001))),
        ([33, 1000], (33, 1000)),
        ({"ratio": [0.5, 2], "host_cpus": 8, "vcpus": 3}, (1, 5)),
    )
    @ddt.unpack
    def test_forms(self, levels_argument, expected):
        """Each gives the numbers in its order."""
        self.assertEqual(expected, levels.expand_levels(levels_argument))

    def test_ratio_of_unknown_cpus(self):
        """The message names the option that has their number."""
        for stated in ({}, {"host_cpus": 0}):
            with self.assertRaisesRegex(
                task.InvalidTask, "^levels: host_cpus is missing; set it"
            ):
                levels.expand_levels({"ratio": [1], "vcpus": 1, **stated})

    @ddt.data(
        None,
        [],
        [0],
        [1001],
        [1, 1],
        [1.5],
        ["1"],
        {},
        {"from": 1},
        {"to": 2, "doubling_to": 4},
        {"doubling_to": 0},
        "1..8",
        3,
    )
    def test_others_are_refused(self, levels_argument):
        """With the forms there are."""
        with self.assertRaisesRegex(task.InvalidTask, "doubling_to: 8"):
            levels.expand_levels(levels_argument)

    def test_a_range_ascends(self):
        """The message names both ends."""
        with self.assertRaisesRegex(
            task.InvalidTask, "from=4: must not exceed to=2"
        ):
            levels.expand_levels({"from": 4, "to": 2})


class TestRises(unittest.TestCase):
    """Levels with more guests than the one before."""

    def test_rises(self):
        """From one repetition to the next it goes on."""
        self.assertEqual(2, levels.count_rises((1, 2, 3), 1))
        self.assertEqual(4, levels.count_rises((1, 2, 3), 2))
        self.assertEqual(1, levels.count_rises((3, 1), 2))
        self.assertEqual(0, levels.count_rises((3,), 5))

    def test_ascending(self):
        """A level that comes again or is smaller breaks it."""
        self.assertTrue(levels.is_ascending((1, 2, 8)))
        self.assertTrue(levels.is_ascending((4,)))
        self.assertFalse(levels.is_ascending((1, 3, 2)))
