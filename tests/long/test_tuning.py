# SPDX-License-Identifier: Apache-2.0
"""The tasks that compare settings, with real guests."""

import os
import signal

import ddt
import yaml

from tests import patience
from tests.functional import laboratory
from tests.long import long
from tests.long import measuring

TASKS = laboratory.TOP / "tasks"
ANY_FINDING = {"vmperf_valid": measuring.ANY_FINDING}
#: Task -> variant -> the kind of finding and its detail, or None.
EXPECTED = {
    "nic-models": {
        "e1000": None,
        "virtio": None,
        "threads": (
            "variant_not_applied",
            "hw_cpu_threads=2 was requested, g3 has 1",
        ),
    },
    "disk-buses": {"ide": None, "scsi": None, "virtio": None},
    "cpu-pinning": {"shared": None, "numa": None, "dedicated": None},
}


def arguments(name, **changes):
    """Return the arguments of a task for the embedded cloud."""
    task_arguments = yaml.safe_load(
        (TASKS / f"{name}.embedded.yaml").read_text()
    )
    if "peer" in task_arguments:
        task_arguments["peer"] = laboratory.peer()
    options = {"ssh_timeout": round(patience.seconds(300))}
    return {**task_arguments, "guest_options": options, **changes}


@long.LONG
@ddt.ddt
class TestTuning(laboratory.Case):
    """Settings that took effect, and those that did not."""

    @ddt.data(*EXPECTED)
    def test_shipped_task(self, name):
        """Each variant is verified, or says why it is not."""
        lab = self.laboratory
        # Copies of images, which disk buses require, need no administrator.
        lab.use("member" if name == "disk-buses" else "admin")
        journals = lab.journals()
        process = lab.start(
            TASKS / f"{name}.yaml",
            **arguments(name, limits=ANY_FINDING),
        )
        expected = EXPECTED[name]
        self.check_ended(0, process)
        records = lab.records(self.new_journal(journals, process))
        self.assertEqual(3, len(records))
        for condition in records[-1].repetition.conditions:
            findings = [
                (finding.kind, finding.detail)
                for finding in condition.findings
                if finding.kind.startswith("variant_")
            ]
            expected_finding = expected[condition.axes["variant"]]
            if expected_finding is None:
                self.assertEqual([], findings)
                self.assertEqual("complete", condition.state)
                continue
            ((kind, detail),) = findings
            self.assertEqual(expected_finding[0], kind)
            self.assertIn(expected_finding[1], detail)
        if name == "cpu-pinning":
            self.assertEqual(
                {"shared": 0, "numa": 0, "dedicated": 1},
                {
                    machine["nova"]["group"]: sum(
                        len(node["cpu_pinning"] or ())
                        for node in machine["nova"]["topology"]["nodes"]
                    )
                    for machine in lab.machines(records[-1]).values()
                    if "group" in machine["nova"]
                },
            )

    def test_one_variant_after_another(self):
        """With quota for one guest, each condition has its own on one host."""
        lab = self.laboratory
        # As admin, Rally makes a project for the run, with quota of its own.
        lab.use("member")
        compute = lab.admin.compute
        project = lab.admin.identity.find_project("member").id
        limit = compute.get_quota_set(project).instances
        self.addCleanup(compute.update_quota_set, project, instances=limit)
        compute.update_quota_set(project, instances=1)
        journals = lab.journals()
        process = lab.start(
            TASKS / "disk-buses.yaml",
            **arguments(
                "disk-buses",
                repetitions=2,
                limits=ANY_FINDING,
            ),
        )
        self.check_ended(0, process)
        records = lab.records(self.new_journal(journals, process))
        machines = [
            machine for record in records for machine in record.machines
        ]
        self.assertEqual(6, len({machine.boot_id for machine in machines}))
        self.assertEqual(1, len({machine.host for machine in machines}))
        for record in records:
            measured = record.repetition
            self.assertEqual("complete", measured.state, measured.missing)

    def test_sigkill(self):
        """Copies and servers are removed within a minute."""
        lab = self.laboratory
        lab.use("admin")
        journals = lab.journals()
        task = TASKS / "nic-models.yaml"
        task_arguments = arguments("nic-models", repetitions=50)
        task_arguments["variants"][0]["extra_specs"] = {
            "hw:cpu_policy": "shared"
        }
        with lab.started(task, **task_arguments) as process:
            laboratory.wait_for(
                "a record",
                lambda: any(map(lab.records, lab.journals() - journals)),
                600,
            )
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        left = lab.count()
        for kind, number in (("servers", 3), ("images", 3), ("flavors", 1)):
            self.assertEqual(self.before[kind] + number, left[kind])
        lab.vmperf("cleanup", "--yes", check=True)
        self.assertEqual(self.before, lab.count())
