# SPDX-License-Identifier: Apache-2.0
"""Tests of the questions that tempest.conf configures."""

import dataclasses
import json
import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf import errors
from rally_vmperf.baseline import store
from tests.unit.runs import whole
from tests.unit.tempest_plugin import configured

LIMITS = {
    "vmperf_overhead": {
        "max_percent": {"cpu.*": 5, "memory.*": 10},
        "confidence": 0.9,
    },
    "vmperf_spread": {"max_cv_percent": {"memory.*": 3}},
    "vmperf_degradation": {"max_percent": {"cpu.*": 10}},
}
WORKLOADS = [
    {"name": "sysbench", "arguments": {"time": 2}},
    {"name": "mbw", "label": "small", "arguments": {"size_mib": 16}},
]

FILES = {
    "strange": {"vmperf_overhead": {"min": {"a": 1}}},
    "peer": [{"name": "iperf3"}],
    "mixed": [{"name": "sysbench"}, {"name": "iperf3"}],
    "values": {
        "vmperf_overhead": {
            "min": {"cpu.*.rate": 5},
            "max": {"memory.*": 9e9},
        }
    },
    "copies": {
        "vmperf_degradation": {
            "max_percent": {"cpu.*": 5},
            "compare_to": "bare_metal",
        }
    },
    "all": {"vmperf_degradation": {"max_percent": {"*": 50}}},
    "promise": {"vmperf_promise": {}},
}


@ddt.ddt
class TasksTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.limits = configured.write(folder.name, "limits.yaml", LIMITS)
        self.workloads = configured.write(folder.name, "w.yaml", WORKLOADS)

    def build_question(self, question="overhead", **values):
        defaults = {
            "limits_file": self.limits,
            "workloads_file": self.workloads,
            "baseline_dir": self.folder,
        }
        return configured.build_question(question, **defaults | values)

    def register(self):
        """Register a baseline that has sysbench only."""
        store.Store(pathlib.Path(self.folder)).save(
            whole.baseline(self.folder)
        )

    @ddt.data(
        ("overhead", {"baseline": "metal", "limits_file": None}, "no limits"),
        ("density", {"limits_file": "strange"}, "strange has none for"),
    )
    @ddt.unpack
    def test_tests_without_limits_are_skipped(self, name, values, message):
        reason = self.build_question(
            name, **self.written(values)
        ).skip_reason()
        self.assertRegex(reason, message)
        self.assertNotIn("\n", reason)

    def written(self, values):
        """Return options of which some are written as files."""
        return {
            key: configured.write(self.folder, value, FILES[value])
            if value in FILES
            else value
            for key, value in values.items()
        }

    @ddt.data(
        (
            "overhead",
            {},
            "baseline must be set for vmperf_overhead max_percent "
            r"\(record one with: rally-vmperf baseline record",
        ),
        (
            "density",
            {"limits_file": "copies"},
            "baseline must be set for vmperf_degradation compare_to=bare_",
        ),
        (
            "overhead",
            {"limits_file": "values", "workloads_file": None},
            "workloads_file or baseline must be set",
        ),
        (
            "density",
            {"workloads_file": None},
            "workloads_file or baseline must be set",
        ),
        ("density", {"workloads_file": "peer"}, "peer must be set"),
        (
            "density",
            {"workloads_file": "mixed", "limits_file": "all"},
            "peer must be set",
        ),
    )
    @ddt.unpack
    def test_limits_that_cannot_be_tested(self, name, values, message):
        """An error names the option, in one line."""
        question = self.build_question(name, **self.written(values))
        with self.assertRaisesRegex(
            errors.VMPerfError,
            rf"^\[vmperf\] {message}.*, because .* has limits in .*; set the "
            "option, or remove these limits$",
        ):
            question.skip_reason()

    def test_limits_on_values(self):
        """They need no baseline; a task has those of its metrics."""
        path = configured.write(self.folder, "values", FILES["values"])
        question = self.build_question(limits_file=path)
        self.assertEqual("", question.skip_reason())
        question.check_limits()
        cpu = question.build_task(question.workloads_of("cpu"), 1, {}, {})
        self.assertEqual(
            {"vmperf_overhead": {"min": {"cpu.*.rate": 5}}}, cpu.criteria
        )
        self.assertNotIn("vmperf_baseline", cpu.contexts)
        self.assertIsNone(question.baseline)

    def test_network_workloads_without_limits(self):
        """They need no peer: nothing tests them."""
        path = configured.write(self.folder, "mixed", FILES["mixed"])
        question = self.build_question("density", workloads_file=path)
        self.assertEqual("", question.skip_reason())

    def test_nothing_is_missing(self):
        self.assertEqual(
            "", self.build_question(baseline="metal").skip_reason()
        )
        self.assertEqual("", self.build_question("density").skip_reason())

    def test_the_baseline_of_a_class(self):
        """It replaces a name, and is rejected together with one."""
        registry = store.Store(pathlib.Path(self.folder))
        recorded = whole.baseline(self.folder)
        registry.save(dataclasses.replace(recorded, machine_class="r740"))
        question = self.build_question(
            baseline_class="r740", workloads_file=None
        )
        self.assertEqual("", question.skip_reason())
        (workload,) = question.workloads
        task = question.build_task([workload], 1, {}, {})
        self.assertEqual({"class": "r740"}, task.contexts["vmperf_baseline"])
        both = self.build_question(baseline="metal", baseline_class="r740")
        with self.assertRaisesRegex(errors.VMPerfError, "remove one of them"):
            both.skip_reason()

    def test_workloads_by_part(self):
        question = self.build_question()
        self.assertEqual(WORKLOADS[:1], question.workloads_of("cpu"))
        self.assertEqual(WORKLOADS[1:], question.workloads_of("memory"))
        self.assertEqual([], question.workloads_of("network"))

    def test_workloads_of_the_baseline(self):
        self.register()
        question = self.build_question(baseline="metal", workloads_file=None)
        (workload,) = question.workloads
        self.assertEqual("sysbench", workload["name"])
        self.assertEqual(2, workload["arguments"]["time"])

    def test_workloads_of_a_baseline_with_several_flavors(self):
        """The number of threads that follows the vCPUs is one workload."""
        recorded = whole.baseline(self.folder)
        (entry,) = recorded.entries
        two = dataclasses.replace(
            entry,
            arguments={**entry.arguments, "threads": 2},
            shape=dataclasses.replace(entry.shape, vcpus=2),
        )
        store.Store(pathlib.Path(self.folder)).save(
            dataclasses.replace(recorded, entries=(entry, two))
        )
        question = self.build_question(baseline="metal", workloads_file=None)
        (workload,) = question.workloads
        self.assertEqual("vcpus", workload["arguments"]["threads"])
        question.build_task([workload], 1, {}, {})

    def test_task_of_one_part(self):
        """Limits of other components are omitted, with their options."""
        self.register()
        question = self.build_question(
            baseline="metal", repetitions=4, warmup=2, install=False
        )
        task = question.build_task(question.workloads_of("cpu"), 1, {}, {})
        self.assertEqual(6, task.times)
        self.assertEqual(2, task.warmup)
        self.assertEqual(
            {
                "vmperf_overhead": {
                    "max_percent": {"cpu.*": 5},
                    "confidence": 0.9,
                }
            },
            task.criteria,
        )
        guests = task.guests
        self.assertEqual({"id": "i1"}, guests["image"])
        self.assertEqual({"id": "f1"}, guests["flavor"])
        self.assertEqual("floating", guests["address"])
        self.assertIs(False, guests["install"])
        json.dumps(guests)

    def test_findings_without_the_limits_of_another_part(self):
        """A physical limit of the disk is omitted, and the rest applies."""
        self.register()
        valid = {"tolerate": ["steal_time"], "physical_limit": {"disk.*": 9e8}}
        for validity in (valid, {"tolerate": ["steal_time"]}):
            limits = {**LIMITS, "vmperf_valid": validity}
            limits = configured.write(self.folder, "valid.yaml", limits)
            question = self.build_question(
                baseline="metal", limits_file=limits
            )
            task = question.build_task(question.workloads_of("cpu"), 1, {}, {})
            self.assertEqual(
                {"tolerate": ["steal_time"]}, task.criteria["vmperf_valid"]
            )

    def test_image_and_flavor_of_our_own(self):
        self.register()
        question = self.build_question(
            baseline="metal", image_ref="i2", flavor_ref="f2"
        )
        guests = question.build_task(
            question.workloads_of("cpu"), 1, {}, {}
        ).guests
        self.assertEqual({"id": "i2"}, guests["image"])
        self.assertEqual({"id": "f2"}, guests["flavor"])

    @ddt.unpack
    @ddt.data(
        ({}, None),
        ({"volume_size_gib": 2}, [{"size_gib": 2}]),
        (
            {"volume_size_gib": 2, "volume_type": "ssd"},
            [{"size_gib": 2, "type": "ssd"}],
        ),
    )
    def test_data_volume(self, options, volumes):
        """Workloads with target: volume require one."""
        fio = {"name": "fio", "arguments": {"target": "volume"}}
        question = self.build_question(
            limits_file=configured.write(
                self.folder, "promise", FILES["promise"]
            ),
            workloads_file=configured.write(self.folder, "fio.yaml", [fio]),
            **options,
        )
        workloads = question.workloads_of("disk")
        if volumes:
            task = question.build_task(workloads, 1, {}, {})
            self.assertEqual(volumes, task.guests["volumes"])
        else:
            with self.assertRaisesRegex(errors.VMPerfError, "volume"):
                question.build_task(workloads, 1, {}, {})

    def test_a_volume_type_without_a_volume(self):
        """The type would have no effect, also on workloads without target."""
        self.register()
        question = self.build_question(baseline="metal", volume_type="ssd")
        workloads = question.workloads_of("cpu")
        with self.assertRaisesRegex(
            errors.VMPerfError,
            r"^\[vmperf\] volume_type='ssd': requires volume_size_gib >= 1; "
            "set it, or remove volume_type$",
        ):
            question.build_task(workloads, 1, {}, {})

    def test_promises_without_a_baseline(self):
        """The cloud has the limits, so that each component is tested."""
        path = configured.write(self.folder, "promise", FILES["promise"])
        for name in ("density", "overhead"):
            question = self.build_question(name, limits_file=path)
            self.assertEqual("", question.skip_reason())
        task = question.build_task(question.workloads_of("cpu"), 1, {}, {})
        self.assertEqual({"vmperf_promise": {}}, task.criteria)
        self.assertNotIn("vmperf_baseline", task.contexts)

    def test_a_workload_without_a_baseline_is_rejected(self):
        self.register()
        question = self.build_question(baseline="metal")
        with self.assertRaisesRegex(errors.VMPerfError, "no workload 'mbw'"):
            question.build_task(question.workloads_of("memory"), 1, {}, {})

    def test_slas_that_do_not_apply_are_skipped(self):
        """No guest of Tempest has neighbours."""
        others = {
            "vmperf_neighbours": {"max_percent": {"cpu.*": 5}},
            "vmperf_degradation": {"max_percent": {"cpu.*": 5}},
        }
        path = configured.write(self.folder, "all.yaml", {**LIMITS, **others})
        self.register()
        question = self.build_question(limits_file=path, baseline="metal")
        task = question.build_task(question.workloads_of("cpu"), 1, {}, {})
        self.assertEqual(["vmperf_overhead"], list(task.criteria))

    def test_a_limit_that_matches_nothing_is_refused(self):
        path = configured.write(
            self.folder,
            "typo.yaml",
            {"vmperf_overhead": {"max_percent": {"cqu.*": 5}}},
        )
        question = self.build_question(limits_file=path)
        with self.assertRaisesRegex(errors.VMPerfError, "'cqu.*' matches no"):
            question.check_limits()
        self.build_question().check_limits()

    @ddt.data(
        ("a: b: c", "not valid YAML"),
        ("vmperf_overhead: {max_percents: {a: 1}}", "max_percents"),
        ("vmperf_overhead: {max_percent: {a: b}}", "is not of type 'number'"),
    )
    @ddt.unpack
    def test_a_broken_file_of_limits_is_refused(self, text, message):
        path = pathlib.Path(self.folder, "broken.yaml")
        path.write_text(text)
        question = self.build_question(limits_file=str(path), baseline="metal")
        with self.assertRaisesRegex(errors.VMPerfError, message) as caught:
            question.skip_reason()
        self.assertNotIn("\n", str(caught.exception))

    def test_peer(self):
        self.assertIsNone(self.build_question().peer)
        question = self.build_question(
            peer={"address": "fd00::1", "port": "2222"}
        )
        self.assertEqual({"address": "fd00::1", "port": 2222}, question.peer)
        with self.assertRaisesRegex(errors.VMPerfError, "peer.*address"):
            _ = self.build_question(peer={"adress": "a"}).peer
