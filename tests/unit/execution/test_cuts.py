# SPDX-License-Identifier: Apache-2.0
"""Tests of connections that are cut, at every command of a session."""

import asyncio
import pathlib
import tempfile
import unittest

from rally_vmperf.execution import assignment
from rally_vmperf.execution import measured
from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.machines.remote import ssh
from tests.unit.execution import test_measure
from tests.unit.machines import sshd


class Cutting(sshd.Sshd):
    """Cuts all connections at one command.

    :param at: its number, from 1; 0 for none
    :param begun: when it runs already; else it never does
    """

    def __init__(self, at, *, begun):
        super().__init__()
        self.at, self.begun = at, begun

    async def _serve(self, channel):
        if len(self.commands) + 1 != self.at:
            await super()._serve(channel)
        elif self.begun:
            asyncio.get_running_loop().call_soon(self.drop)
            await super()._serve(channel)
        else:
            self.commands.append(channel.command)
            self.drop()


class Outcome:
    """The result of a session, and its commands."""

    def __init__(self, at=0, *, begun=False):
        self.result = measured.Measured()
        self.refused = None
        self.opened = 0
        self.measured = 0
        self.lines = []
        with (
            tempfile.TemporaryDirectory() as folder,
            asyncio.Runner() as runner,
        ):
            server = Cutting(at, begun=begun)
            runner.run(server.start())
            try:
                self._measure(server, folder, runner)
            except base.MachineError as error:
                self.refused = str(error)
            finally:
                runner.run(server.stop())
            self.commands = server.commands
            self.left = list(pathlib.Path(folder).glob("**/.job-*"))

    def _measure(self, server, folder, runner):
        machine = ssh.Ssh(server.endpoint())
        place = roles.Station(
            name="g1", machine=machine, role="copy", parent=folder
        )
        opened = sessions.open_session(
            [assignment.Assignment(test_measure.Echo(), {})],
            [place],
            None,
            supply=provision.NO_SUPPLY,
            progress=self.lines.append,
            runner=runner,
        )
        self.opened = len(server.commands)

        def on_measured():
            self.measured = len(server.commands)

        try:
            opened.repeat(self.result, on_measured=on_measured)
        finally:
            opened.close()


class CutTest(unittest.TestCase):
    """A short cut costs a message at most, and no sample."""

    @classmethod
    def setUpClass(cls):
        """Count the commands of a session without any cut."""
        super().setUpClass()
        cls.whole = Outcome()

    def test_without_cuts(self):
        """Both samples are there."""
        self.assertIsNone(self.whole.refused)
        self.assertEqual(2, len(self.whole.result.observations))
        last = self.whole.commands[self.whole.measured :]
        self.assertEqual(2, len(last))
        self.assertIn("/proc/stat", last[0])
        self.assertIn("rm -rf", last[1])
        self.assertIn(" remove ", last[1])

    def test_while_getting_ready(self):
        """Nothing is measured yet: one line, or no matter at all."""
        for at in range(1, self.whole.opened + 1):
            for begun in (False, True):
                with self.subTest(at=at, begun=begun):
                    outcome = Outcome(at, begun=begun)
                    if outcome.refused is None:
                        self.check_samples(outcome)
                    else:
                        self.assertRegex(outcome.refused, "^g1: .*lost")
                        self.assertNotIn("\n", outcome.refused)

    def test_while_measuring(self):
        """Starting, waiting, collecting: every sample is kept."""
        for at in range(self.whole.opened + 1, len(self.whole.commands)):
            for begun in (False, True):
                with self.subTest(at=at, begun=begun):
                    self.check_samples(Outcome(at, begun=begun))

    def test_while_cleaning(self):
        """The message names the remains on the machine."""
        at = len(self.whole.commands)
        outcome = Outcome(at)
        self.check_samples(outcome, left=1)
        self.assertRegex(
            outcome.lines[-1], "vmperf-.* is left on g1: g1: .*lost"
        )

    def check_samples(self, outcome, left=0):
        """Expect both samples and nothing missing.

        :param left: The number of finished jobs in the folder.
        """
        self.assertIsNone(outcome.refused)
        self.assertEqual([], outcome.result.missing)
        self.assertEqual(2, len(outcome.result.observations))
        self.assertEqual(left, len(outcome.left))
