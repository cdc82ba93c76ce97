# SPDX-License-Identifier: Apache-2.0
"""Tests of what a baseline must cover."""

import argparse
import contextlib
import io
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt
import yaml

from rally_vmperf import errors
from rally_vmperf.baseline import document
from rally_vmperf.cmd.baselines import coverage
from rally_vmperf.execution import protocols
from rally_vmperf.guests import errors as guest_errors
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

ROOT = pathlib.Path(__file__).parents[4]
SHAPE = ("--cpus", "1", "--memory", "64")


def subtask(**keys):
    """Return a subtask that compares guests with bare metal."""
    return {
        "title": "One",
        "scenario": {"VMPerf.overhead": {"workloads": [{"name": "mbw"}]}},
        "contexts": {"vmperf_guests@openstack": {"flavor": {"name": "small"}}},
        **keys,
    }


class Case(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = testing.FakeCloud()
        patch = mock.patch(
            "rally_vmperf.cmd.rally_api.connect",
            autospec=True,
            return_value=self.cloud,
        )
        patch.start()
        self.addCleanup(patch.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "task.yaml"

    def parse(self, *arguments):
        parser = argparse.ArgumentParser()
        coverage.add_arguments(parser)
        parser.set_defaults(config_file=os.devnull)
        return parser.parse_args(arguments)

    def read(self, *arguments):
        return coverage.read_coverages(self.parse(*arguments))

    def write(self, content):
        self.path.write_text(
            content if isinstance(content, str) else yaml.safe_dump(content)
        )

    def task(self, *arguments, **keys):
        """Return what is asked by a task of one subtask."""
        self.write({"version": 2, "title": "T", "subtasks": [subtask(**keys)]})
        return self.read("--task", str(self.path), *arguments)


@ddt.ddt
class TaskTest(Case):
    def test_everything(self):
        args = {"workloads": [{"name": "mbw"}], "warmup": 2}
        (covered,) = self.task(
            scenario={"VMPerf.overhead": args},
            runner={"serial": {"times": 7}},
            contexts={
                "vmperf_guests": {"flavor": {"name": "small"}, "count": 3}
            },
        ).coverages
        self.assertEqual((5, 2), (covered.repetitions, covered.warmup))
        self.assertEqual(document.Shape(2, 1024, 3), covered.shape)

    def test_the_study_fits_on_its_host(self):
        """Copies that are limited to a shape share eight cores."""
        for vcpus in (1, 2):
            self.cloud.compute.all_flavors.append(
                calls.Thing(
                    id=f"h{vcpus}",
                    name=f"hep.{vcpus}vcpu",
                    vcpus=vcpus,
                    ram=2048,
                    disk=20,
                    ephemeral=0,
                    swap=0,
                    extra_specs={},
                )
            )
        study = str(ROOT / "tasks" / "study-hep.yaml")
        peer = "peer: {address: 192.0.2.10, user: root}"
        request = self.read("--task", study, "--task-args", peer)
        self.assertEqual(
            {
                (document.Shape(1, 2048, 8), "guest"),
                (document.Shape(1, 2048, 1), "whole"),
                (document.Shape(2, 2048, 1), "whole"),
            },
            {
                (covered.shape, covered.protocol.shape)
                for covered in request.coverages
            },
        )

    def test_without_runner(self):
        """Rally then makes one repetition, one after the other."""
        (covered,) = self.task().coverages
        self.assertEqual((1, 0), (covered.repetitions, covered.warmup))

    @ddt.data({"name": "small"}, {"id": "f1"})
    def test_flavor(self, flavor):
        (covered,) = self.task(
            contexts={"vmperf_guests@openstack": {"flavor": flavor}}
        ).coverages
        self.assertEqual(document.Shape(2, 1024, 1), covered.shape)

    def test_options_go_first(self):
        (covered,) = self.task(
            *("--copies", "4", "--repetitions", "9", "--warmup", "0"), *SHAPE
        ).coverages
        self.assertEqual(document.Shape(1, 64, 4), covered.shape)
        self.assertEqual((9, 0), (covered.repetitions, covered.warmup))

    def test_protocol(self):
        """The task's, else what the options insist on."""
        args = {
            "workloads": [{"name": "mbw"}, {"name": "dd", "cooldown": 3}],
            "drop_caches": True,
        }
        keys = {"scenario": {"VMPerf.overhead": args}}
        (covered,) = self.task(*SHAPE, **keys).coverages
        self.assertEqual(
            [{"drop_caches": True}, {"drop_caches": True, "cooldown": 3}],
            [assignment.protocol() for assignment in covered.assignments],
        )
        (covered,) = self.task("--cooldown", "9.5", *SHAPE, **keys).coverages
        self.assertEqual(
            [9.5, 9.5],
            [assignment.cooldown for assignment in covered.assignments],
        )
        (covered,) = self.read(
            "--workload", "mbw", "--drop-caches", *SHAPE
        ).coverages
        self.assertEqual(
            [{"drop_caches": True}],
            [assignment.protocol() for assignment in covered.assignments],
        )

    def test_shape_and_reboots(self):
        """The task leaves bare metal whole; its user agrees to reboots."""
        args = {
            "workloads": [{"name": "mbw"}],
            "shape": "whole",
            "reboot": "between_repetitions",
        }
        keys = {"scenario": {"VMPerf.overhead": args}}
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "has reboot: between_repetitions; .* or --reboot never",
        ):
            self.task(*SHAPE, **keys)
        for reboot in ("never", "between_repetitions"):
            (covered,) = self.task(
                "--reboot", reboot, *SHAPE, **keys
            ).coverages
            self.assertEqual(
                (reboot, "whole"),
                (covered.protocol.reboot, covered.protocol.shape),
            )
        (covered,) = self.read("--workload", "mbw", *SHAPE).coverages
        self.assertEqual(protocols.DEFAULT, covered.protocol)

    def test_several_numbers_of_copies(self):
        """Each is covered, insisted on."""
        coverages = self.task("--copies", "1,2,4,2", *SHAPE).coverages
        self.assertEqual(
            [1, 2, 4], [covered.shape.copies for covered in coverages]
        )
        self.assertTrue(all(covered.required for covered in coverages))

    def test_levels_of_a_density_task(self):
        """Its levels are measured, as far as the machine goes."""
        args = {"workloads": [{"name": "mbw"}], "levels": {"doubling_to": 4}}
        keys = {
            "scenario": {"VMPerf.density": args},
            "contexts": {
                "vmperf_guests": {"flavor": {"name": "small"}, "count": 4}
            },
        }
        coverages = self.task(**keys).coverages
        self.assertEqual(
            [1, 2, 4], [covered.shape.copies for covered in coverages]
        )
        self.assertFalse(any(covered.required for covered in coverages))
        coverages = self.task("--copies", "2", **keys).coverages
        self.assertEqual([2], [covered.shape.copies for covered in coverages])
        self.assertTrue(coverages[0].required)

    def test_the_density_task_that_is_shipped(self):
        path = ROOT / "tasks" / "kvm-density.yaml"
        arguments = yaml.safe_dump({"flavors": ["small"]})
        request = self.read("--task", str(path), "--task-args", arguments)
        self.assertEqual(
            [1, 2, 3],
            [covered.shape.copies for covered in request.coverages],
        )

    def test_the_task_that_is_shipped(self):
        path = ROOT / "tasks" / "kvm-overhead.yaml"
        peer = {"address": "192.0.2.10"}
        request = self.read(
            *("--task", str(path), "--task-args"),
            yaml.safe_dump({"flavors": ["small"], "peer": peer}),
        )
        self.assertEqual(peer, request.peer)
        (covered,) = request.coverages
        self.assertEqual(5, len(covered.assignments))
        self.assertEqual((6, 1), (covered.repetitions, covered.warmup))
        sysbench, _, mbw, *_ = (
            assignment.arguments for assignment in covered.assignments
        )
        self.assertEqual((2, 2), (sysbench["threads"], mbw["processes"]))


@ddt.ddt
class RefusalTest(Case):
    """Impossible requests are rejected in one line, with their place."""

    def refused(self, error, pattern, call, *arguments, **keys):
        with self.assertRaisesRegex(error, pattern) as caught:
            call(*arguments, **keys)
        self.assertNotIn("\n", str(caught.exception))

    @ddt.data(
        ("", "has no scenario VMPerf.overhead"),
        ({"version": 2, "title": "T"}, "'subtasks' is a required property"),
        ({"version": 2, "title": "T", "subtasks": {}}, "an array"),
        (
            {"version": 2, "title": "T", "subtasks": [{"title": "One"}]},
            "task.yaml: ",
        ),
        ("[1]", "must be a mapping"),
        ("a: [", "not valid YAML: "),
        ("{% if %}", "task.yaml: "),
        ("a: {{ missing }}", "specify template task argument: missing"),
        (
            {
                "version": 2,
                "title": "T",
                "subtasks": [subtask(scenario={"Dummy.dummy": {}})],
            },
            "has no scenario VMPerf.overhead",
        ),
    )
    @ddt.unpack
    def test_task(self, content, pattern):
        self.write(content)
        self.refused(
            errors.VMPerfError,
            pattern,
            self.read,
            "--task",
            str(self.path),
        )

    @ddt.data(
        ({"scenario": {"VMPerf.overhead": {}}}, "'workloads' is a required"),
        (
            {"scenario": {"VMPerf.overhead": {"workloads": [{}]}}},
            r"workloads\[0\]: 'name' is a required",
        ),
        ({"runner": {"serial": {"times": "5"}}}, "runner.times: '5' is not"),
        (
            {"contexts": {"vmperf_guests": {"flavor": 1.5}}},
            "vmperf_guests.flavor: 1.5 is not",
        ),
        (
            {"sla": {"vmperf_overhead": {"max_percent": {"cpu.*": "5"}}}},
            "sla vmperf_overhead.max_percent.*: '5' is not of type 'number'",
        ),
        ({"contexts": {}}, "shape of the guests is missing: add --flavor"),
        (
            {"scenario": {"VMPerf.density": {"workloads": [{"name": "mbw"}]}}},
            "'levels' is a required property",
        ),
        (
            {
                "scenario": {
                    "VMPerf.overhead": {
                        "workloads": [{"name": "mbw"}],
                        "warmup": 3,
                    }
                },
                "runner": {"serial": {"times": 3}},
            },
            "warmup=3: must be less than 3",
        ),
    )
    @ddt.unpack
    def test_subtask(self, keys, pattern):
        self.refused(errors.VMPerfError, pattern, self.task, **keys)

    def test_arguments_of_the_task(self):
        self.write("a: 1")
        self.refused(
            errors.VMPerfError,
            "--task-args: 'flavor': must be a mapping",
            self.read,
            *("--task", str(self.path), "--task-args", "flavor"),
        )

    def test_flavor(self):
        self.refused(
            guest_errors.GuestError,
            "flavor 'large' does not exist; the project sees small",
            self.read,
            *("--workload", "mbw", "--flavor", "large"),
        )

    def test_flavors_of_one_name(self):
        twin = calls.Thing(id="f2", name="small", vcpus=1, ram=64)
        self.cloud.compute.all_flavors.append(twin)
        self.refused(
            guest_errors.GuestError, "select it by id: f1, f2", self.task
        )

    @ddt.data("--cpus", "--memory", "--copies", "--repetitions", "--warmup")
    def test_numbers(self, option):
        lowest = 0 if option == "--warmup" else 1
        self.parse("--workload", "mbw", option, str(lowest))
        for value in (str(lowest - 1), "1.5", "many"):
            stream = io.StringIO()
            with (
                contextlib.redirect_stderr(stream),
                self.assertRaises(SystemExit),
            ):
                self.parse("--workload", "mbw", f"{option}={value}")
            self.assertIn(
                f"argument {option}: '{value}': must be an integer "
                f">= {lowest}",
                stream.getvalue(),
            )


class OptionsTest(Case):
    def test_workloads(self):
        (covered,) = self.read(
            *("--workload", "mbw", "--workload", "bzip2"), *SHAPE
        ).coverages
        self.assertEqual((5, 1), (covered.repetitions, covered.warmup))
        self.assertEqual(document.Shape(1, 64, 1), covered.shape)
        self.assertEqual(2, len(covered.assignments))

    def test_flavors_of_one_shape_are_one(self):
        twin = calls.Thing(
            id="f2",
            name="twin",
            vcpus=2,
            ram=1024,
            disk=9,
            ephemeral=0,
            swap=0,
            extra_specs={},
        )
        self.cloud.compute.all_flavors.append(twin)
        request = self.read(
            *("--workload", "mbw", "--flavor", "small", "--flavor", "twin")
        )
        self.assertEqual(1, len(request.coverages))
