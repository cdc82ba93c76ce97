# SPDX-License-Identifier: Apache-2.0
"""Tests of the registry of events, and of their options."""

import dataclasses
import unittest
from unittest import mock

import ddt

from rally_vmperf import declaration
from rally_vmperf.guests import errors
from rally_vmperf.guests.booting import server_action
from rally_vmperf.runs import event_types
from tests.unit.guests import testing


@dataclasses.dataclass(frozen=True, kw_only=True)
class Event(event_types.EventType):
    """An event that calls a function."""

    name = "made"
    title = "a made event"

    result: object = None

    def cause(self, occasion):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@ddt.ddt
class TestParse(unittest.TestCase):
    """The argument of a task."""

    def test_default(self):
        event = event_types.parse({})
        self.assertEqual(
            {"name": "live_migration", "block_migration": "auto"},
            event.plain(),
        )
        self.assertTrue(event.needs_admin)

    @ddt.data(
        {"name": "cold_migration"},
        {"name": "cold_migration", "host": "b"},
        {"name": "reboot", "type": "hard"},
        {"name": "resize", "flavor": "m1.large"},
        {"name": "live_migration", "host": "", "block_migration": True},
        {"name": "command", "argv": ["true"], "machine": {}},
        {
            "name": "command",
            "argv": ["reboot-host", "a b"],
            "machine": {"address": "192.0.2.1"},
            "guest": "restarts",
            "host": "may_change",
        },
    )
    def test_accepted(self, argument):
        event = event_types.parse(argument)
        given = {key: value for key, value in argument.items() if value}
        self.assertLessEqual(given.items(), event.plain().items())
        self.assertTrue(all(event.describe()))

    @ddt.data(
        ({"name": "resize"}, "event resize: 'flavor' is a required property"),
        ({"name": "reboot", "type": "cold"}, "must be one of soft, hard"),
        ({"name": "reboot", "host": "b"}, "'host' was unexpected"),
        ({"name": "command", "argv": "dd"}, "event command.argv"),
        ({"name": "command", "argv": ["a"], "guest": "dies"}, "survives"),
        (
            {"name": "teleport"},
            "event name='teleport': must be one of "
            f"{', '.join(sorted(event_types.list_names()))}$",
        ),
        ({"name": ["reboot"]}, "event name=.*reboot.*: must be one of"),
        ({"host": "b"}, "event name=None: must be one of"),
    )
    @ddt.unpack
    def test_rejected(self, argument, message):
        with self.assertRaisesRegex(event_types.InvalidEvent, message):
            event_types.parse(argument)

    def test_declarations(self):
        """Each event has a title, and a description for each option."""
        for name in event_types.list_names():
            event_type = event_types.get_type(name)
            self.assertRegex(event_type.title, "^an? ")
            properties = declaration.build_schema(event_type)["properties"]
            for option, schema in properties.items():
                self.assertTrue(schema.get("description"), option)


class TestHappen(unittest.TestCase):
    """The record of an event."""

    def happen(self, result, hosts=("a", "b")):
        """Return the record of an event on hosts before and after it."""
        guest = mock.Mock(id="s1")
        guest.name = "g1"
        cloud = testing.FakeCloud()
        occasion = event_types.Occasion(
            guest=guest,
            home="",
            connection=cloud,
            admin=None,
            deadline=5.0,
        )
        servers = [mock.Mock(compute_host=host) for host in hosts]
        with mock.patch.object(
            cloud.compute, "get_server", autospec=True, side_effect=servers
        ):
            return Event(result=result).happen(occasion)

    def test_completed(self):
        record = self.happen(
            server_action.ActionOutcome(
                request="req-1", fields={"exit_status": 0}
            )
        )
        self.assertEqual(
            ("made", "g1", "completed", "a", "b", "req-1", 0, True),
            (
                record.name,
                record.guest,
                record.outcome,
                record.source,
                record.target,
                record.request,
                record.exit_status,
                record.stops_guest,
            ),
        )
        self.assertGreaterEqual(record.ended, record.requested)

    def test_rejected(self):
        """The reason is one line, and there is no host afterwards."""
        record = self.happen(errors.GuestError("reboot: 409\nno\x1b[1m"))
        self.assertEqual("failed", record.outcome)
        self.assertEqual("reboot: 409 no\ufffd[1m", record.detail)
        self.assertEqual("", record.target)

    def test_hidden_host(self):
        """Members of a project do not see hosts."""
        record = self.happen(server_action.ActionOutcome(), (None, None))
        self.assertEqual(("", ""), (record.source, record.target))
