# SPDX-License-Identifier: Apache-2.0
"""Tests of Ctrl-C, which Rally would swallow."""

import unittest
from unittest import mock

from rally import consts

from rally_vmperf.plugins import scenarios


class TestPassedOn(unittest.TestCase):
    """An interrupted repetition is the last one."""

    def setUp(self):
        """Stand in for Rally's tasks."""
        super().setUp()
        self.tasks = mock.Mock()
        self.tasks.get_status.return_value = consts.TaskStatus.ABORTED
        for patch in (
            mock.patch.object(scenarios.objects, "Task", self.tasks),
            mock.patch.object(scenarios, "_interrupted", set()),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def test_nothing_happens(self):
        """A repetition that ends well is none of its business."""
        with scenarios.abort_on_interrupt({"uuid": "t"}, "w"):
            pass
        self.tasks.get.assert_not_called()

    def test_task_is_aborted(self):
        """Rally gets an exception that it does not swallow."""
        with (
            self.assertRaises(scenarios.InterruptedRepetition),
            scenarios.abort_on_interrupt({"uuid": "t"}, "w"),
        ):
            raise KeyboardInterrupt
        self.tasks.get.assert_called_once_with("t")
        self.tasks.get.return_value.abort.assert_called_once_with()

    def test_no_repetition_follows(self):
        """The same workload does not start again; others do."""
        with (
            self.assertRaises(scenarios.InterruptedRepetition),
            scenarios.abort_on_interrupt({"uuid": "t"}, "w"),
        ):
            raise KeyboardInterrupt
        with (
            self.assertRaisesRegex(
                scenarios.InterruptedRepetition, "not started"
            ),
            scenarios.abort_on_interrupt({"uuid": "t"}, "w"),
        ):
            self.fail("it was started")
        with scenarios.abort_on_interrupt({"uuid": "t"}, "other"):
            pass

    def test_waits_for_the_engine(self):
        """The next repetition must not begin before it has understood."""
        self.tasks.get_status.side_effect = [
            consts.TaskStatus.ABORTING,
            consts.TaskStatus.ABORTED,
        ]
        with (
            self.assertRaises(scenarios.InterruptedRepetition),
            scenarios.abort_on_interrupt({"uuid": "t"}, "w"),
        ):
            raise KeyboardInterrupt
        self.assertEqual(2, self.tasks.get_status.call_count)
