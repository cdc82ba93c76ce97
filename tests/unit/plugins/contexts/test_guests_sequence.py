# SPDX-License-Identifier: Apache-2.0
"""Tests of variants whose guests boot one after another."""

import typing as t
from unittest import mock

import ddt

from rally_vmperf.execution.stations import arrival
from rally_vmperf.guests import errors
from rally_vmperf.plugins import open_runs
from rally_vmperf.runs import guest_arrival
from tests.unit.guests import testing
from tests.unit.plugins.contexts import test_guests

VARIANTS = [
    {"name": "plain"},
    {"name": "e1000", "image_properties": {"hw_vif_model": "e1000"}},
    {"name": "volume", "boot_volume": {"size_gib": 8}},
]
CACHE = open_runs.OPEN_RUNS


class Case(test_guests.Case):
    """Variants in a project whose quota is for one guest."""

    stored: t.ClassVar[dict[str, t.Any]] = {
        **test_guests.stored("VMPerf.tuning", {"name": "sysbench"}),
        "args": {"workloads": [{"name": "sysbench"}], "variants": VARIANTS},
    }

    def setUp(self):
        """Have guests that answer, and no earlier run."""
        super().setUp()
        self.reach.return_value = [arrival.Arrival()]
        self.addCleanup(CACHE.close, test_guests.OWNER)
        self.limit()

    def limit(self):
        """Limit the quota of the cloud."""
        self.cloud.compute.limits.instances = 1

    def names(self):
        """Return the names of the servers that are not being deleted."""
        return [
            server.name
            for server in self.cloud.compute.all_servers.values()
            if not server.deleted
        ]

    def variants(self):
        """Return the context of one guest of each variant."""
        return self.context(count=1, allowed_sources=["192.0.2.0/24"])

    def boot(self, variant):
        """Return the names of the guests of a variant, after their boot."""
        booted = CACHE.boot_group(test_guests.OWNER, variant)
        self.assertTrue(booted.sequential)
        return [guest.name for guest in booted.guests]


class SequenceTest(Case):
    """The context boots the reference, and the run each group."""

    def test_life(self):
        """At most one group exists; what they share exists once."""
        context = self.variants()
        context.setup()
        booted = context.context["vmperf_guests"]["booted"]
        self.assertTrue(booted.sequential)
        self.assertEqual(["g1"], [guest.name for guest in booted.guests])
        states = {tuple(self.names())}
        # The guests of the context have not been measured.
        self.assertEqual(["g1"], self.boot("plain"))
        self.assertIn(tuple(self.names()), states)
        for variant, guest in (
            ("e1000", "g2"),
            ("volume", "g3"),
            ("plain", "g1"),
            ("plain", "g1"),
        ):
            self.assertEqual([guest], self.boot(variant))
            (name,) = self.names()
            self.assertNotIn((name,), states)
            states.add((name,))
        self.assertEqual({}, self.cloud.block_storage.all_volumes)
        self.assertEqual(1, len(self.cloud.compute.all_keypairs))
        self.assertEqual(1, len(self.entries()))
        remove = guest_arrival.RunGuests.remove
        with mock.patch.object(
            guest_arrival.RunGuests,
            "remove",
            autospec=True,
            side_effect=remove,
        ) as removed:
            context.cleanup()
        # A boot may have been interrupted.
        removed.assert_called_once_with(mock.ANY, interrupted=True)
        self.assertEqual([], self.cloud.left())
        self.assertEqual([], self.entries())

    def test_group_that_fails(self):
        """The next one boots; guests of the context are not used again."""
        context = self.variants()
        context.setup()
        self.reach.return_value = [arrival.Arrival(error="no route")]
        with self.assertRaisesRegex(errors.GuestError, "g2 .* no route"):
            self.boot("e1000")
        self.reach.return_value = [arrival.Arrival()]
        servers = self.names()
        self.assertEqual(["g1"], self.boot("plain"))
        self.assertEqual(1, len(self.names()))
        self.assertNotEqual(servers, self.names())
        context.cleanup()
        self.assertEqual([], self.cloud.left())

    def test_guests_that_fit_together(self):
        """All are booted by the context."""
        self.cloud.compute.limits.instances = 3
        self.reach.return_value = [arrival.Arrival()] * 3
        context = self.variants()
        context.setup()
        booted = context.context["vmperf_guests"]["booted"]
        self.assertFalse(booted.sequential)
        self.assertEqual(3, len(booted.guests))
        context.cleanup()

    def test_guests_that_boot_again(self):
        """All of them, once those of the context were measured."""
        self.cloud.compute.limits.instances = 3
        self.reach.return_value = [arrival.Arrival()] * 3
        context = self.variants()
        context.setup()
        before = self.names()
        self.assertEqual(
            context.context["vmperf_guests"]["booted"],
            CACHE.boot_group(test_guests.OWNER, None),
        )
        self.assertEqual(before, self.names())
        self.assertFalse(CACHE.has_booted(test_guests.OWNER))
        booted = CACHE.boot_group(test_guests.OWNER, None)
        self.assertEqual(3, len(booted.guests))
        self.assertEqual(3, len(self.names()))
        self.assertTrue(set(before).isdisjoint(self.names()))
        self.assertTrue(CACHE.has_booted(test_guests.OWNER))
        self.reach.return_value = [
            *[arrival.Arrival()] * 2,
            arrival.Arrival(error="no route"),
        ]
        with self.assertRaisesRegex(errors.GuestError, "g3 .* no route"):
            CACHE.boot_group(test_guests.OWNER, None)
        context.cleanup()
        self.assertEqual([], self.cloud.left())


def number_of_calls():
    """Return the number of calls until the second group is booted."""
    case = Case()
    case.setUp()
    with mock.patch.object(case, "cloud", testing.FakeCloud()):
        case.limit()
        case.variants().setup()
        first = len(case.cloud.calls)
        case.boot("volume")
        both = len(case.cloud.calls)
    case.doCleanups()
    return first, both


FIRST, BOTH = number_of_calls()


@ddt.ddt
class InterruptionTest(Case):
    """An interrupted boot during the run leaves nothing."""

    @ddt.idata(range(FIRST + 1, BOTH + 1))
    def test_nothing_stays(self, k):
        """Neither before nor after a call takes effect."""
        for after in (False, True):
            with self.subTest(after=after):
                self.cloud = testing.FakeCloud(
                    test_guests.Interruption(k, after)
                )
                self.limit()
                context = self.variants()
                context.setup()
                with self.assertRaises(KeyboardInterrupt):
                    self.boot("volume")
                context.cleanup()
                self.assertEqual([], self.cloud.left())
                self.assertEqual([], self.entries())
