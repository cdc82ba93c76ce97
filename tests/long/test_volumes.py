# SPDX-License-Identifier: Apache-2.0
"""Volumes of guests: the limits of their types, and what a kill leaves."""

import os
import signal

from tests.cloud.state import settings
from tests.functional import breakage as d
from tests.functional import laboratory
from tests.functional import test_main_job
from tests.functional import test_promise
from tests.long import long
from tests.long import test_migration

PLAIN, LIMITED = "vmperf-plain", "vmperf-limited"
#: Operations per second that the type allows.
RATE = 200
#: A type that gets its limit late.
LATE = "vmperf-late"


class Case(test_promise.PromiseCase):
    """Random reads from a volume of a guest.

    Only administrators see the limits of volume types.
    """

    user = "admin"

    def setUp(self):
        """Skip a cloud without volumes."""
        if not settings.load(d.PLACE).volumes:
            self.skipTest(
                "the cloud has no volumes; to add them: python -m tests.cloud "
                "up --volumes"
            )
        super().setUp()

    def create_volume_arguments(self, volume_type):
        """Return the arguments of the main job with a volume of a type."""
        return self.create_arguments(
            "vmperf.tiny",
            fio={"target": "volume"},
            volumes=[{"size_gib": 1, "type": volume_type}],
        )

    def wait_for_volume(self, process, *states):
        """Wait until the run has a volume in one of the states."""
        cinder = self.laboratory.admin.block_storage

        def find():
            self.assertIsNone(process.poll(), process.log.read_text()[-3000:])
            volumes = cinder.volumes(all_projects=True)
            return [each for each in volumes if each.status in states]

        laboratory.wait_for(f"volume that is {' or '.join(states)}", find, 600)
        return find()[0]

    def wait_for_server(self, process):
        """Wait until the guest of the run is active; return its server."""
        compute = self.laboratory.admin.compute

        def find():
            self.assertIsNone(process.poll(), process.log.read_text()[-3000:])
            return list(compute.servers(all_projects=True, status="ACTIVE"))

        laboratory.wait_for("server", find, 600)
        return find()[0]


@long.LONG
class TestVolumePromise(Case):
    """The SLA vmperf_promise on the limits of volume types."""

    def check_not_enforced(self, verdict, records):
        """Fail unless the verdict has the rate of the type as exceeded."""
        self.assertFalse(verdict["success"], verdict["detail"])
        self.assertRegex(verdict["detail"], "^failed: ")
        self.assertRegex(verdict["detail"], r"disk\.fio\.randread\.iops")
        for record in records:
            (iops,) = (
                observation.sample.value
                for observation in record.repetition.condition.observations
                if observation.sample.metric.name == "disk.fio.randread.iops"
            )
            self.assertGreater(iops, 1.1 * RATE)

    def test_limit(self):
        """QEMU enforces the limit of the type, and the guest reaches it."""
        verdict, records = self.find_verdict(
            self.create_volume_arguments(LIMITED)
        )
        self.assertTrue(verdict["success"], verdict["detail"])
        limits = [
            cap for cap in records[0].repetition.rate_limits if not cap.shared
        ]
        self.assertEqual(
            [("ops/s", RATE, "total")],
            [(cap.unit, cap.rate, cap.direction) for cap in limits],
        )
        self.assertIn(LIMITED, limits[0].name)

    def test_no_limit(self):
        """A type without QoS specifications promises no rate."""
        verdict, records = self.find_verdict(
            self.create_volume_arguments(PLAIN)
        )
        self.assertTrue(verdict["success"], verdict["detail"])
        self.assertIn("promise no rate", verdict["detail"])
        for cap in records[0].repetition.rate_limits:
            self.assertTrue(cap.shared, cap)

    def test_limit_removed_from_the_guest(self):
        """Cinder still promises what QEMU no longer enforces."""

        def remove(process):
            server = self.wait_for_server(process)
            disks = test_migration.virsh(server, "domblklist").splitlines()
            (disk,) = (
                line.split()[0] for line in disks if "volumes/volume-" in line
            )
            test_migration.virsh(
                *(server, "blkdeviotune", disk),
                *("--total-iops-sec", "0", "--live"),
            )

        self.check_not_enforced(
            *self.find_verdict(self.create_volume_arguments(LIMITED), remove)
        )

    def test_limit_after_the_attachment(self):
        """QoS specifications apply to attachments that come later."""
        cinder = self.laboratory.admin.block_storage
        volume_type = cinder.create_type(name=LATE)
        self.addCleanup(cinder.delete_type, volume_type)
        specs = cinder.create_qos_spec(
            name=LATE, consumer="front-end", total_iops_sec=str(RATE)
        )
        self.addCleanup(cinder.delete_qos_spec, specs)
        self.addCleanup(cinder.disassociate_all_qos_spec, specs)

        def associate(process):
            self.wait_for_volume(process, "in-use")
            cinder.associate_qos_spec(specs, volume_type.id)

        self.check_not_enforced(
            *self.find_verdict(self.create_volume_arguments(LATE), associate)
        )


@long.LONG
class TestKill(Case):
    """A run that is killed leaves volumes, and a command removes them."""

    def check_cleanup(self, *states):
        """Kill a run that has a volume in one of the states; clean up."""
        lab = self.laboratory
        arguments = self.create_volume_arguments(PLAIN)
        with lab.started(test_main_job.TASK, **arguments) as process:
            self.wait_for_volume(process, *states)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.assertGreater(lab.count()["volumes"], self.before["volumes"])
        lab.vmperf("cleanup", "--yes", check=True)
        laboratory.wait_for(
            "end of guests and volumes",
            lambda: lab.count() == self.before,
            120,
        )

    def test_before_the_boot(self):
        self.check_cleanup("creating", "available", "reserved")

    def test_attached(self):
        self.check_cleanup("in-use")
