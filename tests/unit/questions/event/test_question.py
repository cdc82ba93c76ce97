# SPDX-License-Identifier: Apache-2.0
"""Tests of tasks with an event."""

import unittest

import ddt

from rally_vmperf.questions import table
from rally_vmperf.questions.common import task
from rally_vmperf.runs import event_types
from tests.unit.doc import tasks

QUESTION = table.questions()["event"]


@ddt.ddt
class TestQuestion(unittest.TestCase):
    """Checks, minutes and requests for guests."""

    def create(self, event, **arguments):
        """Return the task of an event."""
        arguments = {"event": event, "flavors": ["m1.small"], **arguments}
        (subtask,) = tasks.render("tasks/event.yaml", arguments)["subtasks"]
        return tasks.create_task(subtask)

    @ddt.data(
        ({"name": "reboot"}, {}),
        ({"name": "cold_migration"}, {"migrate_to": ""}),
        ({"name": "live_migration", "host": "b"}, {"migrate_to": "b"}),
        ({"name": "command", "argv": ["true"]}, {}),
    )
    @ddt.unpack
    def test_requests(self, event, expected):
        """What is checked before a guest boots."""
        subtask = self.create(event)
        options = QUESTION.list_request_options(subtask)
        self.assertEqual({**expected, "pinged_from": ""}, options)
        self.assertEqual([], QUESTION.check(subtask))

    def test_flavor(self):
        subtask = self.create({"name": "resize", "flavor": "m1.large"})
        options = QUESTION.list_request_options(subtask)
        self.assertEqual("m1.large", options["resize_to"].value)

    def test_minutes(self):
        """A guest that stops boots again, and repeats its workload."""
        minutes = {
            name: QUESTION.estimate_minutes(
                self.create({"name": name, **more})
            )
            for name, more in (
                ("live_migration", {}),
                ("reboot", {}),
                ("resize", {"flavor": "m1.large"}),
            )
        }
        # Four repetitions of three or four phases of a minute, and boots.
        self.assertEqual(15, minutes["live_migration"])
        self.assertEqual(23, minutes["reboot"])
        self.assertEqual(27, minutes["resize"])

    @ddt.data(
        ({"name": "resize"}, "event resize: 'flavor' is a required property"),
        ({"name": "reboot", "type": "warm"}, "must be one of soft, hard"),
    )
    @ddt.unpack
    def test_rejected(self, event, message):
        with self.assertRaisesRegex(task.InvalidTask, message):
            QUESTION.check(self.create(event))

    def test_unknown_event(self):
        names = ", ".join(event_types.list_names())
        with self.assertRaisesRegex(task.InvalidTask, names):
            self.create({"name": "evacuation"})

    def test_affinity(self):
        """A group of servers keeps guests together, if they are not moved."""
        options = {"guest_options": {"server_group": "affinity"}}
        self.assertEqual(
            [], QUESTION.check(self.create({"name": "reboot"}, **options))
        )
        with self.assertRaisesRegex(task.InvalidTask, "soft-affinity"):
            QUESTION.check(self.create({"name": "cold_migration"}, **options))
