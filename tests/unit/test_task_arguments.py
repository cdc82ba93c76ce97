# SPDX-License-Identifier: Apache-2.0
"""Tests of the arguments that tests with a cloud pass to their tasks.

An argument that a template does not use is an error of the commands. These
tests are seldom run, so that it would remain unseen.
"""

import unittest

import ddt

from tests.unit import task_arguments


@ddt.ddt
class TaskArgumentsTest(unittest.TestCase):
    """Each template uses all arguments that its tests pass."""

    @ddt.data(("tests/functional", 7), ("tests/long", 20))
    @ddt.unpack
    def test_arguments(self, folder, fewest):
        """A call is found if its task and its arguments are in the module."""
        calls = task_arguments.list_calls(folder)
        self.assertGreaterEqual(len(calls), fewest)
        unused = {
            call.place: names
            for call in calls
            if (names := task_arguments.list_unused(call.task, call.names))
        }
        self.assertEqual({}, unused)
