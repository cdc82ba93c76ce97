# SPDX-License-Identifier: Apache-2.0
"""Tests of runs that compare guests with bare metal."""

import asyncio
import dataclasses
import pathlib
import tempfile
import unittest
from unittest import mock

from rally_vmperf.execution import assignment
from rally_vmperf.execution.stations import controller
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.measurement import guest_metrics
from rally_vmperf.measurement import repetition
from rally_vmperf.questions import table
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.overhead import question as overhead_question
from rally_vmperf.questions.overhead import run as overhead
from rally_vmperf.records import files
from rally_vmperf.records import model
from rally_vmperf.runs import actions
from rally_vmperf.runs import comparability
from tests.unit.guests import testing
from tests.unit.runs import fakes
from tests.unit.runs import golden
from tests.unit.runs import whole


def of_machine(baseline, **changes):
    """Return a baseline whose machine has other facts."""
    machine = dataclasses.replace(baseline.machine, **changes)
    return dataclasses.replace(baseline, machine=machine)


class TestMake(unittest.TestCase):
    """All guests at once are compared with as many copies."""

    def setUp(self):
        """Make a folder for the journal."""
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.machines = [golden.Machine(name) for name in ("g1", "g2")]

    def run_of(self, document, **changes):
        """Return the run, closed in the end."""
        run_request = whole.build_request(
            self.folder, document, *self.machines, **changes
        )
        run = run_request.run_cache.get_run(
            "w", lambda: overhead.create_run(run_request)
        )
        self.addCleanup(run_request.run_cache.close, "w")
        return run

    def test_a_repetition(self):
        """The record has samples of both guests, and of bare metal."""
        document = whole.baseline(self.folder, (1, 2))
        record = self.run_of(document).repeat(1)
        self.assertEqual("complete", record.repetition.state)
        (only,) = record.repetition.conditions
        self.assertEqual(
            ({}, 2, ("g1", "g2")),
            (only.axes, only.reference_copies, only.machines),
        )
        self.assertEqual([8958.2, 8958.2], fakes.values(record))
        reference = record.bare_metal
        self.assertEqual(
            ("metal", "compute1", whole.SESSION),
            (reference.name, reference.machine, reference.session),
        )
        self.assertEqual(
            {2: 3},
            {
                copies: len(reference_.repetitions)
                for copies, reference_ in reference.references.items()
            },
        )
        self.assertEqual("6.1.0-18-amd64", reference.fingerprint["kernel"])
        self.assertIn("sysbench", reference.tools)
        self.assertEqual(
            ["h", "h"], [machine.host for machine in record.machines]
        )
        self.assertRegex(record.machines[0].boot_id, "^.+#1$")

    def test_a_skipped_workload(self):
        """Each repetition tells why it has no figures of the workload."""
        skipped = assignment.assign([{"name": "iperf3"}])
        record = self.run_of(None, skipped=skipped).repeat(1)
        (found,) = (
            found
            for found in record.repetition.findings
            if found.kind == "workload_skipped"
        )
        self.assertEqual(("iperf3", "no peer"), (found.subject, found.detail))
        self.assertIn("network.iperf3.to_peer.throughput", found.metrics)

    def test_without_a_baseline(self):
        """Guests alone, which a baseline can be added to later."""
        record = self.run_of(None).repeat(1)
        self.assertEqual("complete", record.repetition.state)
        self.assertIsNone(record.bare_metal)
        self.assertEqual([8958.2, 8958.2], fakes.values(record))
        self.assertIn(fakes.RATE, record.repetition.expected_metrics)
        only, *_ = record.repetition.conditions
        self.assertEqual(repetition.NO_REFERENCE, only.reference)
        machines, _ = files.describe_machines(
            pathlib.Path(self.folder), record
        )
        added = comparability.compare_record(
            record, machines, whole.baseline(self.folder, (1, 2))
        )
        self.assertEqual([2], [*added.bare_metal.references])

    def test_threads_of_the_flavor(self):
        """The record has their number, for neighbours as well."""
        work = {"name": "sysbench", "arguments": {"time": 2}}
        work["arguments"]["threads"] = "vcpus"
        record = self.run_of(
            whole.baseline(self.folder, (1, 2)), workloads=[work]
        ).repeat(1)
        (recorded,) = record.workloads
        self.assertEqual(1, recorded.arguments["threads"])
        self.assertEqual("complete", record.repetition.state)
        run_request = whole.build_request(self.folder, None, *self.machines)
        beside = {"guests": 1, "workload": work}
        arguments = neighbours.Arguments(neighbours=beside)
        (assigned,) = arguments.create_unmeasured(run_request).assignments
        self.assertEqual(1, assigned.arguments["threads"])

    def test_a_baseline_without_them(self):
        """It is the reason why nothing is measured."""
        record = self.run_of(whole.baseline(self.folder)).repeat(1)
        self.assertEqual("incomplete", record.repetition.state)
        self.assertIn("2 x 1 vCPU", record.repetition.missing[0].reason)
        self.assertEqual((), record.repetition.conditions)
        self.assertEqual(2, record.shape.copies)
        self.assertIn(fakes.RATE, record.repetition.expected_metrics)
        self.assertEqual([], self.machines[0].jobs)

    def test_another_version_of_a_tool(self):
        """A run whose metrics would be void does not start."""
        document = of_machine(
            whole.baseline(self.folder, (2,)),
            tools={"sysbench": {"version": "sysbench 1.0.11"}},
        )
        lines = []
        run = self.run_of(document, warn=lines.append)
        record = run.repeat(1)
        self.assertEqual((), record.repetition.conditions)
        self.assertEqual([], self.machines[0].jobs)
        reason = record.repetition.missing[0].reason
        self.assertIn("bare metal sysbench 1.0.11, g1 sysbench 1.0.20", reason)
        self.assertIn("record the baseline again", reason)
        self.assertIn(reason, lines[0])

    def test_another_version_that_is_tolerated(self):
        document = of_machine(
            whole.baseline(self.folder, (2,)),
            tools={"sysbench": {"version": "sysbench 1.0.11"}},
        )
        run = self.run_of(document, tolerate={"tool_version_differs"})
        record = run.repeat(1)
        self.assertEqual("complete", record.repetition.state)
        self.assertIn(
            "tool_version_differs",
            {finding.kind for finding in record.repetition.findings},
        )

    def test_guests_that_booted(self):
        """They are compared with as many copies; the request is recorded."""
        run_request = whole.build_request(
            self.folder, whole.baseline(self.folder, (2,)), *self.machines
        )
        booted = dataclasses.replace(run_request.booted, absent=("g3",))
        run_request = dataclasses.replace(run_request, booted=booted)
        run = run_request.run_cache.get_run(
            "w", lambda: overhead.create_run(run_request)
        )
        self.addCleanup(run_request.run_cache.close, "w")
        record = run.repeat(1)
        self.assertEqual("complete", record.repetition.state)
        self.assertEqual(
            model.RecordedShape(
                vcpus=1, memory_mib=512, copies=2, requested_copies=3
            ),
            record.shape,
        )

    def test_neighbours_need_all_guests(self):
        run_request = whole.build_request(
            self.folder, whole.baseline(self.folder), *self.machines
        )
        booted = dataclasses.replace(run_request.booted, absent=("g3",))
        run_request = dataclasses.replace(run_request, booted=booted)
        beside = {"guests": 1, "workload": {"name": "sysbench"}}
        with self.assertRaisesRegex(
            errors.GuestError, "guests g3 failed to boot"
        ):
            table.questions()["overhead"].start(
                run_request,
                overhead_question.Arguments(workloads=[], neighbours=beside),
            )

    def test_findings_on_bare_metal(self):
        """Findings concern bare metal, its age and the guests."""
        document = dataclasses.replace(
            whole.baseline(self.folder, (2,)),
            recorded_at="2020-01-01T00:00:00+00:00",
        )
        fingerprint = {**document.machine.fingerprint, "cpu_model": "Other"}
        document = of_machine(document, fingerprint=fingerprint)
        record = self.run_of(document).repeat(1)
        self.assertLessEqual(
            {"cpu_model_differs", "baseline_old", "bare_metal_unrestricted"},
            {finding.kind for finding in record.repetition.findings},
        )

    def test_a_guest_that_was_moved(self):
        """Nova is queried after the workloads."""
        run = self.run_of(whole.baseline(self.folder, (2,)))
        run.prepare()
        (watch,) = (
            action
            for action in run.ready.actions
            if isinstance(action, actions.GuestWatch)
        )
        server = watch.connection.compute.all_servers[watch.guests[1].id]
        server.host_id = "elsewhere"
        record = run.repeat(1)
        self.assertIn(
            ("guest_host_changed", "g2"),
            [
                (finding.kind, finding.subject)
                for finding in record.repetition.conditions[0].findings
            ],
        )

    def test_metrics_of_guests(self):
        """Boots and stolen time are measured in each guest.

        The used time is not known, because these do not report an uptime.
        """
        record = self.run_of(whole.baseline(self.folder, (2,))).repeat(1)
        condition, *_ = record.repetition.conditions
        sources = {}
        for observation in condition.observations:
            if observation.sample.metric in guest_metrics.METRICS:
                sources.setdefault(observation.sample.metric, []).append(
                    observation.source
                )
        self.assertEqual(
            {
                key: ["g1", "g2"]
                for key in guest_metrics.METRICS
                if key != guest_metrics.USED_PERCENT
            },
            sources,
        )

    def test_no_secret(self):
        """The records do not contain the login of guests."""
        record = self.run_of(whole.baseline(self.folder, (2,))).repeat(1)
        document = files.read(pathlib.Path(self.folder), record.machines_file)
        nova = document["machines"]["g1"]["nova"]
        self.assertEqual("h", nova["host_id"])
        self.assertNotIn("secret", str(document))
        self.assertNotIn("secret", str(record))
        self.assertEqual(
            "kvm", document["machines"]["g1"]["fingerprint"]["virtualisation"]
        )


class TestWatches(unittest.TestCase):
    """The record has findings on the controller and on the hosts."""

    def test_a_busy_controller(self):
        """Its load is sampled while the workloads run."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        run_request = whole.build_request(
            folder, whole.baseline(folder), golden.Machine("g1")
        )
        run = run_request.run_cache.get_run(
            "w", lambda: overhead.create_run(run_request)
        )
        self.addCleanup(run_request.run_cache.close, "w")
        with mock.patch.object(
            controller, "LoadSampler", autospec=True
        ) as sampler:
            load = controller.ControllerLoad(samples=1, load=1e6)
            sampler.return_value.stop.return_value = load
            (condition,) = run.repeat(1).repetition.conditions
        self.assertEqual(
            [("controller_busy", "controller")],
            [
                (finding.kind, finding.subject)
                for finding in condition.findings
            ],
        )

    def test_guests_of_others(self):
        """A guest of others on the host of a measured guest is found."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        cloud = testing.FakeCloud()
        run_request = whole.build_request(
            folder,
            whole.baseline(folder),
            golden.Machine("g1"),
            cloud=cloud,
            connect_admin=lambda: cloud,
        )
        cloud.compute.host = "h1"
        cloud.compute.create_server(name="other", networks=[])
        (guest,) = run_request.booted.guests
        booted = models.BootedGuests(
            guests=(dataclasses.replace(guest, host="h1"),), client_key=""
        )
        run_request = dataclasses.replace(run_request, booted=booted)
        run = run_request.run_cache.get_run(
            "w", lambda: overhead.create_run(run_request)
        )
        self.addCleanup(run_request.run_cache.close, "w")
        (condition,) = run.repeat(1).repetition.conditions
        self.assertIn(
            ("host_shared", "h1"),
            [(found.kind, found.subject) for found in condition.findings],
        )


class TestNeighbours(TestMake):
    """The last guests are not measured; each repetition has two conditions."""

    def setUp(self):
        """Let the last guest be a neighbour."""
        super().setUp()
        self.neighbour = golden.Noisy("g3")
        self.machines.append(self.neighbour)
        settled = mock.patch.object(asyncio, "sleep", autospec=True)
        self.enterContext(settled)

    def run_of(self, document, **changes):
        """Return the run, closed in the end."""
        run_request = whole.build_request(
            self.folder, document, *self.machines, **changes
        )
        run = run_request.run_cache.get_run(
            "w",
            lambda: table.questions()["overhead"].start(
                run_request,
                overhead_question.Arguments(
                    workloads=[], neighbours=golden.NEIGHBOURS
                ),
            ),
        )
        self.addCleanup(run_request.run_cache.close, "w")
        return run

    test_a_guest_that_was_moved = None
    test_no_secret = None
    test_neighbours_need_all_guests = None
    test_guests_that_booted = None

    def test_a_repetition(self):
        """The same guests are measured without and with a neighbour."""
        run = self.run_of(whole.baseline(self.folder, (2,)))
        record = run.repeat(1)
        self.assertEqual("complete", record.repetition.state)
        self.assertEqual(
            [({"neighbours": n}, 2, ("g1", "g2")) for n in (0, 1)],
            [
                (
                    condition.axes,
                    condition.reference_copies,
                    condition.machines,
                )
                for condition in record.repetition.conditions
            ],
        )
        self.assertEqual(2, record.shape.copies)
        self.assertEqual(
            (1, "sysbench"),
            tuple(
                record.options["neighbours"][key]
                for key in ("guests", "workload")
            ),
        )
        self.assertEqual(["start", "await", "cancel"], self.neighbour.verbs)
        self.assertEqual([], self.neighbour.jobs)

    def test_the_order(self):
        """Each is the first in every other repetition."""
        run = self.run_of(whole.baseline(self.folder, (2,)))
        first = [
            min(
                run.repeat(n).repetition.conditions,
                key=lambda condition: condition.position,
            )
            for n in (1, 2, 3, 4)
        ]
        self.assertEqual(
            [0, 0, 1, 1],
            sorted(condition.axes["neighbours"] for condition in first),
        )

    def test_a_neighbour_that_ends(self):
        """Its condition is incomplete, the other one is not."""
        self.neighbour.status = 3
        run = self.run_of(whole.baseline(self.folder, (2,)))
        record = run.repeat(1)
        self.assertEqual(
            ["complete", "incomplete"],
            [condition.state for condition in record.repetition.conditions],
        )
        (gap,) = record.repetition.conditions[1].missing
        self.assertEqual(("neighbours", "g3"), (gap.name, gap.machine))
        self.assertIn("did not run sysbench throughout", gap.reason)

    def test_a_neighbour_elsewhere(self):
        """It does not disturb the measured guests."""
        run_request = whole.build_request(
            self.folder, whole.baseline(self.folder, (2,)), *self.machines
        )
        other = dataclasses.replace(run_request.booted.guests[2], host_id="x")
        booted = dataclasses.replace(
            run_request.booted, guests=(*run_request.booted.guests[:2], other)
        )
        run_request = dataclasses.replace(run_request, booted=booted)
        run = run_request.run_cache.get_run(
            "w",
            lambda: table.questions()["overhead"].start(
                run_request,
                overhead_question.Arguments(
                    workloads=[], neighbours=golden.NEIGHBOURS
                ),
            ),
        )
        self.addCleanup(run_request.run_cache.close, "w")
        self.assertIn(
            ("level_placement_wrong", "g3"),
            [
                (finding.kind, finding.subject)
                for finding in run.repeat(1).repetition.findings
            ],
        )
