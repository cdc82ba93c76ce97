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

from rally_vmperf.baseline import document
from rally_vmperf.cmd.baselines import coverage
from rally_vmperf.execution import protocols
from rally_vmperf.guests import errors
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

ROOT = pathlib.Path(__file__).parents[4]
SHAPE = ("--cpus", "1", "--memory", "64")


def subtask(**given):
    """Return a subtask that compares guests with bare metal."""
    return {
        "title": "One",
        "scenario": {"VMPerf.overhead": {"workloads": [{"name": "mbw"}]}},
        "contexts": {"vmperf_guests@openstack": {"flavor": {"name": "small"}}},
        **given,
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

    def parse(self, *words):
        parser = argparse.ArgumentParser()
        coverage.add_arguments(parser)
        parser.set_defaults(config_file=os.devnull)
        return parser.parse_args(words)

    def read(self, *words):
        return coverage.read_coverages(self.parse(*words))

    def write(self, content):
        self.path.write_text(
            content if isinstance(content, str) else yaml.safe_dump(content)
        )

    def task(self, *words, **given):
        """Return what is asked by a task of one subtask."""
        self.write(
            {"version": 2, "title": "T", "subtasks": [subtask(**given)]}
        )
        return self.read("--task", str(self.path), *words)


@ddt.ddt
class TaskTest(Case):
    def test_everything(self):
        args = {"workloads": [{"name": "mbw"}], "warmup": 2}
        (one,) = self.task(
            scenario={"VMPerf.overhead": args},
            runner={"serial": {"times": 7}},
            contexts={
                "vmperf_guests": {"flavor": {"name": "small"}, "count": 3}
            },
        ).coverages
        self.assertEqual((5, 2), (one.repetitions, one.warmup))
        self.assertEqual(document.Shape(2, 1024, 3), one.shape)

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
                    extra_specs={},
                )
            )
        study = str(ROOT / "tasks" / "study-hep.yaml")
        peer = "peer: {address: 192.0.2.10, user: root}"
        asked = self.read("--task", study, "--task-args", peer)
        self.assertEqual(
            {
                (document.Shape(1, 2048, 8), "guest"),
                (document.Shape(1, 2048, 1), "whole"),
                (document.Shape(2, 2048, 1), "whole"),
            },
            {(one.shape, one.protocol.shape) for one in asked.coverages},
        )

    def test_without_runner(self):
        """Rally then makes one repetition, one after the other."""
        (one,) = self.task().coverages
        self.assertEqual((1, 0), (one.repetitions, one.warmup))

    @ddt.data({"name": "small"}, {"id": "f1"})
    def test_flavor(self, flavor):
        (one,) = self.task(
            contexts={"vmperf_guests@openstack": {"flavor": flavor}}
        ).coverages
        self.assertEqual(document.Shape(2, 1024, 1), one.shape)

    def test_options_go_first(self):
        (one,) = self.task(
            *("--copies", "4", "--repetitions", "9", "--warmup", "0"), *SHAPE
        ).coverages
        self.assertEqual(document.Shape(1, 64, 4), one.shape)
        self.assertEqual((9, 0), (one.repetitions, one.warmup))

    def test_protocol(self):
        """The task's, else what the options insist on."""
        args = {
            "workloads": [{"name": "mbw"}, {"name": "dd", "cooldown": 3}],
            "drop_caches": True,
        }
        given = {"scenario": {"VMPerf.overhead": args}}
        (asked,) = self.task(*SHAPE, **given).coverages
        self.assertEqual(
            [{"drop_caches": True}, {"drop_caches": True, "cooldown": 3}],
            [one.protocol() for one in asked.assignments],
        )
        (asked,) = self.task("--cooldown", "9.5", *SHAPE, **given).coverages
        self.assertEqual(
            [9.5, 9.5], [one.cooldown for one in asked.assignments]
        )
        (asked,) = self.read(
            "--workload", "mbw", "--drop-caches", *SHAPE
        ).coverages
        self.assertEqual(
            [{"drop_caches": True}],
            [one.protocol() for one in asked.assignments],
        )

    def test_shape_and_reboots(self):
        """The task leaves bare metal whole; its user agrees to reboots."""
        args = {
            "workloads": [{"name": "mbw"}],
            "shape": "whole",
            "reboot": "between_repetitions",
        }
        given = {"scenario": {"VMPerf.overhead": args}}
        with self.assertRaisesRegex(
            document.BaselineError,
            "has reboot: between_repetitions; .* or --reboot never",
        ):
            self.task(*SHAPE, **given)
        for reboot in ("never", "between_repetitions"):
            (one,) = self.task("--reboot", reboot, *SHAPE, **given).coverages
            self.assertEqual(
                (reboot, "whole"), (one.protocol.reboot, one.protocol.shape)
            )
        (one,) = self.read("--workload", "mbw", *SHAPE).coverages
        self.assertEqual(protocols.DEFAULT, one.protocol)

    def test_several_numbers_of_copies(self):
        """Each is covered, insisted on."""
        asked = self.task("--copies", "1,2,4,2", *SHAPE).coverages
        self.assertEqual([1, 2, 4], [one.shape.copies for one in asked])
        self.assertTrue(all(one.required for one in asked))

    def test_levels_of_a_density_task(self):
        """Its levels are measured, as far as the machine goes."""
        args = {"workloads": [{"name": "mbw"}], "levels": {"doubling_to": 4}}
        given = {
            "scenario": {"VMPerf.density": args},
            "contexts": {
                "vmperf_guests": {"flavor": {"name": "small"}, "count": 4}
            },
        }
        asked = self.task(**given).coverages
        self.assertEqual([1, 2, 4], [one.shape.copies for one in asked])
        self.assertFalse(any(one.required for one in asked))
        asked = self.task("--copies", "2", **given).coverages
        self.assertEqual([2], [one.shape.copies for one in asked])
        self.assertTrue(asked[0].required)

    def test_the_density_task_that_is_shipped(self):
        path = ROOT / "tasks" / "kvm-density.yaml"
        arguments = yaml.safe_dump({"flavors": ["small"]})
        asked = self.read("--task", str(path), "--task-args", arguments)
        self.assertEqual(
            [1, 2, 3], [one.shape.copies for one in asked.coverages]
        )

    def test_the_task_that_is_shipped(self):
        path = ROOT / "tasks" / "kvm-overhead.yaml"
        peer = {"address": "192.0.2.10"}
        asked = self.read(
            *("--task", str(path), "--task-args"),
            yaml.safe_dump({"flavors": ["small"], "peer": peer}),
        )
        self.assertEqual(peer, asked.peer)
        (one,) = asked.coverages
        self.assertEqual(5, len(one.assignments))
        self.assertEqual((6, 1), (one.repetitions, one.warmup))
        sysbench, _, mbw, *_ = (one.arguments for one in one.assignments)
        self.assertEqual((2, 2), (sysbench["threads"], mbw["processes"]))


@ddt.ddt
class RefusalTest(Case):
    """What cannot be is told in one line, with its place."""

    def refused(self, error, pattern, call, *words, **given):
        with self.assertRaisesRegex(error, pattern) as caught:
            call(*words, **given)
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
            document.BaselineError,
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
            {"contexts": {"vmperf_guests": {"flavor": "small"}}},
            "vmperf_guests.flavor: 'small' is not",
        ),
        (
            {"sla": {"vmperf_overhead": {"max_percent": {"cpu.*": "5"}}}},
            "sla vmperf_overhead.max_percent.*: '5' is not of type 'number'",
        ),
        ({"contexts": {}}, "shape of the guests is missing: add --flavor"),
        (
            {"scenario": {"VMPerf.density": {"workloads": [{"name": "mbw"}]}}},
            "levels=None: must be a list",
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
    def test_subtask(self, given, pattern):
        self.refused(document.BaselineError, pattern, self.task, **given)

    def test_arguments_of_the_task(self):
        self.write("a: 1")
        self.refused(
            document.BaselineError,
            "--task-args: 'flavor': must be a mapping",
            self.read,
            *("--task", str(self.path), "--task-args", "flavor"),
        )

    def test_flavor(self):
        self.refused(
            errors.GuestError,
            "flavor 'large' does not exist; the project sees small",
            self.read,
            *("--workload", "mbw", "--flavor", "large"),
        )

    def test_flavors_of_one_name(self):
        twin = calls.Thing(id="f2", name="small", vcpus=1, ram=64)
        self.cloud.compute.all_flavors.append(twin)
        self.refused(errors.GuestError, "select it by id: f1, f2", self.task)

    @ddt.data("--cpus", "--memory", "--copies", "--repetitions", "--warmup")
    def test_numbers(self, option):
        lowest = 0 if option == "--warmup" else 1
        self.parse("--workload", "mbw", option, str(lowest))
        for value in (str(lowest - 1), "1.5", "many"):
            said = io.StringIO()
            with (
                contextlib.redirect_stderr(said),
                self.assertRaises(SystemExit),
            ):
                self.parse("--workload", "mbw", f"{option}={value}")
            self.assertIn(
                f"argument {option}: '{value}': must be an integer "
                f">= {lowest}",
                said.getvalue(),
            )


class OptionsTest(Case):
    def test_workloads(self):
        (one,) = self.read(
            *("--workload", "mbw", "--workload", "bzip2"), *SHAPE
        ).coverages
        self.assertEqual((5, 1), (one.repetitions, one.warmup))
        self.assertEqual(document.Shape(1, 64, 1), one.shape)
        self.assertEqual(2, len(one.assignments))

    def test_flavors_of_one_shape_are_one(self):
        twin = calls.Thing(
            id="f2", name="twin", vcpus=2, ram=1024, disk=9, extra_specs={}
        )
        self.cloud.compute.all_flavors.append(twin)
        asked = self.read(
            *("--workload", "mbw", "--flavor", "small", "--flavor", "twin")
        )
        self.assertEqual(1, len(asked.coverages))
