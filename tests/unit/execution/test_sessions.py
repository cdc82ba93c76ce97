# SPDX-License-Identifier: Apache-2.0
"""Tests of sessions: machines that are no guests, and counters."""

import asyncio
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import measured
from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import health
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines.remote import hostkey
from rally_vmperf.machines.remote import ssh
from rally_vmperf.workloads import tools
from tests.unit.execution import test_measure
from tests.unit.machines import sshd


class Distant(test_measure.Echo):
    """A workload with a program on the peer.

    :param program: The name of the program.
    """

    def __init__(self, program):
        super().__init__()
        self.TOOLS = (
            tools.Tool(
                command=program,
                package="coreutils",
                version=(program, "--version"),
                side="peer",
            ),
        )

    def needs(self, arguments):
        """Return the other end."""
        return frozenset({"peer"})


class CheckOthersTest(unittest.TestCase):
    """Peer and control machine are checked without guests."""

    def setUp(self):
        """Have a peer, which is this computer."""
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.lines = []

    def station(self, role, machine=None):
        """Return a machine with this role."""
        return roles.Station(
            name=role,
            machine=machine or local.Local(role),
            role=role,
            parent=self.folder,
        )

    def check(self, peer, program="env", control=None):
        """Check the machines for this program."""
        sessions.check_others(
            [assignment.Assignment(Distant(program), {})],
            peer,
            control,
            self.lines.append,
        )

    def test_left(self):
        """A peer that can be used keeps nothing of the check."""
        self.check(self.station("peer"))
        self.assertEqual(["checking peer"], self.lines)
        self.assertEqual([], [*pathlib.Path(self.folder).iterdir()])

    def test_missing_tool(self):
        """The line names the machine and the program."""
        with self.assertRaisesRegex(base.MachineError, "^peer.*no-such-tool"):
            self.check(self.station("peer"), "no-such-tool")
        self.assertEqual([], [*pathlib.Path(self.folder).iterdir()])

    def test_missing_tool_of_control(self):
        """The control machine has a workload of its own."""
        work = assignment.Assignment(Distant("no-such-tool"), {})
        work.workload.needs = lambda arguments: frozenset()
        work.workload.TOOLS = (
            tools.Tool(
                command="no-such-tool",
                package="coreutils",
                version=("no-such-tool", "--version"),
            ),
        )
        control = sessions.Control(station=self.station("control"), work=work)
        with self.assertRaisesRegex(base.MachineError, "^control.*no-such"):
            self.check(None, "env", control)


class CountersTest(unittest.TestCase):
    """The counters before and after the workloads."""

    def setUp(self):
        super().setUp()
        self.session = sessions.Session(
            assignments=(),
            stations=[
                roles.Station(
                    name="g1", machine=local.Local("g1"), role="guest"
                )
            ],
            peer=None,
            progress=str,
            runner=asyncio.Runner(),
        )
        self.addCleanup(self.session.runner.close)

    def repeat(self, *readings):
        """Return the CPU time and the findings with these counters."""
        answers = iter(readings)
        result = measured.Measured()

        async def read(stations):
            answer = next(answers)
            return {each.name: answer for each in stations if answer}

        with (
            mock.patch(
                "rally_vmperf.execution.measure.repetition",
                autospec=True,
                return_value=[],
            ),
            mock.patch(
                "rally_vmperf.execution.stations.health.read_counters", read
            ),
        ):
            findings = self.session.repeat(result)
        return result.cpu_times, [found.kind for found in findings]

    def look(self, busy, available, boot="b"):
        """Return the counters of a guest."""
        return health.Counters(
            boot=boot,
            busy=busy,
            stolen=0,
            swapped=0,
            killed=0,
            available=available,
        )

    def test_idle_time_between_conditions(self):
        """Only the CPU time of the condition counts."""
        self.repeat(self.look(0, 100), self.look(100, 200))
        cpu_times, _ = self.repeat(self.look(100, 800), self.look(300, 1000))
        self.assertEqual(1.0, cpu_times["g1"].used_share)

    def test_events_between_conditions(self):
        """A reboot before the condition is one during the repetition."""
        self.repeat(self.look(0, 100), self.look(100, 200))
        other = self.look(0, 10, boot="other")
        _, kinds = self.repeat(other, other)
        self.assertEqual(["guest_rebooted"], kinds)

    def test_start_without_an_answer(self):
        """The CPU time is not known, and the guest is not lost."""
        self.repeat(self.look(0, 100), self.look(100, 200))
        cpu_times, kinds = self.repeat(None, self.look(300, 400))
        self.assertEqual(({}, []), (cpu_times, kinds))
        self.assertEqual(set(), self.session.silent(["g1"]))


@ddt.ddt
class UnreachableTest(unittest.IsolatedAsyncioTestCase):
    """A peer that does not let the user in."""

    @ddt.data(
        ({}, "silent", "^peer: no SSH at debian@127"),
        ({"client_key"}, "", "^peer: .* rejects the key"),
        ({"host_key"}, "", "^peer: .* known_hosts"),
    )
    @ddt.unpack
    async def test_peer(self, keys, state, pattern):
        """The line names it, and the reason."""
        server = sshd.Sshd()
        await server.start()
        other = {
            "client_key": hostkey.generate("client").private,
            "host_key": hostkey.generate("host").public,
        }
        changes = {key: other[key] for key in keys}
        station = roles.Station(
            name="peer",
            machine=ssh.Ssh(server.endpoint("peer", **changes)),
            role="peer",
        )
        if state == "silent":
            await server.stop()
        else:
            self.addAsyncCleanup(server.stop)
        with self.assertRaisesRegex(base.MachineError, pattern):
            await asyncio.to_thread(
                sessions.check_others, [], station, None, str
            )
        self.assertEqual([], server.commands)
