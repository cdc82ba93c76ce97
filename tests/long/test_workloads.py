# SPDX-License-Identifier: Apache-2.0
"""Every workload and every scenario file, in guests of the embedded cloud."""

import json
import pathlib

import ddt

from rally_vmperf.baseline import store
from rally_vmperf.image import guest_image
from rally_vmperf.workloads import registry
from tests.functional import laboratory
from tests.long import long
from tests.long import measuring
from tests.unit import listing

TASK = pathlib.Path(__file__).parent / "tasks" / "workloads.yaml"
SCENARIOS = sorted((laboratory.TOP / "scenarios").glob("*.yaml"))
#: Small, for emulated guests; the guest image's own run in the main job.
BROUGHT = {
    "cp": {"files": 20, "file_kib": 16},
    "dd": {"count": 8, "directions": ["write", "read"]},
    "h2load": {"users": 10, "think_time": 0.5, "time": 2},
    "iperf2": {"time": 1},
    "job": {
        "command": ["python3", "-c", "sum(range(10**5))"],
        "expected_seconds": 1,
    },
    "openssl": {"time": 1},
    "ping": {"count": 5},
    "sockperf": {"time": 2},
    "sysbench_memory": {"time": 1, "block_kib": 1024},
    "wget": {"protocols": ["http", "ftp"], "size_mib": 8},
}
#: Arguments of the guest image's own workloads, small.
OWN = {
    "bzip2": {"size_mib": 1},
    "fio": {"size_mib": 16, "runtime": 1, "ramp_time": 0},
    "iperf3": {"time": 1},
    "stream": {"size_mib": 16, "runs": 3},
    "mbw": {"size_mib": 16, "runs": 3},
    "sysbench": {"time": 1},
}
#: Arguments of those that an operator brings the tools of, small.
OPERATORS = {
    "unixbench": {
        "tests": ["dhry2reg", "whetstone-double", "syscall"],
        "source": measuring.UNIXBENCH,
    },
}
SMALL = BROUGHT | OWN | OPERATORS
#: Arguments in place of those of one that brings a file, small.
OF_FILES = {"size_mib": 256, "runtime": 1, "ramp_time": 0}
#: Arguments of the entries that have a label, small.
LABELLED = {"large": {"files": 2, "file_kib": 4096}}
#: Guests of a scenario with work between guests, and of a curve.
COUNT = 2
WORKLOADS = [
    {"name": name, "arguments": arguments}
    for name, arguments in BROUGHT.items()
]


@long.LONG
class TestWorkloads(measuring.MeasuringCase):
    """Each workload runs in one guest and is judged."""

    def test_each_workload_runs_on_both_sides(self):
        """Each metric has samples of both sides, and a row of a verdict."""
        (record,) = self.measure(
            TASK,
            workloads=WORKLOADS,
            peer=laboratory.peer(),
            image=measuring.IMAGE,
        )
        expected = {
            metric.name
            for name, arguments in BROUGHT.items()
            for workload in [registry.get_workload(name)]
            for metric in workload.metrics(workload.complete(arguments))
            if not metric.optional
        }
        measured = {
            metric.name for metric in record.repetition.expected_metrics
        }
        self.assertLessEqual(expected, measured)
        content = store.Store(self.laboratory.folder / "baselines").load(
            "workloads"
        )
        recorded = {
            metric.name
            for entry in content.entries
            for metric in entry.collect_values()
        }
        self.assertLessEqual(expected, recorded)

    def test_none_is_left_out(self):
        """A workload without a run here or in the main job has no package."""
        run = {*BROUGHT, *OPERATORS, *guest_image.WORKLOADS}
        measured = {
            name
            for name in registry.workload_names()
            for workload in [registry.get_workload(name)]
            if type(workload).__module__.startswith("rally_vmperf.")
            and workload.metrics(workload.complete({}))
        }
        listing.check(
            self,
            run - measuring.NOT_HAD,
            measured - measuring.NOT_HAD,
            "BROUGHT in tests/long/test_workloads.py",
            "add it with small arguments",
        )


@long.LONG
@ddt.ddt
class TestScenarios(measuring.MeasuringCase):
    """With any verdict, all that a scenario asks for is measured."""

    @ddt.data(*(path.stem for path in SCENARIOS))
    def test_measures(self, name):
        """Records are complete, and each metric is in them."""
        path = self.laboratory.folder / f"{name}.json"
        path.write_text(json.dumps(self._small(name)))
        self.measure(path)

    def _small(self, name):
        """Return the task of a file, with small sizes and one repetition."""
        overhead = name.startswith("overhead-")
        task = measuring.render(
            laboratory.TOP / "scenarios" / f"{name}.yaml",
            {
                "baseline": name if overhead else "",
                "flavor": "vmperf.tiny",
                "network": "public",
                "peer": laboratory.peer(),
                "job_file": str(laboratory.TOP / "scenarios" / "database.fio"),
            },
        )
        (subtask,) = task["subtasks"]
        subtask["runner"] = {"serial": {"times": 1}}
        guests = subtask["contexts"]["vmperf_guests@openstack"]
        guests["image"] = {"name": measuring.IMAGE}
        # The new image may have later packages than this machine.
        if overhead and (limits := subtask["sla"].get("vmperf_overhead")):
            limits.setdefault("tolerate", []).append("tool_version_differs")
        (arguments,) = subtask["scenario"].values()
        if not overhead:
            beside = arguments.get("neighbours", {}).get("guests", 0)
            arguments |= {"levels": [1, COUNT], "warmup": 0}
            guests["count"] = COUNT + beside
        for entry in arguments["workloads"]:
            workload_arguments = entry.setdefault("arguments", {})
            small = SMALL.get(entry["name"], {})
            workload_arguments |= (
                OF_FILES if "job_file" in workload_arguments else small
            )
            workload_arguments |= LABELLED.get(entry.get("label"), {})
            if (
                workload_arguments.get("protocol") == "udp"
                and entry["name"] == "iperf3"
            ):
                workload_arguments["bitrate"] = 10**7
            if "guest_to_guest" in workload_arguments.get("directions", ()):
                guests["count"] = COUNT
        return task

    def test_no_workload_without_a_file(self):
        """Each workload of the product has a scenario file of its own."""
        names = {path.stem.partition("-")[2] for path in SCENARIOS}
        self.assertLessEqual(set(registry.workload_names()), names)
