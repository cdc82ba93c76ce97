# SPDX-License-Identifier: Apache-2.0
"""Tests of guests that are paused, stopped and woken."""

import unittest
from unittest import mock

import ddt
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import idle
from rally_vmperf.guests import models
from rally_vmperf.guests.booting import power
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal
from tests.unit.guests import made
from tests.unit.guests import testing

NAME = "c_rally_1234abcd"
SWITCHES = ("pause_server", "unpause_server", "stop_server", "start_server")


def refusal(status):
    """Return what the SDK raises for a status."""
    return sdk_errors.HttpException(
        "x", http_status=status, details=f"fault {status}"
    )


class Clock:
    """A clock that advances by each sleep."""

    def __init__(self):
        self.now = 1000.0

    def sleep(self, seconds):
        """Let time pass."""
        self.now += seconds


@ddt.ddt
class SwitchTest(unittest.TestCase):
    def setUp(self):
        clock = Clock()
        for name, fake in (
            ("monotonic", lambda: clock.now),
            ("sleep", clock.sleep),
        ):
            self.enterContext(mock.patch(f"time.{name}", fake))
        self.clock = clock
        self.cloud = testing.FakeCloud(self.fail_at)
        self.fails, self.lines, self.verb_lists = {}, [], []
        self.servers = {}
        for number in (1, 2, 3):
            server = self.cloud.compute.create_server(
                name=f"{NAME}_{number:08}", networks=[{"uuid": "n1"}]
            )
            server.status = "ACTIVE"
            name = f"g{number}"
            self.servers[name] = made.guest(
                name,
                id=server.id,
                server_name=server.name,
                boot=models.create_boot_id(server.id),
            )

    def fail_at(self, name, is_done):
        """Raise the error of a call, before or after it takes effect."""
        for fault in self.fails.get(name, ()):
            error, after, times = fault
            if times and after == is_done:
                fault[2] -= 1
                raise error

    def switch(self, *team, idle_guests="paused", dead=(), timeout=60):
        """Wake these guests; return the change, and the requests."""
        before = len(self.cloud.calls)
        switched = power.StatusChange(
            connection=self.cloud,
            guests=self.servers,
            target_statuses=idle.target_statuses(
                self.servers, team, dead, idle_guests
            ),
            idle_guests=idle_guests,
            progress=self.lines.append,
        )
        switched.run(timeout, self.verb_lists.append)
        requests = [c for c in self.cloud.calls[before:] if c in SWITCHES]
        return switched, requests

    def states(self):
        """Return the statuses of all servers."""
        return [s.status for s in self.cloud.compute.all_servers.values()]

    @ddt.data(
        ("paused", "pause", "unpause", "PAUSED"),
        ("stopped", "stop", "start", "SHUTOFF"),
    )
    @ddt.unpack
    def test_only_differences(self, idle_guests, rest, wake, status):
        """All required requests are sent before the first wait."""
        steps = (
            (("g1",), [rest] * 2, ["ACTIVE", status, status]),
            (("g1", "g2"), [wake], ["ACTIVE", "ACTIVE", status]),
            (("g1", "g2"), [], ["ACTIVE", "ACTIVE", status]),
            (("g3",), [rest, rest, wake], [status, status, "ACTIVE"]),
        )
        for team, verbs, states in steps:
            switched, requests = self.switch(*team, idle_guests=idle_guests)
            self.assertEqual([f"{verb}_server" for verb in verbs], requests)
            self.assertEqual(sorted(verbs), sorted(switched.actions.values()))
            self.assertEqual(({}, {}), (switched.refused, switched.lost))
            self.assertEqual(states, self.states())
        self.assertEqual([2, 1, 3], [len(verbs) for verbs in self.verb_lists])
        self.assertRegex(self.lines[0], rf"guest g2: {status} after \d+ s")

    def boots(self, switched):
        """Return the number of boots of each guest that was started."""
        counts = {}
        for name, guest in switched.started.items():
            server, _, count = guest.boot.rpartition("#")
            self.assertEqual(self.servers[name].id, server)
            counts[name] = int(count)
        self.servers.update(switched.started)
        return counts

    def test_a_start_is_another_boot(self):
        """To pause, to unpause and to stop keep the process that there is."""
        steps = (
            ("paused", ("g1",), {}),
            ("paused", ("g1", "g2", "g3"), {}),
            ("stopped", ("g1",), {}),
            ("stopped", ("g1", "g2"), {"g2": 2}),
            ("stopped", ("g2",), {}),
            ("stopped", ("g1", "g2", "g3"), {"g1": 2, "g3": 2}),
            ("stopped", ("g1", "g3"), {}),
            ("stopped", ("g1", "g2", "g3"), {"g2": 3}),
        )
        for idle_guests, team, boots in steps:
            switched, _ = self.switch(*team, idle_guests=idle_guests)
            self.assertEqual(boots, self.boots(switched), (idle_guests, team))

    def test_a_rejected_start_is_not_a_boot(self):
        """A start whose answer was lost is one: the guest may run."""
        self.switch("g1", idle_guests="stopped")
        self.fails["start_server"] = [[refusal(403), False, 1]]
        switched, _ = self.switch("g1", "g2", idle_guests="stopped")
        self.assertEqual({}, self.boots(switched))
        self.fails["start_server"] = [[refusal(503), True, 1]]
        switched, _ = self.switch("g1", "g2", idle_guests="stopped")
        self.assertEqual({"g2": 2}, self.boots(switched))

    def test_the_dead_are_left_alone(self):
        _, requests = self.switch("g1", dead={"g2"})
        self.assertEqual(["pause_server"], requests)
        self.assertEqual(["ACTIVE", "ACTIVE", "PAUSED"], self.states())

    @ddt.data(403, 404)
    def test_a_refusal_for_good(self, status):
        """It is reported at once, and the other guest is switched."""
        self.fails["pause_server"] = [[refusal(status), False, 1]]
        switched, _ = self.switch("g1")
        self.assertEqual(
            {"g2": f"pause guest g2: fault {status}"}, switched.refused
        )
        self.assertEqual(["ACTIVE", "ACTIVE", "PAUSED"], self.states())
        switched, requests = self.switch("g1")
        self.assertEqual(({}, ["pause_server"]), (switched.refused, requests))

    @ddt.data(409, 503)
    def test_a_busy_cloud_is_retried(self, status):
        self.fails["pause_server"] = [[refusal(status), False, 1]]
        switched, requests = self.switch("g1")
        self.assertEqual({}, switched.refused)
        self.assertEqual(["pause_server"] * 3, requests)
        self.assertEqual(["ACTIVE", "PAUSED", "PAUSED"], self.states())

    def test_a_lost_answer_is_not_a_rejection(self):
        """The effect is detected, and the request is not repeated."""
        self.fails["pause_server"] = [[refusal(503), True, 2]]
        switched, requests = self.switch("g1")
        self.assertEqual({}, switched.refused)
        self.assertEqual(["pause_server"] * 2, requests)

    def test_late(self):
        self.fails["stop_server"] = [[refusal(409), False, 99]]
        switched, _ = self.switch(
            "g1", "g2", idle_guests="stopped", timeout=40
        )
        self.assertEqual(
            {
                "g3": "guest g3 is ACTIVE and not SHUTOFF after 40 s (last "
                "error: stop guest g3: fault 409); raise boot_timeout or "
                "check the log of nova-compute"
            },
            switched.refused,
        )

    def test_questions_fail_for_a_while(self):
        self.fails["servers"] = [[refusal(503), False, 3]]
        switched, _ = self.switch("g1")
        self.assertEqual({}, switched.refused)
        self.assertEqual(["ACTIVE", "PAUSED", "PAUSED"], self.states())

    @ddt.data((403, "list servers: fault 403"), (503, r"list servers: .*503"))
    @ddt.unpack
    def test_questions_fail_for_good(self, status, message):
        self.fails["servers"] = [[refusal(status), False, 999]]
        switched, requests = self.switch("g1")
        self.assertEqual([], requests)
        self.assertEqual({"g1", "g2", "g3"}, set(switched.refused))
        self.assertRegex(switched.refused["g2"], message)

    @ddt.data(
        ("ERROR", r"g2 is ERROR, must be PAUSED: Nova gives no reason"),
        ("SHUTOFF", "g2 is SHUTOFF, must be PAUSED"),
        (None, "g2 is gone, must be PAUSED"),
    )
    @ddt.unpack
    def test_a_status_that_was_not_requested(self, status, message):
        identifier = self.servers["g2"].id
        if status:
            self.cloud.compute.all_servers[identifier].status = status
        else:
            del self.cloud.compute.all_servers[identifier]
        switched, requests = self.switch("g1")
        self.assertEqual(["pause_server"], requests)
        self.assertEqual(["g2"], list(switched.lost))
        self.assertRegex(switched.lost["g2"], message)

    @ddt.data("paused", "stopped")
    def test_guests_at_rest_are_removed(self, idle_guests):
        self.switch("g1", idle_guests=idle_guests)
        removal.remove_resources(
            self.cloud, ownership.Owner(NAME), self.lines.append
        )
        self.assertEqual([], self.cloud.left())

    @ddt.data("paused", "stopped")
    def test_interrupted_at_any_call(self, idle_guests):
        """Wherever it comes, all can be removed."""
        for name in ("servers", SWITCHES[0 if idle_guests == "paused" else 2]):
            for is_done in (False, True):
                with self.subTest(name=name, done=is_done):
                    self.fails = {name: [[KeyboardInterrupt(), is_done, 1]]}
                    with self.assertRaises(KeyboardInterrupt):
                        self.switch("g1", idle_guests=idle_guests)
                    self.fails = {}
                    self.switch("g1", "g2", "g3", idle_guests=idle_guests)
        removal.remove_resources(
            self.cloud, ownership.Owner(NAME), self.lines.append
        )
        self.assertEqual([], self.cloud.left())
