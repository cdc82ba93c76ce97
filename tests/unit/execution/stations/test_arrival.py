# SPDX-License-Identifier: Apache-2.0
import unittest
from unittest import mock

from rally_vmperf.execution.stations import arrival
from rally_vmperf.execution.stations import reach
from rally_vmperf.machines import base
from rally_vmperf.machines import testing
from rally_vmperf.machines.remote import target

CUT = base.Unreachable("g1: connection lost")


class Booting(testing.FakeMachine):
    """A guest that lets the user in, or not."""

    def __init__(self, settles, entries=(None,)):
        super().__init__("g1", {"sh": settles})
        self.entries = list(entries)
        self.waited = []
        self.denied = None

    async def wait_ready(self, seconds, find_obstacle=None):
        self.waited.append(seconds)
        if self.denied and (obstacle := await find_obstacle(self.denied)):
            raise base.MachineError(obstacle)
        error = (
            self.entries.pop(0) if len(self.entries) > 1 else self.entries[0]
        )
        if error:
            raise error


def busy(status):
    return base.Completed(exit_status=status, stdout="", stderr="")


class WaitAllTestCase(unittest.TestCase):
    def wait(self, *machines, timeout=30.0, find_obstacle=None):
        guests = [
            target.Target(
                name=f"g{number}",
                address=f"192.0.2.{number}",
                measure_address=f"192.0.2.{number}",
                user="debian",
            )
            for number in range(1, len(machines) + 1)
        ]
        self.lines = []
        with mock.patch.object(
            reach, "connect", autospec=True, side_effect=machines
        ):
            arriving = arrival.ConnectedGuests(guests, "key")
        try:
            return arriving.wait(timeout, self.lines.append, find_obstacle)
        finally:
            self.assertFalse(any(machine.closed for machine in machines))
            arriving.close()
            self.assertTrue(all(machine.closed for machine in machines))

    def test_all_come_up(self):
        machines = [Booting(""), Booting("")]
        self.assertEqual([arrival.Arrival()] * 2, self.wait(*machines))
        self.assertIn("g1 answers SSH at 192.0.2.1 after 0 s", self.lines)
        self.assertIn("g2 has booted after 0 s", self.lines)

    def test_a_server_that_restarts_meanwhile(self):
        """Cloud-init restarts sshd, whose first answer is not the last."""
        machine = Booting([CUT, ""], entries=[None, None])
        self.assertEqual([arrival.Arrival()], self.wait(machine))
        self.assertEqual(2, len(machine.waited))

    def test_a_boot_that_does_not_end(self):
        arrivals = self.wait(Booting(busy(3)), Booting(busy(4)))
        self.assertEqual(
            [
                arrival.Arrival(busy="cloud-init"),
                arrival.Arrival(busy="systemd"),
            ],
            arrivals,
        )
        self.assertIn("g1 still runs cloud-init after 0 s", self.lines)

    def test_no_answer(self):
        silent = base.Unreachable("g1: no SSH")
        (reached,) = self.wait(Booting("", entries=[silent]), timeout=0)
        self.assertEqual(arrival.Arrival(error="g1: no SSH"), reached)
        self.assertEqual([], self.lines)

    def test_lost_until_the_end(self):
        (reached,) = self.wait(Booting(CUT), timeout=0)
        self.assertEqual("g1: connection lost", reached.error)

    def test_trouble_at_a_jump_host_is_told_apart(self):
        for kind in (base.JumpUnreachable, base.JumpRefused):
            machine = Booting("", entries=[kind("jump host: no SSH")])
            (reached,) = self.wait(machine, timeout=0)
            self.assertEqual(
                arrival.Arrival(error="jump host: no SSH", at_jump=True),
                reached,
            )

    def test_an_obstacle_ends_the_wait(self):
        """The guest is named, and the others are waited for."""
        machines = [Booting(""), Booting("")]
        machines[0].denied = base.Denied("g1: rejects the key")

        def find_obstacle(name, error):
            return f"{error}, forever ({name})"

        arrivals = self.wait(
            *machines, timeout=1000, find_obstacle=find_obstacle
        )
        reason = "g1: rejects the key, forever (g1)"
        self.assertEqual(
            [arrival.Arrival(error=reason), arrival.Arrival()], arrivals
        )

    def test_another_host_key_ends_it_at_once(self):
        wrong = base.MachineError("g1: not the one known")
        machine = Booting("", entries=[wrong])
        (reached,) = self.wait(machine, timeout=1000)
        self.assertEqual("g1: not the one known", reached.error)
        self.assertEqual(1, len(machine.waited))
