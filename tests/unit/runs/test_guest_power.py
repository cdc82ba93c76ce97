# SPDX-License-Identifier: Apache-2.0
"""Tests of guests that rest and are roused between levels."""

import asyncio
import unittest
from unittest import mock

import ddt

from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import health
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import testing as machines
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.runs import guest_power
from tests.unit.guests import made
from tests.unit.guests import testing

NAMES = ("g1", "g2", "g3")
LOOK = health.Counters(boot="b", busy=0, stolen=0, swapped=0, killed=0)


def form(others, *participants):
    """Form a condition with these participants."""
    current = conditions.CurrentCondition(
        condition=conditions.PlannedCondition(), machines=participants
    )
    return others.before(current)


class Guest(machines.FakeMachine):
    """A guest that accepts the login, or raises an error."""

    def __init__(self, name, busy=0, error=None):
        answer = base.Completed(exit_status=busy, stdout="", stderr="")
        super().__init__(name, {"sh": answer})
        self.error = error
        self.waited = []

    async def wait_ready(self, seconds, find_obstacle=None):
        """Remember how long it would be waited for."""
        self.waited.append(seconds)
        if (
            find_obstacle
            and isinstance(self.error, base.Unreachable)
            and (reason := await find_obstacle(self.error))
        ):
            raise base.Obstructed(reason)
        if self.error:
            raise self.error


class Case(unittest.TestCase):
    """Three guests of a cloud, with a session."""

    def setUp(self):
        """Have them active."""
        super().setUp()
        self.cloud = testing.FakeCloud()
        self.guests = []
        for name in NAMES:
            server = self.cloud.compute.create_server(
                name=name, networks=[{"uuid": "n1"}]
            )
            server.status = "ACTIVE"
            self.guests.append(
                made.guest(name, id=server.id, boot=f"{server.id}#1")
            )
        self.machines = {name: Guest(name) for name in NAMES}
        runner = asyncio.Runner()
        self.addCleanup(runner.close)
        self.session = sessions.Session(
            assignments=(),
            stations=[
                roles.Station(
                    name=name, machine=machine, role="guest", folder="f"
                )
                for name, machine in self.machines.items()
            ],
            peer=None,
            progress=lambda line: None,
            runner=runner,
        )
        self.session.last_look = dict.fromkeys(NAMES, LOOK)
        self.boots = guest_power.BootTimes(warmup=0, latest={})


@mock.patch("time.sleep", new=mock.Mock())
@ddt.ddt
class OthersTest(Case):
    def others(self, kind):
        """Return what is tested."""
        return guest_power.IdleGuests(
            kind=kind,
            connection=self.cloud,
            session=self.session,
            guests=self.guests,
            boots=self.boots,
            config={"boot_timeout": 60, "ssh_timeout": 5},
            progress=lambda line: None,
        )

    def hung_up(self):
        """Return the guests whose connections were closed since then."""
        names = [
            name for name, machine in self.machines.items() if machine.closed
        ]
        for machine in self.machines.values():
            machine.closed = False
        return names

    def test_running_guests_need_no_request(self):
        before = len(self.cloud.calls)
        formed = form(self.others("running"), "g1")
        self.assertEqual(actions.ActionResult(), formed)
        self.assertEqual(before, len(self.cloud.calls))
        self.assertEqual([], self.hung_up())

    @ddt.data(("paused", ()), ("stopped", ("g2",)))
    @ddt.unpack
    def test_up_from_one_to_two(self, kind, started):
        """A guest that wakes is waited for, and its counters restart."""
        others = self.others(kind)
        self.assertEqual(actions.ActionResult(), form(others, "g1"))
        self.assertEqual(["g2", "g3"], self.hung_up())
        self.assertEqual(set(NAMES), set(self.session.last_look))
        effect = actions.ActionResult(started=frozenset(started))
        self.assertEqual(effect, form(others, "g1", "g2"))
        self.assertEqual(["g2"], self.hung_up())
        self.assertEqual({"g1", "g3"}, set(self.session.last_look))
        waited = [len(machine.waited) for machine in self.machines.values()]
        self.assertEqual([0, 1, 0], waited)
        self.assertLessEqual(self.machines["g2"].waited[0], 5)

    def test_a_guest_that_does_not_answer_again(self):
        others = self.others("stopped")
        form(others, "g1")
        self.machines["g2"].error = base.MachineError("g2: not known")
        formed = form(others, "g1", "g2")
        self.assertEqual(
            {
                "g2": "guest g2 was resumed and does not answer SSH: "
                "g2: not known"
            },
            formed.errors,
        )
        self.assertEqual({"g2"}, formed.lost)

    def test_a_jump_host_that_does_not_answer(self):
        """The guest is not lost; the next level waits for it again."""
        others = self.others("paused")
        form(others, "g1")
        guest = self.machines["g2"]
        guest.error = base.JumpRefused("jump host: no")
        formed = form(others, "g1", "g2")
        self.assertEqual(
            (["g2"], frozenset()), ([*formed.errors], formed.lost)
        )
        guest.error = None
        self.assertEqual(actions.ActionResult(), form(others, "g1", "g2"))
        self.assertEqual(2, len(guest.waited))

    def test_a_guest_that_starts_after_the_timeout(self):
        """The next level waits for its answer, and requests nothing."""
        others = self.others("stopped")
        form(others, "g1")
        with mock.patch.dict(others.config, boot_timeout=-1):
            formed = form(others, "g1", "g2")
        self.assertIn("g2 is SHUTOFF and not ACTIVE", formed.errors["g2"])
        self.assertEqual(frozenset(), formed.lost)
        self.assertEqual([], self.machines["g2"].waited)
        self.cloud.compute.servers()
        before = self.cloud.calls.count("start_server")
        self.assertEqual(actions.ActionResult(), form(others, "g1", "g2"))
        self.assertEqual(before, self.cloud.calls.count("start_server"))
        self.assertEqual(1, len(self.machines["g2"].waited))

    def test_a_guest_that_goes_on_booting(self):
        others = self.others("stopped")
        form(others, "g1")
        self.machines["g2"] = busy = Guest("g2", busy=3)
        self.session.stations[1].machine = busy
        formed = form(others, "g1", "g2")
        (booting,) = formed.findings
        self.assertEqual(
            ("still_booting", "g2"), (booting.kind, booting.subject)
        )
        self.assertEqual({}, formed.errors)

    def test_a_server_that_fails(self):
        """It is lost; a rejected one is retried."""
        servers = self.cloud.compute.all_servers
        servers[self.guests[2].id].status = "ERROR"
        formed = form(self.others("paused"), "g1")
        self.assertEqual({"g3"}, formed.lost)
        self.assertIn("g3 is ERROR", formed.errors["g3"])
