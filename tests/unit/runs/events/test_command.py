# SPDX-License-Identifier: Apache-2.0
"""Tests of commands of the operator as events."""

import sys
import unittest
from unittest import mock

import ddt

from rally_vmperf.execution.stations import reach
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import testing
from rally_vmperf.runs import event_types


@ddt.ddt
class TestCommand(unittest.TestCase):
    """Outcomes, on this machine and on another one."""

    def cause(self, argv, deadline=60.0, **options):
        """Execute a command, and return how it went."""
        event = event_types.parse({"name": "command", "argv": argv, **options})
        occasion = mock.Mock(spec=event_types.Occasion, deadline=deadline)
        return event.cause(occasion)

    def test_completed(self):
        """No shell interprets the arguments."""
        program = "import sys; sys.exit(sys.argv[1] != '$HOME; a')"
        done = self.cause([sys.executable, "-c", program, "$HOME; a"])
        self.assertEqual("completed", done.outcome)
        self.assertEqual({"exit_status": 0}, done.fields)

    def test_failed(self):
        program = "import sys; sys.exit('first\\nno backup')"
        done = self.cause([sys.executable, "-c", program])
        self.assertEqual("failed", done.outcome)
        self.assertEqual("exit status 1: no backup", done.detail)
        self.assertEqual({"exit_status": 1}, done.fields)

    def test_missing_program(self):
        done = self.cause(["/no/such/program"])
        self.assertEqual("failed", done.outcome)
        self.assertEqual({"exit_status": 127}, done.fields)

    def test_deadline(self):
        """A command that does not end is ended."""
        done = self.cause(["sleep", "60"], deadline=0.2)
        self.assertEqual("aborted", done.outcome)
        self.assertEqual("it was not finished after 0.2 s", done.detail)

    def test_other_machine(self):
        """It is executed over SSH, and its connection is closed."""
        machine = testing.FakeMachine("ceph")
        machine.run = mock.AsyncMock(
            return_value=base.Completed(exit_status=0, stdout="", stderr="")
        )
        machine.close = mock.AsyncMock()
        station = roles.Station(name="ceph", machine=machine, role="control")
        options = {"address": "192.0.2.1", "user": "root"}
        with mock.patch.object(
            reach, "peer_station", autospec=True, return_value=station
        ) as connect:
            done = self.cause(["rebuild"], machine=options)
        connect.assert_called_once_with(options, "control")
        machine.run.assert_awaited_once_with(["rebuild"], timeout=60.0)
        machine.close.assert_awaited_once_with()
        self.assertEqual("completed", done.outcome)

    @ddt.data(
        ({}, False, False),
        ({"guest": "restarts"}, True, False),
        ({"host": "may_change"}, False, True),
    )
    @ddt.unpack
    def test_expectations(self, options, stops, moves):
        event = event_types.parse(
            {"name": "command", "argv": ["true"], **options}
        )
        self.assertEqual(stops, event.stops_guest)
        self.assertEqual(moves, event.may_move_guest)
