"""Tests of what tempest.conf asks for."""

import dataclasses
import json
import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf.baseline import store
from rally_vmperf.tempest_plugin import tasks
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

    def asked(self, question="overhead", **values):
        given = {
            "limits_file": self.limits,
            "workloads_file": self.workloads,
            "baseline_dir": self.folder,
        }
        return configured.asked(question, **given | values)

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
    def test_tests_without_limits_are_skipped(self, name, values, words):
        reason = self.asked(name, **self.written(values)).skip_reason()
        self.assertRegex(reason, words)
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
    def test_limits_that_cannot_be_tested(self, name, values, words):
        """An error names the option, in one line."""
        asked = self.asked(name, **self.written(values))
        with self.assertRaisesRegex(
            tasks.CONFIGURATION_ERRORS,
            rf"^\[vmperf\] {words}.*, because .* has limits in .*; set the "
            "option, or remove these limits$",
        ):
            asked.skip_reason()

    def test_limits_on_values(self):
        """They need no baseline; a task has those of its metrics."""
        path = configured.write(self.folder, "values", FILES["values"])
        asked = self.asked(limits_file=path)
        self.assertEqual("", asked.skip_reason())
        asked.check_limits()
        cpu = asked.build_task(asked.workloads_of("cpu"), 1, {}, {})
        self.assertEqual(
            {"vmperf_overhead": {"min": {"cpu.*.rate": 5}}}, cpu.criteria
        )
        self.assertNotIn("vmperf_baseline", cpu.contexts)
        self.assertIsNone(asked.baseline)

    def test_network_workloads_without_limits(self):
        """They need no peer: nothing tests them."""
        path = configured.write(self.folder, "mixed", FILES["mixed"])
        asked = self.asked("density", workloads_file=path)
        self.assertEqual("", asked.skip_reason())

    def test_nothing_is_lacking(self):
        self.assertEqual("", self.asked(baseline="metal").skip_reason())
        self.assertEqual("", self.asked("density").skip_reason())

    def test_the_baseline_of_a_class(self):
        """It stands in the place of a name, and not beside one."""
        registry = store.Store(pathlib.Path(self.folder))
        recorded = whole.baseline(self.folder)
        registry.save(dataclasses.replace(recorded, machine_class="r740"))
        asked = self.asked(baseline_class="r740", workloads_file=None)
        self.assertEqual("", asked.skip_reason())
        (one,) = asked.workloads
        found = asked.build_task([one], 1, {}, {})
        self.assertEqual({"class": "r740"}, found.contexts["vmperf_baseline"])
        both = self.asked(baseline="metal", baseline_class="r740")
        with self.assertRaisesRegex(
            tasks.CONFIGURATION_ERRORS, "remove one of them"
        ):
            both.skip_reason()

    def test_workloads_by_part(self):
        asked = self.asked()
        self.assertEqual(WORKLOADS[:1], asked.workloads_of("cpu"))
        self.assertEqual(WORKLOADS[1:], asked.workloads_of("memory"))
        self.assertEqual([], asked.workloads_of("network"))

    def test_workloads_of_the_baseline(self):
        self.register()
        asked = self.asked(baseline="metal", workloads_file=None)
        (one,) = asked.workloads
        self.assertEqual("sysbench", one["name"])
        self.assertEqual(2, one["arguments"]["time"])

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
        asked = self.asked(baseline="metal", workloads_file=None)
        (one,) = asked.workloads
        self.assertEqual("vcpus", one["arguments"]["threads"])
        asked.build_task([one], 1, {}, {})

    def test_task_of_one_part(self):
        """Limits of other parts are left out, with what belongs to them."""
        self.register()
        asked = self.asked(
            baseline="metal", repetitions=4, warmup=2, install=False
        )
        found = asked.build_task(asked.workloads_of("cpu"), 1, {}, {})
        self.assertEqual(6, found.times)
        self.assertEqual(2, found.warmup)
        self.assertEqual(
            {
                "vmperf_overhead": {
                    "max_percent": {"cpu.*": 5},
                    "confidence": 0.9,
                }
            },
            found.criteria,
        )
        guests = found.guests
        self.assertEqual({"id": "i1"}, guests["image"])
        self.assertEqual({"id": "f1"}, guests["flavor"])
        self.assertEqual("floating", guests["address"])
        self.assertIs(False, guests["install"])
        json.dumps(guests)

    def test_findings_without_the_limits_of_another_part(self):
        """A physical limit of the disk is omitted, and the rest applies."""
        self.register()
        valid = {"tolerate": ["steal_time"], "physical_limit": {"disk.*": 9e8}}
        for given in (valid, {"tolerate": ["steal_time"]}):
            limits = {**LIMITS, "vmperf_valid": given}
            limits = configured.write(self.folder, "valid.yaml", limits)
            asked = self.asked(baseline="metal", limits_file=limits)
            found = asked.build_task(asked.workloads_of("cpu"), 1, {}, {})
            self.assertEqual(
                {"tolerate": ["steal_time"]}, found.criteria["vmperf_valid"]
            )

    def test_image_and_flavor_of_our_own(self):
        self.register()
        asked = self.asked(baseline="metal", image_ref="i2", flavor_ref="f2")
        guests = asked.build_task(asked.workloads_of("cpu"), 1, {}, {}).guests
        self.assertEqual({"id": "i2"}, guests["image"])
        self.assertEqual({"id": "f2"}, guests["flavor"])

    def test_a_workload_that_the_baseline_lacks_is_refused(self):
        self.register()
        asked = self.asked(baseline="metal")
        with self.assertRaisesRegex(
            tasks.CONFIGURATION_ERRORS, "no workload 'mbw'"
        ):
            asked.build_task(asked.workloads_of("memory"), 1, {}, {})

    def test_slas_that_do_not_apply_are_skipped(self):
        """No guest of Tempest has neighbours."""
        others = {
            "vmperf_neighbours": {"max_percent": {"cpu.*": 5}},
            "vmperf_degradation": {"max_percent": {"cpu.*": 5}},
        }
        path = configured.write(self.folder, "all.yaml", {**LIMITS, **others})
        self.register()
        asked = self.asked(limits_file=path, baseline="metal")
        found = asked.build_task(asked.workloads_of("cpu"), 1, {}, {})
        self.assertEqual(["vmperf_overhead"], list(found.criteria))

    def test_a_limit_that_matches_nothing_is_refused(self):
        path = configured.write(
            self.folder,
            "typo.yaml",
            {"vmperf_overhead": {"max_percent": {"cqu.*": 5}}},
        )
        asked = self.asked(limits_file=path)
        with self.assertRaisesRegex(
            tasks.CONFIGURATION_ERRORS, "'cqu.*' matches no"
        ):
            asked.check_limits()
        self.asked().check_limits()

    @ddt.data(
        ("a: b: c", "not valid YAML"),
        ("vmperf_overhead: {max_percents: {a: 1}}", "max_percents"),
        ("vmperf_overhead: {max_percent: {a: b}}", "is not of type 'number'"),
    )
    @ddt.unpack
    def test_a_broken_file_of_limits_is_refused(self, text, words):
        path = pathlib.Path(self.folder, "broken.yaml")
        path.write_text(text)
        asked = self.asked(limits_file=str(path), baseline="metal")
        with self.assertRaisesRegex(
            tasks.CONFIGURATION_ERRORS, words
        ) as caught:
            asked.skip_reason()
        self.assertNotIn("\n", str(caught.exception))

    def test_peer(self):
        self.assertIsNone(self.asked().peer)
        asked = self.asked(peer={"address": "fd00::1", "port": "2222"})
        self.assertEqual({"address": "fd00::1", "port": 2222}, asked.peer)
        with self.assertRaisesRegex(
            tasks.CONFIGURATION_ERRORS, "peer.*address"
        ):
            _ = self.asked(peer={"adress": "a"}).peer
