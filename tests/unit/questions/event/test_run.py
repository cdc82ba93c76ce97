# SPDX-License-Identifier: Apache-2.0
"""Tests of runs with the phases of a migration."""

import asyncio
import tempfile
import unittest
from unittest import mock

from rally_vmperf.questions import table
from rally_vmperf.questions.event import guest_event
from rally_vmperf.questions.event import question
from rally_vmperf.questions.event import run as migration
from rally_vmperf.runs import actions
from rally_vmperf.runs import loads
from tests.unit.questions.tuning import test_run
from tests.unit.runs import golden
from tests.unit.runs import whole

ARGUMENTS = question.Arguments(workloads=[])


class TestRun(unittest.TestCase):
    """The guests are booted again if one of them is not usable any more."""

    def setUp(self):
        """Have two guests, of which the first one is migrated."""
        super().setUp()
        self.enterContext(mock.patch.object(asyncio, "sleep", autospec=True))
        machine = golden.Machine("g1")
        self.request = whole.build_request(
            self.enterContext(tempfile.TemporaryDirectory()),
            None,
            machine,
            question="event",
            connect_admin=lambda: self.cloud,
        )
        self.cloud = self.request.connect()
        self.boots = test_run.GroupBoots(self.request.booted.guests, {})
        self.boots.booted = self.request.booted
        self.boots.is_new = True
        cache = self.request.run_cache
        cache.keep_group_boots("w", self.boots)
        self.addCleanup(cache.close, "w")
        self.run_of_task = cache.get_run(
            "w",
            lambda: table.questions()["event"].start(self.request, ARGUMENTS),
        )

    def test_another_boot(self):
        """The guests of the context are measured first."""
        run = self.run_of_task
        effects = iter(
            actions.ActionResult(is_unusable=is_unusable)
            for is_unusable in (False, True, *[False] * 4)
        )
        with (
            mock.patch.object(
                guest_event.GuestEvent,
                "before",
                autospec=True,
                return_value=actions.ActionResult(),
            ),
            mock.patch.object(
                guest_event.GuestEvent,
                "evaluate",
                autospec=True,
                side_effect=lambda *_: next(effects),
            ),
        ):
            first = run.repeat(1)
            self.assertEqual([], self.boots.events)
            second = run.repeat(2)
        self.assertEqual([None], self.boots.events)
        self.assertNotEqual(
            first.machines[0].boot_id, second.machines[0].boot_id
        )

    def test_the_load_of_the_control_machine(self):
        """It does not end before a migration that lasts until its deadline."""
        load = loads.ControlLoad(control=None, measured=(), peer=None)
        action = loads.ControlAction(load, None)
        self.assertIs(
            action, migration._replace_watch(action, [], deadline=86400.0)
        )
        self.assertEqual(86400.0, load.further_seconds)
