# SPDX-License-Identifier: Apache-2.0
"""Tests of what happens while workloads run."""

import dataclasses
import threading
import unittest
from unittest import mock

from rally_vmperf.execution.stations import health
from rally_vmperf.guests import console
from rally_vmperf.guests.booting import obstacles
from rally_vmperf.guests.booting import placement
from rally_vmperf.machines import base
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.booting import test_obstacles
from tests.unit.runs import test_guest_power

CURRENT = conditions.CurrentCondition(
    condition=conditions.PlannedCondition(), machines=("g1",)
)


class Doing(actions.Action):
    """Calls a function."""

    name = "doing"

    def __init__(self, call, moment=None):
        self.call, self.moment = call, moment

    def during(self, current):
        """Return its thread as a finding."""
        self.call()
        return actions.ActionResult(findings=(threading.current_thread(),))


class MiddleTestCase(unittest.TestCase):
    def test_it_is_under_way_once_workloads_have_ended(self):
        begun, let = threading.Event(), threading.Event()

        def block():
            begun.set()
            let.wait(10)

        middle = actions.BackgroundAction(Doing(block), CURRENT)
        self.assertFalse(begun.is_set())
        middle.on_workloads_ended()
        self.assertTrue(begun.wait(10))
        let.set()
        (thread,) = middle.result().findings
        self.assertIsNot(threading.current_thread(), thread)
        self.assertTrue(thread.daemon)

    def test_it_runs_once_and_at_the_latest_for_its_result(self):
        calls = []
        middle = actions.BackgroundAction(
            Doing(lambda: calls.append(1)), CURRENT
        )
        middle.result()
        middle.on_workloads_ended()
        middle.result()
        self.assertEqual([1], calls)

    def test_a_moment_while_they_run(self):
        begun = threading.Event()
        middle = actions.BackgroundAction(
            Doing(begun.set, moment=0.01), CURRENT
        )
        self.assertTrue(begun.wait(10))
        middle.on_workloads_ended()
        self.assertEqual(1, len(middle.result().findings))
        self.assertEqual({}, middle.result().errors)

    def test_a_moment_that_did_not_come(self):
        calls = []
        action = Doing(lambda: calls.append(1), moment=1000)
        middle = actions.BackgroundAction(action, CURRENT)
        middle.on_workloads_ended()
        self.assertIn(
            "1000 s after the start of the condition",
            middle.result().errors["doing"],
        )
        self.assertEqual([], calls)

    def test_one_that_is_cancelled(self):
        calls = []
        action = Doing(lambda: calls.append(1), moment=1000)
        middle = actions.BackgroundAction(action, CURRENT)
        middle.cancel()
        middle._timer.join(10)
        self.assertFalse(middle._timer.is_alive())
        self.assertEqual([], calls)

    def test_its_exception_is_raised(self):
        for error in (ZeroDivisionError("ours"), KeyboardInterrupt()):
            with self.subTest(error=error):

                def fail(error=error):
                    raise error

                with self.assertRaises(type(error)):
                    actions.BackgroundAction(Doing(fail), CURRENT).result()


class HostWatchTest(unittest.TestCase):
    """The hosts are checked before the run and after each condition."""

    def setUp(self):
        super().setUp()
        self.cloud = testing.FakeCloud()
        self.watch = actions.HostWatch(
            self.cloud, [made.guest("g1", host="h1")], lambda line: None
        )

    def add_server(self):
        """Add a server of others to the host."""
        self.cloud.compute.host = "h1"
        return self.cloud.compute.create_server(name="s", networks=[])

    def measure(self, event=lambda: None):
        """Return the findings of a condition during which an event occurs."""
        self.assertEqual(actions.ActionResult(), self.watch.before(CURRENT))
        event()
        return [
            finding.detail for finding in self.watch.after(CURRENT).findings
        ]

    def test_an_empty_host(self):
        """It has no finding, and two requests before the second one."""
        self.assertEqual([], self.measure())
        self.assertEqual([], self.measure())
        self.assertEqual(["servers"] * 3, self.cloud.calls)

    def test_a_guest_that_arrives_and_leaves(self):
        """Both conditions have a finding, the later ones none."""
        self.assertEqual([], self.measure())
        finding = "host h1 has 1 guest of others with 2 vCPUs"
        self.assertEqual([finding], self.measure(self.add_server))
        servers = self.cloud.compute.all_servers
        self.assertEqual([finding], self.measure(servers.clear))
        self.assertEqual([], self.measure())

    def test_a_guest_that_was_there_before_the_run(self):
        """A guest that leaves during the first condition is found."""
        self.add_server()
        servers = self.cloud.compute.all_servers
        self.assertEqual(1, len(self.measure(servers.clear)))


class WatchTest(test_guest_power.Case):
    """Guests that are silent after a repetition, g1 and g2 of three."""

    def setUp(self):
        """Have two that boot anew, one of which Nova has shut off."""
        super().setUp()
        old = test_guest_power.LOOK
        self.session._before = self.session.last_look
        self.session.last_look = {"g3": old}
        self.cloud.compute.get_server(self.guests[1].id).status = "SHUTOFF"
        self.new = dataclasses.replace(old, boot="another")

    def recover(self, timeout=60):
        """Wait for guests that reboot; return the kinds of findings."""
        watch = actions.GuestWatch(
            self.cloud, self.guests, self.session, timeout, lambda line: None
        )

        async def look(stations):
            return {
                station.name: self.new
                for station in stations
                if self.machines[station.name].waited
                and not station.machine.error
            }

        current = conditions.CurrentCondition(
            condition=conditions.PlannedCondition(),
            machines=test_guest_power.NAMES,
        )
        with mock.patch.object(health, "read_counters", look):
            result = watch.recover(current)
        self.errors = result.errors
        return [(finding.kind, finding.subject) for finding in result.findings]

    def test_neighbours(self):
        """They are checked while they work, and not while they rest."""
        watch = actions.GuestWatch(
            self.cloud, self.guests, self.session, 60, lambda line: None
        )
        for names in ((), ("g2", "g3")):
            current = conditions.CurrentCondition(
                condition=conditions.PlannedCondition(unmeasured=names),
                machines=("g1",),
            )
            with mock.patch.object(
                placement,
                "find_changes",
                autospec=True,
                return_value=["moved"],
            ) as changes:
                moves = watch.during(current).findings
            self.assertEqual(("moved",), moves)
            ((_, checked_guests, *_),) = (
                call.args for call in changes.call_args_list
            )
            self.assertEqual(
                ["g1", *names], [guest.name for guest in checked_guests]
            )

    def test_a_reboot(self):
        """It is waited for, and named; what Nova has shut off is not."""
        self.assertEqual([("guest_rebooted", "g1")], self.recover())
        waited = [len(machine.waited) for machine in self.machines.values()]
        self.assertEqual([1, 0, 0], waited)
        self.assertEqual({"g2"}, self.session.silent(test_guest_power.NAMES))

    def test_silence(self):
        """A guest that stays silent is lost when the timeout expires."""
        self.machines["g1"].error = base.Unreachable("g1: silent")
        self.assertEqual([], self.recover(timeout=0.5))
        self.assertLessEqual(1, len(self.machines["g1"].waited))
        silent = self.session.silent(test_guest_power.NAMES)
        self.assertEqual({"g1", "g2"}, silent)

    def test_silence_for_good(self):
        """A guest that did not answer in time is not waited for again."""
        self.machines["g1"].error = base.Unreachable("g1: silent")
        lines = []
        watch = actions.GuestWatch(
            self.cloud, self.guests, self.session, 0.6, lines.append
        )
        current = conditions.CurrentCondition(
            condition=conditions.PlannedCondition(),
            machines=test_guest_power.NAMES,
        )
        with mock.patch.object(
            health, "read_counters", autospec=True, return_value={}
        ):
            watch.recover(current)
            waited = len(self.machines["g1"].waited)
            watch.recover(current)
        self.assertEqual(waited, len(self.machines["g1"].waited))
        self.assertEqual(["no answer from g1; waiting for 1 s at most"], lines)
        self.assertEqual({"g1"}, watch.given_up)
        with mock.patch.object(
            self.session, "silent", autospec=True, return_value=set()
        ):
            watch.recover(current)
        self.assertEqual(set(), watch.given_up)

    def test_a_failed_kernel(self):
        """The guest is not waited for until the timeout."""
        self.cloud.compute.console = test_obstacles.OOPS
        self.machines["g1"].error = base.Unreachable("g1: silent")
        with mock.patch.object(obstacles, "_REQUEST_INTERVAL", new=0):
            self.assertEqual([], self.recover(timeout=600))
        self.assertEqual(2, len(self.machines["g1"].waited))
        self.assertEqual(
            {"g1": f"guest g1 does not answer: by its console {console.OOPS}"},
            self.errors,
        )

    def test_a_deleted_guest(self):
        """Nova reports why it is silent, and it is not waited for."""
        del self.cloud.compute.all_servers[self.guests[1].id]
        self.recover()
        self.assertEqual(["g2"], list(self.errors))
        self.assertIn("the server of g2 does not exist", self.errors["g2"])
        self.assertEqual([], self.machines["g2"].waited)

    def test_another_machine(self):
        """A guest that answers with another key is not retried."""
        self.machines["g1"].error = base.MachineError("g1: not known")
        self.assertEqual([], self.recover())
        self.assertEqual(1, len(self.machines["g1"].waited))
