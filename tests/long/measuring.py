# SPDX-License-Identifier: Apache-2.0
"""Tasks that run in small on the embedded cloud, whatever the verdict."""

import fnmatch
import json
import os
import pathlib

import jinja2
import yaml

from rally_vmperf.baseline import store
from rally_vmperf.image import packages
from rally_vmperf.measurement import finding
from rally_vmperf.workloads import registry
from tests import patience
from tests import policy
from tests.functional import laboratory

#: Tarball of UnixBench's source, which no registry of packages has.
UNIXBENCH = os.environ.get("VMPERF_UNIXBENCH", "")
#: Image with the tools of all other workloads.
IMAGE = "vmperf-workloads"
#: Workloads whose tools are in no package of Debian's main part.
NOT_HAD = {"hepscore", "hepspec06", "iozone", "unixbench"} - (
    {"unixbench"} if UNIXBENCH else set()
)
#: The SLA on findings that tolerates all of them.
ANY_FINDING = {"tolerate": sorted(finding.KINDS)}


def render(path, arguments):
    """Return the task that is in a file."""
    environment = jinja2.Environment(autoescape=False)
    text = path.read_text()
    return yaml.safe_load(environment.from_string(text).render(arguments))


def workloads(task):
    """Return the workloads of a task, as its subtasks name them."""
    return [
        entry
        for subtask in task["subtasks"]
        for arguments in subtask["scenario"].values()
        for entry in arguments["workloads"]
    ]


def baselines(task):
    """Return the names of the baselines that a task compares with."""
    references = [
        store.parse_reference(subtask["contexts"].get("vmperf_baseline"))
        for subtask in task["subtasks"]
    ]
    return {reference["name"] for reference in references if reference}


def patterns(task):
    """Return the patterns of metrics that a task has limits for."""
    return {
        pattern
        for subtask in task["subtasks"]
        for name, criterion in subtask["sla"].items()
        if name.startswith("vmperf_") and isinstance(criterion, dict)
        for of_metrics in criterion.values()
        if isinstance(of_metrics, dict)
        for pattern in of_metrics
    }


def sampled(condition):
    """Return the metrics of which a machine has a sample."""
    return {
        observation.sample.metric for observation in condition.observations
    }


class MeasuringCase(laboratory.Case):
    """Each metric is measured on both sides and judged, and nothing is left.

    The verdicts depend on the machine; they are in verdicts.txt in the
    laboratory's folder.
    """

    @classmethod
    def setUpClass(cls):
        """Upload an image with the tools of all workloads."""
        super().setUpClass()
        lab = laboratory.laboratory()
        path = lab.folder / f"{IMAGE}.qcow2"
        if not path.exists():
            names = set(registry.workload_names()) - NOT_HAD
            lab.plain_vmperf(
                *("image", "build", "--output", str(path)),
                *("--workloads", ",".join(sorted(names))),
                check=True,
                timeout=3600,
            )
        image = lab.admin.create_image(
            IMAGE,
            filename=str(path),
            wait=True,
            disk_format="qcow2",
            container_format="bare",
            visibility="public",
            hw_rng_model="virtio",
        )
        cls.addClassCleanup(lab.admin.delete_image, image.id, wait=True)

    def setUp(self):
        """Be a plain member of a project."""
        super().setUp()
        self.laboratory.use("member")

    def measure(self, path, **arguments):
        """Record the baseline of a task, run it and return its records."""
        if "guest_options" in pathlib.Path(path).read_text():
            # Emulated guests boot for minutes if other programs work, too.
            patient = {"ssh_timeout": round(patience.seconds(600))}
            arguments.setdefault("guest_options", patient)
        task = render(path, arguments)
        self._install({entry["name"] for entry in workloads(task)})
        lab = self.laboratory
        subtasks = task["subtasks"]
        for name in baselines(task):
            options = ("--task-args", json.dumps(arguments))
            lab.record_baseline(name, "--task", str(path), *options)
        before = lab.journals()
        process = lab.start(path, **arguments)
        new = lab.journals() - before
        self.assertEqual(
            len(subtasks), len(new), laboratory.problem_lines(process)
        )
        records = [
            record for path in sorted(new) for record in lab.records(path)
        ]
        times = [subtask["runner"]["serial"]["times"] for subtask in subtasks]
        self.assertEqual(
            ["complete"] * sum(times),
            [record.repetition.state for record in records],
            laboratory.problem_lines(process),
        )
        for record in records:
            expected = set(record.repetition.expected_metrics)
            for condition in record.repetition.conditions:
                self.assertLessEqual(expected, sampled(condition))
        if any(
            subtask["sla"].keys() - {"failure_rate"} for subtask in subtasks
        ):
            self._judge(task, records)
        return records

    def _install(self, names):
        """Have the tools of bare metal, which is here; the peer has them."""
        if names & NOT_HAD:
            missing = ", ".join(sorted(names & NOT_HAD))
            self.skipTest(f"no package has the tools of: {missing}")
        log = self.laboratory.folder / "apt.log"
        with policy.nothing_started():
            packages.install(registry.debian_packages(names), log)

    def _judge(self, task, records):
        """Check that each metric with a limit is in the verdict."""
        lab = self.laboratory
        process = lab.vmperf("judge")
        self.assertIn(
            process.returncode, (0, 2), laboratory.problem_lines(process)
        )
        with open(lab.folder / "verdicts.txt", "a") as stream:
            stream.write(f"{task['title']}:\n{process.stdout}\n")
        wanted_patterns = patterns(task) or {"*"}
        limited = {
            metric.name
            for record in records
            # The limits of a migration have names of their own.
            if "phase" not in record.repetition.conditions[-1].axes
            # Where requests are enough, percentiles come beside the expected.
            for metric in sampled(record.repetition.conditions[-1])
            if metric.scale == "ratio"
            and any(
                fnmatch.fnmatchcase(metric.name, pattern)
                for pattern in wanted_patterns
            )
        }
        self.assertNotEqual(set(), limited)
        for metric in limited:
            self.assertIn(metric, process.stdout)
