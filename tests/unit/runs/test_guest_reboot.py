# SPDX-License-Identifier: Apache-2.0
"""Tests of guests that boot anew between repetitions or workloads."""

from unittest import mock

import ddt

from rally_vmperf.machines import base
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.runs import guest_power
from tests.unit.runs import test_guest_power

NAMES = test_guest_power.NAMES


def current(*machines, repetition=1, lost=()):
    """Return the condition that is to be measured."""
    return conditions.CurrentCondition(
        condition=conditions.PlannedCondition(),
        repetition=repetition,
        machines=machines,
        lost=lost,
    )


@mock.patch("time.sleep", new=mock.Mock())
@ddt.ddt
class TestReboot(test_guest_power.Case):
    """Guests that just booted are not rebooted; later all are."""

    def reboot(self, when="between_repetitions", idle_guests="running"):
        """Return the action."""
        return guest_power.GuestReboot(
            when=when,
            idle_guests=idle_guests,
            connection=self.cloud,
            session=self.session,
            guests=self.guests,
            boots=self.boots,
            config={"boot_timeout": 60, "ssh_timeout": 5},
            progress=lambda line: None,
        )

    def verbs(self):
        """Return how often servers were stopped and started so far."""
        verbs = ("stop_server", "start_server")
        return [self.cloud.calls.count(verb) for verb in verbs]

    def test_between_repetitions(self):
        """Once before the second, whatever its conditions."""
        reboot = self.reboot()
        self.assertFalse(reboot.between_workloads)
        self.assertEqual(
            actions.ActionResult(), reboot.before(current(*NAMES))
        )
        self.assertEqual([0, 0], self.verbs())
        started = actions.ActionResult(started=frozenset(NAMES))
        second = current("g1", repetition=2)
        self.assertEqual(started, reboot.before(second))
        self.assertEqual([3, 3], self.verbs())
        self.assertEqual({}, self.session.last_look)
        self.assertEqual(
            [1, 1, 1],
            [len(machine.waited) for machine in self.machines.values()],
        )
        self.assertEqual(
            {"ACTIVE"},
            {
                server.status
                for server in self.cloud.compute.all_servers.values()
            },
        )
        self.assertEqual(actions.ActionResult(), reboot.before(second))
        self.assertEqual([3, 3], self.verbs())

    def test_boot_times(self):
        """A boot is reported once, in a counted condition of its guest."""
        self.boots.warmup = 1
        reboot = self.reboot()
        reboot.before(current(*NAMES))
        second = current("g1", repetition=2)
        reboot.before(second)
        self.assertEqual((), self.boots.before(current("g1")).observations)
        reported = self.boots.before(second).observations
        self.assertEqual(
            [
                ("g1", "guest.boot.active_time"),
                ("g1", "guest.boot.ssh_time"),
            ],
            [(each.source, each.sample.metric.name) for each in reported],
        )
        active, answered = (each.sample.value for each in reported)
        self.assertLessEqual(0, active)
        self.assertLessEqual(active, answered)
        self.assertEqual((), self.boots.before(second).observations)
        self.assertEqual({"g2", "g3"}, self.boots.latest.keys())

    def test_between_workloads(self):
        """The participants are rebooted; before another condition, all are."""
        reboot = self.reboot("between_workloads")
        self.assertTrue(reboot.between_workloads)
        reboot.before(current("g1"))
        effect = reboot.between(current("g1"))
        self.assertEqual(frozenset({"g1"}), effect.started)
        self.assertEqual([1, 1], self.verbs())
        effect = reboot.before(current("g1", "g2", lost={"g3"}))
        self.assertEqual(frozenset({"g1", "g2"}), effect.started)
        self.assertEqual([3, 3], self.verbs())

    @ddt.data(("stopped", "SHUTOFF", 1), ("paused", "PAUSED", 3))
    @ddt.unpack
    def test_guests_at_rest(self, idle_guests, status, started):
        """Stopped ones rest on; paused ones boot anew as well."""
        reboot = self.reboot(idle_guests=idle_guests)
        reboot.before(current("g1"))
        servers = self.cloud.compute.all_servers
        for guest in self.guests[1:]:
            servers[guest.id].status = status
        effect = reboot.before(current("g1", repetition=2))
        self.assertEqual({}, effect.errors)
        self.assertEqual(started, len(effect.started))
        self.assertEqual("ACTIVE", servers[self.guests[0].id].status)

    def test_a_guest_that_does_not_come_back(self):
        """Only the conditions that it is part of are not measured."""
        self.machines["g2"].error = base.MachineError("g2: not known")
        for names, troubled in ((("g1",), []), (("g1", "g2"), ["g2"])):
            reboot = self.reboot()
            reboot.before(current(*names))
            effect = reboot.before(current(*names, repetition=2))
            self.assertEqual(troubled, [*effect.errors])
            self.assertEqual({"g2"}, effect.lost)
