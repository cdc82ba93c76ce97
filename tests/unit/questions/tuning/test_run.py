# SPDX-License-Identifier: Apache-2.0
"""Tests of runs in which variants of a guest work in turn."""

import asyncio
import dataclasses
import itertools
import tempfile
import unittest
from unittest import mock

from rally_vmperf.execution import protocols
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.questions import table
from rally_vmperf.questions.tuning import run as tuning
from rally_vmperf.questions.tuning import variants
from rally_vmperf.records import model
from tests.unit.guests import made
from tests.unit.runs import golden
from tests.unit.runs import whole

VARIANTS = [
    {"name": "e1000", "image_properties": {"hw_vif_model": "e1000"}},
    {"name": "virtio", "image_properties": {"hw_vif_model": "virtio"}},
    {"name": "threads", "extra_specs": {"hw:cpu_threads": "2"}},
]
GUEST = {"image": {"name": "i"}, "flavor": {"name": "f"}, "count": 1}
TIMEOUTS = {"boot_timeout": 60, "ssh_timeout": 5}
ARGUMENTS = {
    "variants": VARIANTS,
    "reference": None,
    "order": "blocks",
    "idle_guests": "paused",
}


class GroupBoots:
    """Boots of groups that take no time, each with a new guest.

    :param guests: the guests of all groups
    :param failing: group -> why it does not boot
    :ivar events: the groups that were booted
    :ivar machines: the guests that were booted
    """

    def __init__(self, guests, failing):
        self.guests = {guest.group: guest for guest in guests}
        self.failing, self.events, self.machines = failing, [], []
        self.is_new, self.booted = False, None

    def is_ready(self, group):
        """Return whether the guests have just booted."""
        return self.is_new

    def boot(self, group):
        """Return the connection to a new guest, the first one of all."""
        self.events.append(group)
        if group in self.failing:
            raise errors.GuestError(self.failing[group])
        guest = dataclasses.replace(
            self.guests[group or next(iter(self.guests))],
            boot=f"boot-{len(self.events)}#1",
        )
        self.booted = models.BootedGuests(
            guests=(guest,), client_key="", sequential=True
        )
        self.machines.append(golden.Machine(guest.name))
        return whole.Arrived(self.machines[-1:])


class TestRun(unittest.TestCase):
    """Each variant has a condition, with its own guest and findings."""

    def setUp(self):
        """Have a folder, and no waiting."""
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.object(asyncio, "sleep", autospec=True))
        self.enterContext(mock.patch("time.sleep", autospec=True))

    def run_of(
        self,
        document=None,
        absent=(),
        boots=None,
        request=None,
        **changes,
    ):
        """Return a run of three guests, one of each variant.

        :param absent: the names of those that failed to boot
        :param boots: group -> why it does not boot, if groups boot one after
            another; None if they do not
        :param request: The other fields of the request.
        """
        names = [name for name in ("g1", "g2", "g3") if name not in absent]
        arguments = variants.Arguments(
            workloads=[], **{**ARGUMENTS, **changes}
        )
        run_request = whole.build_request(
            self.folder,
            document,
            *map(golden.Machine, names),
            question="tuning",
            **(request or {}),
            options={
                **TIMEOUTS,
                **variants.create_guest_options(arguments, GUEST),
            },
        )
        groups = dict(zip(("g1", "g2", "g3"), VARIANTS, strict=True))
        booted = dataclasses.replace(
            run_request.booted,
            guests=tuple(
                dataclasses.replace(
                    guest,
                    group=groups[guest.name]["name"],
                    settings=(
                        groups[guest.name].get("extra_specs")
                        or groups[guest.name]["image_properties"]
                    ),
                )
                for guest in run_request.booted.guests
            ),
        ).without({})
        booted = dataclasses.replace(
            booted,
            absent=tuple(absent),
            findings=tuple(
                models.create_absence_findings(
                    dict.fromkeys(absent, "No valid host was found")
                )
            ),
        )
        if boots is not None:
            self.boots = GroupBoots(booted.guests, boots)
            run_request.run_cache.keep_group_boots("w", self.boots)
            booted = dataclasses.replace(
                booted, guests=booted.guests[:1], sequential=True
            )
        run_request = dataclasses.replace(run_request, booted=booted)
        self.addCleanup(run_request.run_cache.close, "w")
        return run_request.run_cache.get_run(
            "w",
            lambda: table.questions()["tuning"].start(run_request, arguments),
        )

    def test_conditions(self):
        """In blocks each variant has each position once; others pause."""
        run = self.run_of()
        records = [run.repeat(number) for number in (1, 2, 3)]
        positions = {variant["name"]: [] for variant in VARIANTS}
        for record in records:
            self.assertEqual(
                "complete", record.repetition.state, record.repetition.missing
            )
            self.assertEqual("blocks", record.order.kind)
            self.assertEqual(
                [{"variant": variant["name"]} for variant in VARIANTS],
                [condition.axes for condition in record.repetition.conditions],
            )
            self.assertEqual(
                [("g1",), ("g2",), ("g3",)],
                [
                    condition.machines
                    for condition in record.repetition.conditions
                ],
            )
            for condition in record.repetition.conditions:
                positions[condition.axes["variant"]].append(condition.position)
                self.assertIsNone(condition.reference_copies)
        self.assertEqual([[1, 2, 3]] * 3, [*map(sorted, positions.values())])
        options = records[0].options
        self.assertEqual(
            (VARIANTS, "e1000", "paused"),
            (
                options["variants"],
                options["reference"],
                options["idle_guests"],
            ),
        )
        calls = run.ready.actions[0].connection.calls
        self.assertIn("pause_server", calls)

    def test_one_group_after_the_other(self):
        """Each condition has a boot of its own, in the order of its block."""
        run = self.run_of(
            boots={},
            request={
                "protocol": protocols.Protocol(reboot="between_repetitions")
            },
        )
        boots = []
        for number in (1, 2):
            record = run.repeat(number)
            model.FORMAT.decode(model.FORMAT.encode(record))
            self.assertEqual(
                "complete", record.repetition.state, record.repetition.missing
            )
            self.assertEqual(
                [("g1",), ("g2",), ("g3",)],
                [
                    condition.machines
                    for condition in record.repetition.conditions
                ],
            )
            self.assertEqual(
                [
                    condition.axes["variant"]
                    for condition in sorted(
                        record.repetition.conditions,
                        key=lambda condition: condition.position,
                    )
                ],
                self.boots.events[-3:],
            )
            self.assertEqual(
                ["g1", "g2", "g3"],
                [machine.name for machine in record.machines],
            )
            boots += [machine.boot_id for machine in record.machines]
            self.assertEqual(3, record.shape.copies)
            self.assertEqual("each_condition", record.options["boot"])
            # New guests are not rebooted.
            self.assertNotIn("reboot", record.options)
            self.assertTrue(record.repetition.rebooted)
            self.assertFalse(
                [
                    finding
                    for finding in record.repetition.findings
                    if finding.subject in ("g1", "g2", "g3")
                ]
            )
        self.assertEqual(6, len({*boots}))

    def test_group_that_does_not_boot(self):
        """Its condition has the reason; the others are measured."""
        run = self.run_of(boots={"virtio": "No valid host was found"})
        record = run.repeat(1)
        model.FORMAT.decode(model.FORMAT.encode(record))
        self.assertEqual(
            ["complete", "incomplete", "complete"],
            [condition.state for condition in record.repetition.conditions],
        )
        failed = record.repetition.conditions[1]
        self.assertEqual(
            ["guest_unavailable"],
            [finding.kind for finding in failed.findings],
        )
        self.assertEqual(
            {("g2", "No valid host was found")},
            {(gap.machine, gap.reason) for gap in failed.missing},
        )
        self.assertEqual(
            ["g1", "g3"], [machine.name for machine in record.machines]
        )

    def test_arguments_of_groups(self):
        """They are those of the reference, whatever a variant has."""
        arguments = {"time": 2, "threads": "vcpus"}
        run = self.run_of(
            boots={},
            request={
                "workloads": [{"name": "sysbench", "arguments": arguments}]
            },
        )
        guest = self.boots.guests["virtio"]
        self.boots.guests["virtio"] = dataclasses.replace(
            guest, flavor=dataclasses.replace(guest.flavor, vcpus=2)
        )
        record = run.repeat(1)
        (workload,) = record.workloads
        self.assertEqual(1, workload.arguments["threads"])
        self.assertEqual(1, record.shape.vcpus)
        jobs = [job for machine in self.boots.machines for job in machine.jobs]
        self.assertEqual(3, len(jobs))
        for job in jobs:
            self.assertIn("--threads=1", job)

    def test_findings(self):
        """A finding on a guest concerns its variant alone."""
        record = self.run_of().repeat(1)
        kinds = [
            {finding.kind for finding in condition.findings}
            for condition in record.repetition.conditions
        ]
        # The recorded machine shows none of the three.
        self.assertIn("variant_not_proven", kinds[0] | kinds[1])
        self.assertTrue(
            all(
                finding.subject == condition.machines[0]
                for condition in record.repetition.conditions
                for finding in condition.findings
                if finding.kind.startswith("variant_")
            )
        )
        self.assertFalse(
            [
                finding
                for finding in record.repetition.findings
                if finding.subject in ("g1", "g2", "g3")
            ]
        )

    def test_guest_that_is_absent(self):
        """The other variants are measured."""
        run = self.run_of(absent=["g3"])
        record = run.repeat(1)
        self.assertEqual(
            ["complete", "complete", "incomplete"],
            [condition.state for condition in record.repetition.conditions],
        )
        *_, last = record.repetition.conditions
        self.assertEqual(
            ["guest_unavailable"], [finding.kind for finding in last.findings]
        )
        self.assertEqual(
            {"No valid host was found"},
            {gap.reason for gap in last.missing},
        )
        self.assertEqual((), record.repetition.findings)

    def test_baseline(self):
        """It is for the variants that have its shape."""
        document = whole.baseline(self.folder)
        for boots in (None, {}):
            record = self.run_of(document, boots=boots).repeat(1)
            self.assertEqual(
                [1, 1, 1],
                [
                    condition.reference_copies
                    for condition in record.repetition.conditions
                ],
            )
        entries = tuple(
            dataclasses.replace(
                entry, shape=dataclasses.replace(entry.shape, vcpus=2)
            )
            for entry in document.entries
        )
        other = dataclasses.replace(document, entries=entries)
        record = self.run_of(other).repeat(1)
        self.assertIsNone(record.repetition.conditions[0].reference_copies)

    def test_hosts(self):
        """A guest on another host than the reference is a finding."""
        guests = [
            made.guest("g1", group="a", host_id="h1", host="compute1"),
            made.guest("g2", group="b", host_id="h2", host="compute2"),
            made.guest("g3", group="c", host_id="h1", host="compute1"),
        ]
        (host_finding,) = tuning.find_host_findings(guests, "a", {"h1"})
        self.assertEqual(
            ("variant_host_differs", "g2"),
            (host_finding.kind, host_finding.subject),
        )
        self.assertIn("compute2", host_finding.detail)

    def test_guest_that_is_lost(self):
        """Its variant cannot be measured any more."""
        booted = models.BootedGuests(guests=(), client_key="")
        chosen = tuning.choose_guests(
            ["g1", "g2"], booted, frozenset({"g2"}), 1
        )
        self.assertEqual(("g2",), chosen.unavailable)
        self.assertEqual("g2 stopped answering", chosen.reason)


class TestWarmUp(unittest.TestCase):
    """Blocks begin with the first repetition that counts."""

    def test_positions(self):
        """Three variants have each position twice in six repetitions."""
        case = TestRun("test_conditions")
        case.setUp()
        self.addCleanup(case.doCleanups)
        run = case.run_of()
        run.warmup, run.times = 1, 7
        positions = []
        for number in range(1, 8):
            record = run.repeat(number)
            if number > 1:
                positions += [
                    (condition.axes["variant"], condition.position)
                    for condition in record.repetition.conditions
                ]
        for name, position in itertools.product(
            ("e1000", "virtio", "threads"), (1, 2, 3)
        ):
            self.assertEqual(2, positions.count((name, position)))
