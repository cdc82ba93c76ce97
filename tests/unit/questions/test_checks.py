# SPDX-License-Identifier: Apache-2.0
"""Tests of tasks that are rejected before a guest boots."""

import contextlib
import copy
import dataclasses
import itertools
import json
import math
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.bundles import bundle
from rally_vmperf.execution.stations import open_files
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.guests.planning import capacity
from rally_vmperf.measurement import finding
from rally_vmperf.questions import checks
from rally_vmperf.questions import table
from rally_vmperf.questions.common import task
from rally_vmperf.workloads import registry
from tests.unit import made
from tests.unit.bundles import bundled

CONFIG = {
    "args": {"workloads": [{"name": "sysbench"}], "warmup": 1},
    "contexts": {
        "vmperf_baseline": {"name": "metal"},
        "vmperf_guests@openstack": {
            "image": {"name": "i"},
            "flavor": {"name": "f"},
        },
    },
    "runner_type": "serial",
    "runner": {"times": 4},
    "sla": {"vmperf_overhead": {"max_percent": {"cpu.*": 5}}},
}


def changed(path, value):
    """Return the configuration with one value replaced, or removed."""
    config = copy.deepcopy(CONFIG)
    *parents, last = path
    place = config
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return config


class TestTolerated(unittest.TestCase):
    """The kinds of findings that void no verdict of a task."""

    def test_by_name_or_by_reference(self):
        kind = "tool_version_differs"
        for name, criteria, is_tolerated in (
            ("overhead", {"vmperf_overhead": {}}, False),
            ("overhead", {"vmperf_overhead": {"tolerate": [kind]}}, True),
            ("overhead", {"vmperf_valid": {}}, False),
            ("overhead", {"failure_rate": {"max": 0}}, True),
            ("density", {"vmperf_degradation": {}}, True),
            (
                "density",
                {"vmperf_degradation": {"compare_to": "bare_metal"}},
                False,
            ),
        ):
            question = table.questions()[name]
            self.assertEqual(
                is_tolerated, kind in question.list_tolerated(criteria)
            )


@ddt.ddt
class TestVolumes(unittest.TestCase):
    """Workloads that measure volumes which guests do not have."""

    def check(self, arguments, volumes=None, name="overhead", **args):
        """Check a task without bare metal."""
        config = changed(("contexts", "vmperf_baseline"), "none")
        config["args"] = {
            "workloads": [
                {"name": tool, "arguments": options}
                for tool, options in arguments.items()
            ],
            **args,
        }
        config["sla"] = {"vmperf_overhead": {"min": {"disk.fio.*.iops": 1}}}
        if volumes:
            guests = config["contexts"]["vmperf_guests@openstack"]
            guests["volumes"] = volumes
        question = table.questions()[name]
        return checks.check_task(
            question.create_task(config), question, store.Store("/none")
        )

    @ddt.data(
        ({"fio": {"target": "volume"}}, [{"size_gib": 1}]),
        ({"fio": {"target": "volumes"}}, [{"size_gib": 1, "count": 2}]),
        ({"fio": {"target": "volume", "size_mib": 1024}}, [{"size_gib": 1}]),
        ({"fio": {}}, [{"size_gib": 1}]),
    )
    @ddt.unpack
    def test_accepted(self, arguments, volumes):
        self.assertEqual([], self.check(arguments, volumes))

    @ddt.data(
        (
            {"fio": {"target": "volume"}},
            None,
            "workload fio target=volume: requires volume 1, and vmperf_guests "
            "has 0 volumes; set volumes: .{size_gib: ..., count: ...}. of "
            "vmperf_guests, or set target: root",
        ),
        (
            {"fio": {"target": "volumes", "volume_count": 3}},
            [{"size_gib": 1}, {"size_gib": 2}],
            "target=volumes: requires volume 3, and .* has 2 volumes; set",
        ),
        (
            {"fio": {"target": "volume", "size_mib": 1025}},
            [{"size_gib": 1}],
            "requires 1.001 GiB, and volume 1 of vmperf_guests has 1.000 "
            "GiB; ",
        ),
        (
            {"fio": {"target": "volume"}, "cp": {"target": "volume"}},
            [{"size_gib": 1}],
            "workload fio writes to the device of volume 1, and cp needs a "
            "file system on it; measure them in two tasks, or set target: ",
        ),
        (
            {"fio": {"target": "volume"}},
            [{"size_gib": "1"}],
            r"vmperf_guests.volumes\[0\].size_gib: '1' is not of type",
        ),
        (
            {"fio": {"target": "volume"}},
            [{"size_gib": 1, "name": "x"}],
            "'name' was unexpected.*allowed keys: size_gib, type, count",
        ),
        (
            {"fio": {"target": "volume"}},
            [{"size_gib": 1, "count": 17}],
            "17 is greater than the maximum of 16",
        ),
    )
    @ddt.unpack
    def test_rejected(self, arguments, volumes, message):
        with self.assertRaisesRegex(task.InvalidTask, message):
            self.check(arguments, volumes)

    def test_variant_without_them(self):
        with self.assertRaisesRegex(
            task.InvalidTask, "requires volume 1, and variants: b has 0 vol"
        ):
            self.check(
                {"fio": {"target": "volume"}},
                name="tuning",
                variants=[
                    {"name": "a", "volumes": [{"size_gib": 1}]},
                    {"name": "b"},
                ],
            )


PEERLESS = (
    [{"name": "sysbench"}, {"name": "iperf3"}],
    {"cpu.*": 5, "network.*.throughput": 10},
)


class TestUnmeasured(unittest.TestCase):
    """Limits that no workload of the task measures."""

    def check(self, workloads, limits, peer=None, **options):
        """Check a task without bare metal; return its remarks."""
        config = changed(("contexts", "vmperf_baseline"), "none")
        config["args"] |= {"workloads": workloads, "peer": peer}
        config["sla"] = {"vmperf_overhead": {"min": limits, **options}}
        question = table.questions()["overhead"]
        return checks.check_task(
            question.create_task(config), question, store.Store("/none")
        )

    def test_without_a_peer(self):
        """Network workloads are skipped; a limit on them is rejected."""
        with self.assertRaisesRegex(
            task.InvalidTask,
            r"sla vmperf_overhead min: 'network\.\*\.throughput' cannot be "
            "judged: the task has no peer, so that it skips iperf3; add peer",
        ):
            self.check(*PEERLESS)
        skipped = "workload iperf3 is skipped, because the task has no peer"
        self.assertEqual(
            [
                skipped,
                "sla vmperf_overhead: not judged: no peer "
                "(network.*.throughput)",
            ],
            self.check(*PEERLESS, unmeasured="skip"),
        )
        workloads, _ = PEERLESS
        self.assertEqual([skipped], self.check(workloads, {"cpu.*": 5}))
        self.assertEqual([], self.check(*PEERLESS, {"address": "192.0.2.1"}))

    def test_network_workloads_alone(self):
        """None is skipped, and the peer is required."""
        with self.assertRaisesRegex(
            task.InvalidTask, "peer: must be set for network workloads"
        ):
            self.check([{"name": "iperf3"}], {"network.*.throughput": 10})

    def test_a_workload_that_is_left_out(self):
        """A limit on it is rejected, unless the SLA skips it."""
        workloads, limits = [{"name": "fio"}], {"cpu.*": 5, "disk.*.iops": 9}
        with self.assertRaisesRegex(
            task.InvalidTask, r"'cpu\.\*' matches no metric"
        ):
            self.check(workloads, limits)
        self.assertEqual(
            [
                "sla vmperf_overhead: not judged: no workload measures it "
                "(cpu.*)"
            ],
            self.check(workloads, limits, unmeasured="skip"),
        )
        self.assertIn(
            "sla vmperf_overhead: no limit is judged, so that it cannot pass",
            self.check(workloads, {"cpu.*": 5}, unmeasured="skip"),
        )

    def test_a_count_in_percent(self):
        """The workload measures it, but a count has no percentage."""
        config = changed(("contexts", "vmperf_baseline"), "none")
        config["args"] |= {
            "workloads": [{"name": "sysbench"}, {"name": "iperf3"}],
            "peer": {"address": "192.0.2.1"},
        }
        limits = {"cpu.*": 5, "*.retransmits": 5}
        for unmeasured, message in (
            ("reject", r"'\*\.retransmits' matches counts only"),
            ("skip", r"not judged: a count can be 0 .* \(\*\.retransmits\)"),
        ):
            config["sla"] = {
                "vmperf_spread": {
                    "max_cv_percent": limits,
                    "unmeasured": unmeasured,
                }
            }
            question = table.questions()["overhead"]
            try:
                remarks = checks.check_task(
                    question.create_task(config),
                    question,
                    store.Store("/none"),
                )
            except task.InvalidTask as error:
                remarks = [str(error)]
            self.assertRegex("\n".join(remarks), message)

    def test_without_bare_metal(self):
        """A limit in percent is rejected, unless the SLA skips it."""
        workloads = [{"name": "sysbench"}]
        percent = {"max_percent": {"cpu.*": 5}}
        with self.assertRaisesRegex(
            task.InvalidTask,
            "sla vmperf_overhead max_percent: requires the context",
        ):
            self.check(workloads, {"cpu.*.rate": 5}, **percent)
        self.assertEqual(
            ["sla vmperf_overhead: not judged: no bare metal (cpu.*)"],
            self.check(
                workloads, {"cpu.*.rate": 5}, **percent, unmeasured="skip"
            ),
        )


@ddt.ddt
class TestPromise(unittest.TestCase):
    """Workloads that may not reach a promised rate by themselves."""

    def check(self, name, sla="vmperf_promise", **arguments):
        """Check a task with one workload; return its remarks."""
        config = changed(("contexts", "vmperf_baseline"), "none")
        config["args"] |= {
            "workloads": [{"name": name, "arguments": arguments}],
            "peer": {"address": "192.0.2.1"},
        }
        config["sla"] = {sla: {}}
        question = table.questions()["overhead"]
        return checks.check_task(
            question.create_task(config), question, store.Store("/none")
        )

    @ddt.unpack
    @ddt.data(
        ("fio", {"depth": 1}, "raise depth or jobs"),
        ("iperf3", {"streams": 1}, "raise streams"),
        ("dd", {}, "add another workload"),
    )
    def test_one_request_at_a_time(self, name, arguments, remedy):
        (remark,) = self.check(name, **arguments)
        self.assertIn(f"workload {name} has one request or stream", remark)
        self.assertIn(remedy, remark)
        self.assertEqual([], self.check(name, "vmperf_valid", **arguments))

    @ddt.unpack
    @ddt.data(
        ("fio", {"depth": 32}),
        ("fio", {"depth": 1, "jobs": 4}),
        ("iperf3", {"streams": 4}),
        ("sysbench", {}),
    )
    def test_several_requests(self, name, arguments):
        self.assertEqual([], self.check(name, **arguments))


@ddt.ddt
class TestArguments(unittest.TestCase):
    """Arguments that are merged over those of workloads."""

    WORKLOADS = (
        {"name": "fio", "arguments": {"size_mib": 64, "runtime": 5}},
        {"name": "fio", "label": "log", "arguments": {"size_mib": 32}},
        {"name": "sysbench"},
    )

    def create(self, arguments):
        """Return the workloads of a task with these arguments."""
        config = changed(("args", "workloads"), [*self.WORKLOADS])
        config["args"]["arguments"] = arguments
        return table.questions()["overhead"].create_task(config).workloads

    def test_by_name_and_label(self):
        """Those of a label precede, and the others are kept."""
        db, log, sysbench = self.create(
            {"fio": {"size_mib": 18, "ramp_time": 0}, "log": {"size_mib": 16}}
        )
        self.assertEqual(
            {"size_mib": 18, "runtime": 5, "ramp_time": 0}, db["arguments"]
        )
        self.assertEqual({"size_mib": 16, "ramp_time": 0}, log["arguments"])
        self.assertEqual({}, sysbench["arguments"])

    @ddt.data({}, None, "")
    def test_none(self, arguments):
        self.assertEqual([*self.WORKLOADS], self.create(arguments))

    def test_unknown_name(self):
        with self.assertRaisesRegex(
            task.InvalidTask,
            "^arguments: 'foi': must be the name or label of a workload of "
            "the task: fio, sysbench, log$",
        ):
            self.create({"foi": {"size_mib": 8}})


@ddt.ddt
class TestContexts(unittest.TestCase):
    """Empty options are not given, and a text is a name."""

    def create(self, question="overhead", args=(), **guests):
        """Return the task with these arguments and options of guests."""
        config = changed(("contexts", "vmperf_guests@openstack"), guests)
        config["args"] |= dict(args)
        return table.questions()[question].create_task(config)

    def test_guests(self):
        created = self.create(
            image="i", flavor={"id": "f"}, network="", host=None, hosts=[]
        )
        self.assertEqual(
            {"image": {"name": "i"}, "flavor": {"id": "f"}, "count": 1},
            created.guests,
        )

    @ddt.data(
        ("", None),
        ("none", None),
        ({}, None),
        (None, None),
        ("metal", {"name": "metal"}),
        ({"name": "none"}, {"name": "none"}),
        ({"class": "r740"}, {"class": "r740"}),
    )
    @ddt.unpack
    def test_baseline(self, option, reference):
        config = changed(("contexts", "vmperf_baseline"), "")
        config["contexts"]["vmperf_baseline"] = option
        created = table.questions()["overhead"].create_task(config)
        self.assertEqual(reference, created.baseline)
        self.assertEqual(
            reference is not None, "vmperf_baseline" in created.contexts
        )

    def test_count(self):
        """It is that of the measured guests and of neighbours."""
        neighbours = {"guests": 2, "workload": {"name": "stress_ng"}}
        for args, count in (
            ({}, 1),
            ({"guests": 3}, 3),
            ({"neighbours": neighbours}, 3),
            ({"guests": 3, "neighbours": neighbours}, 5),
        ):
            self.assertEqual(count, self.create(args=args).count)
        self.assertEqual(4, self.create(args={}, count=4).count)

    def test_two_counts(self):
        """They must agree."""
        created = self.create(args={"guests": 3}, count=4)
        question = table.questions()["overhead"]
        with self.assertRaisesRegex(
            task.InvalidTask, "guests=3: requires count=3 of vmperf_guests"
        ):
            question.check(created)
        question.check(self.create(args={"guests": 3}, count=3))


#: The required arguments of questions.
ARGUMENTS = {
    "density": {"levels": [1, 2]},
    "tuning": {"variants": [{"name": "a"}, {"name": "b"}]},
}


@ddt.ddt
class TestSpace(unittest.TestCase):
    """Files that do not fit on the disk of a guest."""

    def check(self, workloads, *disks, image_bytes=0, vcpus=2, **arguments):
        """Check workloads with the disks of groups in GiB.

        :param disks: The flavor's disk of each group, and its boot volume.
        """
        config = changed(("args",), {"workloads": workloads, **arguments})
        subtask = dataclasses.replace(
            table.questions()["density"].create_task(config)
            if "levels" in arguments
            else table.questions()["overhead"].create_task(config),
            vcpus=vcpus,
        )
        checks.check_space(
            subtask,
            [
                capacity.Demand(
                    group=request.Group(
                        image=request.ResourceReference(by="name", value="i"),
                        flavor=request.ResourceReference(by="name", value="f"),
                        boot_volume=request.Volume(size_gib=volume_gib)
                        if volume_gib
                        else None,
                    ),
                    image=models.Image(id="i", name="debian"),
                    flavor=models.Flavor(
                        id="f",
                        name="small",
                        vcpus=vcpus,
                        memory_mib=1024,
                        disk_gib=disk_gib,
                    ),
                    image_bytes=image_bytes,
                )
                for disk_gib, volume_gib in disks
            ],
        )

    def refuse(self, text, *arguments, **options):
        """Expect a line of text."""
        with self.assertRaises(task.InvalidTask) as caught:
            self.check(*arguments, **options)
        self.assertEqual(text, str(caught.exception))

    @ddt.data(
        (19 << 10, (20, 0)),
        (19 << 10, (20, 0), (0, 20)),
        (19 << 10, (0, 20)),
        (19 << 10, (10, 20)),
        (16, (1, 0)),
    )
    @ddt.unpack
    def test_files_that_fit(self, size_mib, *disks):
        """The disk is that of the boot volume, if there is one."""
        workload = {"name": "fio", "arguments": {"size_mib": size_mib}}
        self.check([workload], *disks)

    def test_nothing_is_written(self):
        """A disk whose size is not known has room for nothing."""
        self.check([{"name": "sysbench"}], (0, 0), image_bytes=9)

    def test_flavor(self):
        self.refuse(
            "workload fio needs 19.5 GiB of disk: must be <= 19.4 GiB, which "
            "the file system and image 'debian' leave of the 20 GiB of flavor "
            "'small'; use a flavor with a larger disk or a boot_volume, or "
            "reduce size_mib",
            [{"name": "fio", "arguments": {"size_mib": 19968}}],
            (20, 0),
        )

    def test_boot_volume_of_a_variant(self):
        """Each group has a disk of its own."""
        self.refuse(
            "workloads cp, fio-b need 10.0 GiB of disk: must be <= 8.7 GiB, "
            "which the file system and image 'debian' leave of boot_volume "
            "size_gib=10; raise size_gib, or reduce size_mib of fio-b",
            [
                {
                    "name": "cp",
                    "arguments": {"files": 1, "file_kib": 1 << 20},
                },
                {
                    "name": "fio",
                    "label": "b",
                    "arguments": {"size_mib": 8 << 10},
                },
            ],
            (40, 0),
            (40, 10),
            image_bytes=1 << 30,
        )

    def test_load_of_neighbours(self):
        """They prepare their files on each guest, beside the others."""
        options = {
            "levels": [1, 2],
            "neighbours": {
                "guests": 1,
                "workload": {"name": "dd", "arguments": {"count": 4096}},
            },
        }
        measured = [{"name": "fio", "arguments": {"size_mib": 4096}}]
        self.check(measured, (10, 0), **options)
        with self.assertRaisesRegex(
            task.InvalidTask, "fio, dd-neighbour need 8.0 GiB of disk"
        ):
            self.check(measured, (8, 0), **options)


@ddt.ddt
class TestReference(unittest.TestCase):
    """A baseline with which no run of a task can pass."""

    SHAPE = document.Shape(1, 1024)

    def check(
        self,
        criteria,
        question="overhead",
        findings=(),
        by_metric=None,
        **changes,
    ):
        """Check a task with these criteria and a baseline.

        :param findings: The kinds of findings of its entry, with subjects.
        :param by_metric: The value of each repetition by metric.
        """
        entry = made.entry(
            by_metric,
            arguments=registry.get_workload("sysbench").complete({}),
            findings=tuple(
                finding.Finding(kind, subject, "9 %")
                for kind, subject in findings
            ),
        )
        baseline = made.baseline(entries=(entry,), **changes)
        task_question = table.questions()[question]
        config = changed(("sla",), criteria)
        config["args"] |= ARGUMENTS.get(question, {})
        task_request = task_question.create_task(config)
        checks.check_reference(
            task_request, task_question, baseline, self.SHAPE
        )

    @ddt.data(
        ("bare_metal_busy", "bare metal"),
        ("bare_metal_busy", "cpu"),
        ("shape_not_enforced", "bare metal"),
    )
    @ddt.unpack
    def test_void(self, kind, subject):
        for name, config in (
            ("vmperf_overhead", {"max_percent": {"cpu.*.rate": 5}}),
            ("vmperf_valid", {}),
        ):
            with (
                self.subTest(name=name, config=config),
                self.assertRaisesRegex(
                    task.InvalidTask,
                    f"^sla {name}: baseline 'metal' voids each run: .*"
                    f"{subject}: 9 %.*; record it again on an empty host "
                    r"\(rally-vmperf baseline record ... --replace\), or "
                    rf"set tolerate: \[{kind}\] in vmperf.yaml or in the SLA$",
                ),
            ):
                self.check({name: config}, findings=[(kind, subject)])
            self.check(
                {name: {**config, "tolerate": [kind]}},
                findings=[(kind, subject)],
            )

    @ddt.data(
        ("vmperf_overhead", {"min": {"cpu.*.rate": 5}}),
        ("vmperf_spread", {"max_cv_percent": {"cpu.*.rate": 5}}),
    )
    @ddt.unpack
    def test_limits_on_values(self, name, config):
        """Bare metal does not void limits that do not speak of it."""
        self.check(
            {name: config}, findings=[("bare_metal_busy", "bare metal")]
        )

    def test_a_guest(self):
        machine = document.BaselineMachine(
            name="m", fingerprint={"virtualisation": "kvm"}
        )
        limits = {"max_percent": {"cpu.*.rate": 5}}
        with self.assertRaisesRegex(
            task.InvalidTask, "runs under kvm.*bare_metal_is_guest"
        ):
            self.check({"vmperf_overhead": limits}, machine=machine)
        self.check({}, machine=machine)

    @ddt.data("solo_guest", "bare_metal")
    def test_density(self, reference):
        """Only limits against bare metal depend on it."""
        limits = {"max_percent": {"*": 50}, "compare_to": reference}
        context = contextlib.nullcontext()
        if reference == "bare_metal":
            context = self.assertRaisesRegex(task.InvalidTask, "voids each")
        with context:
            self.check(
                {"vmperf_degradation": limits},
                "density",
                [("bare_metal_busy", "cpu")],
            )

    @ddt.data("density", "tuning")
    def test_validity(self, name):
        """It is that of the question, which does not use bare metal."""
        self.check({"vmperf_valid": {}}, name, [("bare_metal_busy", "cpu")])

    def test_warnings(self):
        limits = {"max_percent": {"cpu.*.rate": 5}}
        self.check({"vmperf_overhead": limits}, findings=[("unstable", "x")])

    def test_few_repetitions(self):
        """Limits in percent require three; others do not use them."""
        rates = {made.EVENTS: (1.0, 1.0)}
        limits = {"max_percent": {"cpu.*.rate": 5}}
        with self.assertRaisesRegex(
            task.InvalidTask,
            "^sla vmperf_overhead: baseline 'metal' has 2 repetitions of "
            "sysbench, with which no limit can pass; record it again with "
            "--repetitions 3 or more$",
        ):
            self.check({"vmperf_overhead": limits}, by_metric=rates)
        for limits in (
            {"min": {"cpu.*.rate": 5}},
            {"min": {"cpu.*.rate": 5}, "max_percent": {"cpu.*.time": 5}},
        ):
            self.check({"vmperf_overhead": limits}, by_metric=rates)


@ddt.ddt
class TestTask(unittest.TestCase):
    """A task is checked as a whole."""

    def setUp(self):
        """Register a baseline that covers sysbench."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        arguments = registry.get_workload("sysbench").complete({})
        self.baselines = store.Store(folder.name)
        self.baselines.save(
            made.baseline(entries=(made.entry(arguments=arguments),))
        )

    def check(self, config):
        """Check a workload of Rally's."""
        task_question = table.questions()["overhead"]
        task_request = task_question.create_task(config)
        return checks.check_task(task_request, task_question, self.baselines)

    @ddt.data(
        {},
        {"vmperf_overhead": {"min": {"cpu.*.rate": 5}, "confidence": 0.9}},
        {"vmperf_overhead": {"max": {"cpu.*.latency_p95": 5}}},
        {"vmperf_spread": {"max_cv_percent": {"*": 5}}},
        {"vmperf_valid": {}},
        {"vmperf_promise": {}},
    )
    def test_no_baseline_is_needed(self, criteria):
        """Only limits in percent of bare metal need one."""
        config = changed(("contexts", "vmperf_baseline"), None)
        self.assertEqual([], self.check({**config, "sla": criteria}))

    def test_one_limit_of_several_needs_a_baseline(self):
        """Other limits do not hide it, in other scenarios as well."""
        config = changed(("contexts", "vmperf_baseline"), None)
        limits = {"max_percent": {"cpu.*": 5}}
        variants = [{"name": "a"}, {"name": "b", "flavor": {"name": "g"}}]
        for name, arguments, sla, option, more in (
            ("overhead", {}, "overhead", "max_percent", {}),
            ("tuning", {"variants": variants}, "overhead", "max_percent", {}),
            (
                "density",
                {"levels": [1]},
                "degradation",
                "compare_to=bare_metal",
                {"compare_to": "bare_metal"},
            ),
        ):
            with self.subTest(name):
                config["args"] = {**CONFIG["args"], **arguments}
                config["sla"] = {
                    f"vmperf_{sla}": {**limits, "min": {"*.rate": 5}, **more}
                }
                question = table.questions()[name]
                task_request = question.create_task(config)
                with self.assertRaisesRegex(
                    task.InvalidTask,
                    rf"^sla vmperf_{sla} {option}: requires the context "
                    r"vmperf_baseline: \{name: \.\.\.\}; add it .* or use "
                    "max and min, which limit the values of guests$",
                ):
                    checks.check_task(task_request, question, self.baselines)

    def test_guests_may_be_on_several_hosts(self):
        """Copies on one machine are what one host is needed for."""
        task_requests = [
            table.questions()["overhead"].create_task(config)
            for config in (
                CONFIG,
                changed(("contexts", "vmperf_baseline"), None),
            )
        ]
        question = table.questions()["overhead"]
        self.assertEqual(
            [True, False], [*map(question.needs_one_host, task_requests)]
        )

    @ddt.data(
        *itertools.product(
            table.criteria(),
            (
                (math.nan, "nan: must be a finite number"),
                (-math.inf, "-inf: must be a finite number"),
                (float("1.0e+400"), "inf: must be a finite number"),
                (10**400, "must be a finite number"),
            ),
        )
    )
    @ddt.unpack
    def test_limits_that_are_not_a_number(self, sla, limit):
        """YAML has them; each is one line for every SLA, however deep."""
        number, rule = limit
        config = copy.deepcopy(CONFIG)
        config["sla"] = {sla: {"max_percent": {"v1": {"cpu.*": number}}}}
        with self.assertRaisesRegex(
            task.InvalidTask,
            rf"^sla {sla}: max_percent: v1: cpu\.\*: {rule}\Z",
        ):
            self.check(config)

    @ddt.data(
        *itertools.product(
            ("vmperf_overhead", "vmperf_spread", "vmperf_valid"),
            ("5", True, None, [5]),
        )
    )
    @ddt.unpack
    def test_limits_of_another_type(self, sla, limit):
        """Rally checks the schema of an SLA after the scenario."""
        key = next(iter(table.criteria()[sla].limits))
        for limits in (limit, {"cpu.*": limit}):
            config = {**CONFIG, "sla": {sla: {key: limits}}}
            with self.assertRaisesRegex(
                task.InvalidTask, rf"^sla {sla}\.{key}.*: .* is not "
            ):
                self.check(config)
        with self.assertRaisesRegex(task.InvalidTask, f"^sla {sla}: None is"):
            self.check({**CONFIG, "sla": {sla: None}})

    @ddt.data(5, None, True, 1.5)
    def test_patterns_that_are_not_a_text(self, pattern):
        """A schema accepts them; each is one line for every SLA."""
        for sla, option in (
            ("vmperf_overhead", "max_percent"),
            ("vmperf_spread", "max_cv_percent"),
            ("vmperf_valid", "physical_limit"),
        ):
            config = {**CONFIG, "sla": {sla: {option: {pattern: 5}}}}
            with self.assertRaisesRegex(
                task.InvalidTask,
                rf"^sla {sla}\.{option}: {pattern} is not of type 'string'"
                r"(; quote it)?\Z",
            ):
                self.check(config)

    @ddt.data("args", "contexts")
    def test_arguments_that_are_not_a_number(self, section):
        """A bound of a schema does not reject them."""
        config = {**CONFIG, section: {**CONFIG[section], "x": [math.nan]}}
        with self.assertRaisesRegex(
            task.InvalidTask, f"^{section} x: 0: nan: must be a finite number"
        ):
            self.check(config)

    def test_good_task(self):
        """There is no error and no warning."""
        self.assertEqual([], self.check(CONFIG))

    @ddt.data(
        (("args", "workloads"), [], r"workloads: \[\]"),
        (("args", "workloads"), "fio", "workloads: 'fio' is not of type"),
        (("args", "workloads"), [{"nam": "fio"}], r"workloads\[0\].*'nam'"),
        (
            ("args", "workloads"),
            [{"name": "fi"}],
            "'fi' does not exist; .*: bzip2",
        ),
        (
            ("args", "workloads"),
            [{"name": "sysbench", "arguments": {"tim": 1}}],
            "'tim'.*allowed keys: max_prime, rate, threads, time",
        ),
        (
            ("args", "workloads"),
            [{"name": "sysbench", "arguments": {"time": 7}}],
            "time is 10 in the baseline and 7 in the task",
        ),
        (("args", "workloads"), [{"name": "mbw"}], "matches no metric"),
        (
            ("args", "workloads"),
            [{"name": "unixbench", "arguments": {"source": "/tmp/no/ub"}}],
            "^workload unixbench: file /tmp/no/ub of this machine cannot be",
        ),
        (("args", "workloads"), [{"name": "iperf3"}], "peer: must be set"),
        (("args", "warmup"), 4, "warmup=4: .* from 0 to 3"),
        (("args", "warmup"), "1", "warmup: '1' is not of type 'integer'"),
        (("args", "drop_caches"), "yes", "drop_caches: 'yes' is not of type"),
        (("args", "drop_caches"), True, "drop_caches is None in the baseline"),
        (
            ("args", "reboot"),
            "often",
            "reboot='often': must be one of .*between_workloads",
        ),
        (
            ("args", "shape"),
            "big",
            r"shape='big': must be one of guest, whole",
        ),
        (
            ("args", "shape"),
            "whole",
            "whole: .*sysbench with bare metal limited .*--shape whole",
        ),
        (("args", "cooldown"), 3601, "cooldown: 3601 .*maximum of 3600"),
        (("args", "peer"), {"adress": "x"}, "allowed keys: address"),
        (("args", "control"), {"adress": "x"}, "allowed keys: address"),
        (("runner_type",), "rps", "runner=rps.*serial"),
        (("runner_type",), "constant", "runner=constant.*serial"),
        (
            ("contexts", "vmperf_guests@openstack", "proxy"),
            "ftp://proxy",
            "proxy=ftp://proxy: .*http://HOST:PORT",
        ),
        (
            ("contexts", "vmperf_guests@openstack", "bundle"),
            "/proc/none",
            "bundle /proc/none: No such file",
        ),
        (
            ("contexts", "vmperf_guests@openstack", "extra_specs"),
            {"quota:cpu_quota": "900", "quota:cpu_period": "10000"},
            "^vmperf_guests: quota:cpu_quota='900': must be .* in each 10000 ",
        ),
        (
            ("contexts", "vmperf_guests@openstack", "extra_specs"),
            {"quota:cpu_quota": 50000},
            r"\['quota:cpu_quota'\]: 50000 is not of type 'string'; quote it$",
        ),
        (
            ("contexts", "vmperf_baseline"),
            None,
            "^sla vmperf_overhead max_percent: requires the context "
            "vmperf_baseline: .* baseline record NAME.* or use max and min, ",
        ),
        (
            ("contexts", "vmperf_guests@openstack"),
            None,
            "vmperf_guests is missing",
        ),
        (("contexts", "vmperf_baseline"), {"name": "x"}, "registered: metal"),
        (
            ("sla", "vmperf_overhead"),
            {"max_percent": {"disk.*": 5}},
            r"max_percent: 'disk\.\*' matches no metric.*cpu.sysbench.rate",
        ),
        (
            ("sla", "vmperf_overhead"),
            {"max_percent": {"cpu.*": 5}, "max": {"*.retransmits": 5}},
            r"max: '\*\.retransmits' matches no metric",
        ),
        (
            ("sla", "vmperf_overhead"),
            {"min": {"disk.*": 5}},
            r"min: 'disk\.\*' matches no metric.*cpu.sysbench.rate",
        ),
        (
            ("sla", "vmperf_overhead"),
            {"max_percent": {"*.rate": 100}},
            r"max_percent: '\*\.rate' is 100, but cpu.sysbench.rate is comp",
        ),
        (
            ("sla", "vmperf_overhead"),
            {"max": {"cpu.*": 0}},
            r"max: 'cpu\.\*' is 0, but cpu.sysbench.\w+ is always above",
        ),
        *(
            (
                ("sla", "vmperf_spread"),
                {f"max_{key}": {"cpu.*": 5, "disk.*": 5}},
                rf"sla vmperf_spread max_{key}: 'disk\.\*' matches no metric",
            )
            for key in ("range_percent", "cv_percent")
        ),
        (
            ("sla",),
            {
                "vmperf_overhead": {
                    "max_percent": {"cpu.*": 5},
                    "tolerate": ["guest_faster", "swap_or_oom"],
                },
                "vmperf_valid": {"tolerate": ["guest_faster"]},
            },
            "sla vmperf_valid: vmperf_overhead tolerates swap_or_oom, which "
            "still fails here; add it to tolerate of both",
        ),
        (
            ("sla", "vmperf_degradation"),
            {"max_percent": {"*": 5}},
            "sla vmperf_degradation: applies to VMPerf.density, not to VMP",
        ),
        (
            ("sla", "vmperf_fairness"),
            {},
            "sla vmperf_fairness: applies to VMPerf.density",
        ),
    )
    @ddt.unpack
    def test_refused_by_name(self, path, value, text):
        """The message names the key, the value and what is allowed."""
        with self.assertRaisesRegex(checks.REQUEST_ERRORS, text):
            self.check(changed(path, value))

    def test_patterns_that_contradict_each_other(self):
        """Neither lies within the other; the order does not decide."""
        config = changed(
            ("args", "workloads"),
            [{"name": "sysbench", "label": label} for label in ("a", "b")],
        )
        limits = {"cpu.sysbench.a.*": 5, "*.rate": 9}
        for ordered_limits in (limits, dict(reversed(limits.items()))):
            config["sla"]["vmperf_overhead"] = {"max_percent": ordered_limits}
            with self.assertRaisesRegex(
                task.InvalidTask,
                "max_percent: .* and both match cpu.sysbench.a.rate; set a "
                "limit for 'cpu.sysbench.a.rate', or narrow one of the",
            ):
                self.check(config)
        limits["cpu.sysbench.a.rate"] = 7
        self.check(
            config | {"sla": {"vmperf_overhead": {"max_percent": limits}}}
        )

    def test_a_time_may_double(self):
        """Only rates cannot lose more than they have."""
        limits = {"max_percent": {"*_p95": 100, "*.rate": 99.9}}
        self.check(changed(("sla", "vmperf_overhead"), limits))

    @ddt.data((4, 1, True), (3, 1, False), (2, 0, False), (3, 0, True))
    @ddt.unpack
    def test_limits_require_three_repetitions(self, times, warmup, is_valid):
        """Fewer repetitions have no interval, and no limit can pass."""
        config = changed(("runner", "times"), times)
        config["args"]["warmup"] = warmup
        if is_valid:
            self.check(config)
            return
        with self.assertRaisesRegex(
            task.InvalidTask,
            f"sla vmperf_overhead: with {times - warmup} counted repetitions "
            "there is no interval, and no limit can pass; run at least 3",
        ):
            self.check(config)
        for criteria in ({}, {"vmperf_valid": {}}):
            with self.subTest(criteria):
                self.check({**config, "sla": criteria})

    def test_groups(self):
        """An option that no longer exists is named, with the others."""
        path = ("contexts", "vmperf_guests@openstack", "groups")
        with self.assertRaisesRegex(
            checks.REQUEST_ERRORS,
            r"^vmperf_guests: .*'groups' was unexpected\); allowed keys: ",
        ):
            self.check(changed(path, [{"name": "a"}]))

    def test_absolute_limits_go_with_rates_and_times(self):
        """They need no limit on the overhead in addition."""
        limits = {"max": {"*.latency_p95": 0.005}, "min": {"*.rate": 10}}
        self.check(changed(("sla", "vmperf_overhead"), limits))

    def test_limits_on_spread(self):
        """Alone or with other limits; a removed key is named."""
        limits = {"max_cv_percent": {"cpu.*": 5}}
        path = ("sla", "vmperf_spread")
        self.check(changed(path, limits))
        self.check(changed(("sla",), {path[1]: limits}))
        with self.assertRaisesRegex(
            task.InvalidTask, "^sla vmperf_spread: .*'over'.*; allowed keys: "
        ):
            self.check(changed(path, {**limits, "over": "repetitions"}))

    def test_guests_that_share_a_host(self):
        """Guests of an overhead run do, unless it tolerates the finding."""
        apart = {"tolerate": ["guests_not_on_one_host"]}
        for sla, expected in (
            ({}, True),
            ({"vmperf_valid": {"tolerate": ["baseline_old"]}}, True),
            ({"vmperf_valid": apart}, False),
            ({"vmperf_overhead": {"max_percent": {"*": 5}, **apart}}, False),
        ):
            task_request = table.questions()["overhead"].create_task(
                changed(("sla",), sla)
            )
            self.assertIs(
                expected,
                table.questions()["overhead"].needs_one_host(task_request),
            )
            self.assertIs(
                False,
                table.questions()["density"].needs_one_host(task_request),
            )

    def test_neighbours(self):
        """They have a known form, and are fewer than the guests of a host."""
        neighbours = {"guests": 1, "workload": {"name": "stress_ng"}}

        def config(count, beside=neighbours, **guests):
            neighbour_config = changed(("args", "neighbours"), beside)
            neighbour_config["sla"]["vmperf_neighbours"] = {
                "max_percent": {"cpu.*": 5}
            }
            options = neighbour_config["contexts"]["vmperf_guests@openstack"]
            options |= {"count": count, **guests}
            return neighbour_config

        self.assertEqual([], self.check(config(2)))
        self.assertEqual([], self.check(config(2, server_group="affinity")))
        (warned,) = self.check(config(2, aggregate="ssd"))
        self.assertIn("server_group: affinity", warned)
        for number, beside, message in (
            (1, neighbours, "guests=1: must be less than count=1"),
            (2, {"guests": 1}, "neighbours: 'workload' is a required"),
            (2, {**neighbours, "guests": 0}, "neighbours.guests: 0 is less"),
            (
                2,
                {**neighbours, "workload": {"name": "x"}},
                "'x' does not exist; available",
            ),
            (2, None, "the task has no neighbours"),
        ):
            wrong = config(number, neighbours)
            wrong["args"]["neighbours"] = beside
            with self.assertRaisesRegex(Exception, message):
                self.check(wrong)
        wrong = config(2)
        wrong["sla"]["vmperf_neighbours"]["max_percent"]["*.rate"] = 100
        with self.assertRaisesRegex(
            task.InvalidTask, "neighbours .* is 100, but"
        ):
            self.check(wrong)
        task_question = table.questions()["overhead"]
        task_request = task_question.create_task(config(3))
        self.assertEqual((2,), task_question.list_copies(task_request))
        alone = task_question.create_task(changed(("args", "warmup"), 1))
        self.assertLess(
            task_question.estimate_minutes(alone),
            task_question.estimate_minutes(task_request),
        )

    def test_more_guests_than_connections_or_ports(self):
        """The message has the largest number."""
        guests = copy.deepcopy(CONFIG["contexts"]["vmperf_guests@openstack"])
        path = ("contexts", "vmperf_guests@openstack")
        config = changed(path, {**guests, "count": 500})
        with (
            mock.patch.object(
                open_files.resource,
                "getrlimit",
                autospec=True,
                return_value=(256, 1024),
            ),
            self.assertRaisesRegex(
                checks.REQUEST_ERRORS,
                "500 machines require 1200 .* enough for 412",
            ),
        ):
            self.check(config)
        config = changed(path, {**guests, "count": 1000})
        config["args"]["peer"] = {"address": "192.0.2.1"}
        config["args"]["workloads"] = [
            {"name": "iperf3", "label": f"l{n}"} for n in range(10)
        ]
        with self.assertRaisesRegex(
            checks.REQUEST_ERRORS, "^count=1000: must be at most 9[0-9][0-9],"
        ):
            self.check(config)

    def test_ftp_needs_root_on_the_peer(self):
        """Other users of the peer can serve by HTTP."""
        workload = {"name": "wget", "arguments": {"protocols": ["ftp"]}}
        config = changed(("args", "workloads"), [workload])
        config["sla"] = {"vmperf_overhead": {"max_percent": {"*": 10}}}
        config["args"]["peer"] = {"address": "192.0.2.1", "user": "debian"}
        with self.assertRaisesRegex(
            task.InvalidTask, r"^peer user=debian: must be root.*\[http\]$"
        ):
            self.check(config)
        for user in ({"user": "root"}, {}):
            config["args"]["peer"] = {"address": "192.0.2.1", **user}
            with self.assertRaisesRegex(
                checks.REQUEST_ERRORS, "has no workload 'wget'"
            ):
                self.check(config)

    def test_the_control_machine_is_another_machine(self):
        """It is neither the peer nor a host, and has a name of its own."""
        peer = {"address": "192.0.2.1"}
        for control, message in (
            (peer, "control address=192.0.2.1: is the peer; must be another"),
            ({"address": "c1"}, "control address=c1: is a host of the guests"),
            (
                {"address": "192.0.2.2", "name": "peer"},
                "control name=peer: is the name of the peer; use another",
            ),
        ):
            config = changed(("args", "control"), control)
            config["args"]["peer"] = peer
            config["contexts"]["vmperf_guests@openstack"]["host"] = "c1"
            with self.assertRaisesRegex(task.InvalidTask, f"^{message}"):
                self.check(config)
        self.check(changed(("args", "control"), peer))

    def test_limits_on_the_control_machine(self):
        """They match its metrics if the task has one."""
        limits = {"vmperf_overhead": {"min": {"control.sysbench.rate": 9}}}
        config = changed(("sla",), limits)
        with self.assertRaisesRegex(task.InvalidTask, "matches no metric"):
            self.check(config)
        config["args"]["control"] = {"address": "192.0.2.2"}
        self.check(config)

    def test_guest_to_guest_needs_two(self):
        """One guest has no partner."""
        config = changed(
            ("args", "workloads"),
            [
                {
                    "name": "iperf3",
                    "arguments": {"directions": ["guest_to_guest"]},
                }
            ],
        )
        with self.assertRaisesRegex(checks.REQUEST_ERRORS, "count=1"):
            self.check(config)

    @ddt.data(
        ("machine", "3.9", True),
        ("peer", "3.9", True),
        ("peer", "3.18", False),
        ("peer", "", False),
    )
    @ddt.unpack
    def test_tools_of_the_baseline(self, key, version, refused):
        """A version that is too old is rejected before a guest boots."""
        udp = {"protocol": "udp", "directions": ["to_peer"]}
        workload = registry.get_workload("iperf3")
        arguments = workload.complete(udp)
        machine = document.BaselineMachine(
            name="m1",
            fingerprint={},
            tools={"iperf3": {"version": f"iperf {version} (cJSON)"}},
        )
        entry = made.entry(workload=workload.name, arguments=arguments)
        self.baselines.save(
            made.baseline(name="udp", entries=(entry,), **{key: machine})
        )
        config = changed(
            ("args", "workloads"), [{"name": "iperf3", "arguments": udp}]
        )
        config["args"]["peer"] = {"address": "192.0.2.1"}
        config["contexts"]["vmperf_baseline"]["name"] = "udp"
        config["sla"] = {"vmperf_overhead": {"max_percent": {"network.*": 5}}}
        if not refused:
            self.check(config)
            return
        with self.assertRaisesRegex(
            checks.REQUEST_ERRORS,
            r"baseline 'udp': m1: iperf3 3\.9 is older than 3\.11: .*; "
            "use .*; then record the baseline again$",
        ):
            self.check(config)

    @ddt.data(("1.0.20", False), ("1.0.19", True), ("", False))
    @ddt.unpack
    def test_programs_of_a_bundle(self, version, refused):
        """Their versions must be those of the baseline, or are rejected."""
        recorded = self.baselines.load("metal")
        machine = dataclasses.replace(
            recorded.machine,
            tools={"sysbench": {"version": f"sysbench {version}"}},
        )
        self.baselines.save(
            dataclasses.replace(recorded, machine=machine), replace=True
        )
        path = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory()), "b.tar.gz"
        )
        program = {"package": "sysbench", "version": "1.0.20+ds-5"}
        bundled.written(
            path,
            bundle.NAME,
            json.dumps(
                {
                    **bundled.GOOD,
                    "programs": {"sysbench": {**program, "sha256": "0" * 64}},
                }
            ).encode(),
        )
        config = changed(
            ("contexts", "vmperf_guests@openstack", "bundle"), str(path)
        )
        if not refused:
            self.check(config)
            return
        with self.assertRaisesRegex(
            checks.REQUEST_ERRORS,
            r"its sysbench is 1\.0\.20, but that of baseline 'metal' "
            r"is 1\.0\.19; .*baseline record \.\.\. --bundle ",
        ):
            self.check(config)
