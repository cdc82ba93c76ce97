# SPDX-License-Identifier: Apache-2.0
"""Events of a guest, on the embedded cloud, and what a kill leaves behind."""

import os
import re
import signal
import time

import yaml

from rally_vmperf.measurement.event import figures
from tests import patience
from tests.cloud.state import settings
from tests.functional import breakage as d
from tests.functional import laboratory
from tests.functional import recovering
from tests.long import long
from tests.long import measuring
from tests.long import test_migration

TASK = laboratory.TOP / "tasks" / "event.yaml"
REPETITIONS = 3
#: A flavor to which guests are resized.
LARGER = "vmperf.larger"
#: The seconds in which a command loads the disk of the host.
BUSY = 20
#: The findings that an event must not cause.
UNEXPECTED = {
    "guest_host_changed",
    "guest_rebooted",
    "event_not_completed",
    "guest_unavailable",
}


class Case(laboratory.Case):
    """A guest with fio, to which an event happens."""

    def setUp(self):
        """Note the resources of the cloud; add a flavor."""
        super().setUp()
        lab = self.laboratory
        lab.use("admin")
        compute = lab.admin.compute
        small = compute.find_flavor("vmperf.tiny", ignore_missing=False)
        larger = compute.create_flavor(
            name=LARGER,
            vcpus=small.vcpus,
            ram=small.ram + 128,
            disk=small.disk,
        )
        self.addCleanup(compute.delete_flavor, larger)
        resources = test_migration.list_resources(lab.admin)
        self.addCleanup(
            lambda: self.assertEqual(
                resources, test_migration.list_resources(lab.admin)
            )
        )
        self.arguments = yaml.safe_load(
            TASK.with_suffix(".embedded.yaml").read_text()
        )
        (workload,) = self.arguments["workloads"]
        workload["arguments"]["runtime"] = 30
        self.arguments |= {
            "peer": laboratory.peer(),
            "repetitions": REPETITIONS,
            "phase_seconds": 30,
            "guest_options": {"ssh_timeout": round(patience.seconds(400))},
            "limits": {
                "vmperf_valid": measuring.ANY_FINDING,
                "vmperf_disruption": {
                    "max_downtime": 600,
                    "tolerate": ["clock_wrong"],
                },
            },
        }

    def measure(self, event):
        """Measure an event; return records, and figures by repetition."""
        lab = self.laboratory
        before = lab.journals()
        with lab.started(TASK, event=event, **self.without_event()) as process:
            code = process.wait(patience.seconds(1500))
            text = process.log.read_text()
        records = lab.records(self.new_journal(before, process))
        self.assertEqual(REPETITIONS, len(records), text[-3000:])
        self.assertIn(code, (0, 2), text[-3000:])
        values = []
        for record in records:
            during = record.repetition.select(phase="during").condition
            happened = during.phase.event
            self.assertEqual("completed", happened.outcome, happened.detail)
            self.assertEqual(event["name"], happened.name)
            kinds = {
                finding.kind
                for condition in record.repetition.conditions
                for finding in condition.findings
            }
            self.assertEqual(set(), kinds & UNEXPECTED, text[-3000:])
            values.append(
                {
                    observation.sample.metric.name: (
                        observation.sample.value,
                        observation.sample.metric.step,
                    )
                    for observation in during.observations
                    if observation.sample.metric.scale == "count"
                }
            )
        print(f"{event}: {values}")
        return records, values

    def without_event(self):
        """Return the arguments of the task without its event."""
        return {
            key: value
            for key, value in self.arguments.items()
            if key != "event"
        }

    def kill(self, event):
        """End the controller in the middle of an event, and clean up."""
        lab = self.laboratory
        with lab.started(TASK, event=event, **self.without_event()) as process:

            def is_there():
                text = process.log.read_text()
                self.assertIsNone(process.poll(), text[-3000:])
                return re.search("Event for g1: ", text)

            laboratory.wait_for("event", is_there, 600)
            time.sleep(3)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.assertNotEqual(self.before, lab.count())
        test_migration.clean_up(lab, self.arguments["control"])

    def check_stop(self, values):
        """Check the figures of a guest that stops.

        The peer pings it, independently of SSH.
        """
        for repetition in values:
            downtime, error = repetition[figures.DOWNTIME.name]
            gap, _ = repetition[figures.PACKET_GAP.name]
            self.assertGreater(gap, 2)
            # SSH stops before the network, and answers after it.
            self.assertGreater(downtime + error, gap - 1)
            self.assertLess(error, max(10, downtime / 2))
            dip, _ = repetition[figures.DIP.name]
            self.assertGreater(dip, 95)


@long.LONG
class TestEvent(Case):
    """Events that need one hypervisor."""

    def test_hard_reboot(self):
        event = {"name": "reboot", "type": "hard"}
        records, values = self.measure(event)
        self.check_stop(values)
        # Each boot is another process of QEMU.
        boots = {
            machine.boot_id
            for record in records
            for machine in record.machines
            if machine.role == "guest"
        }
        self.assertGreaterEqual(len(boots), 2)

    def test_kill_during_a_hard_reboot(self):
        self.kill({"name": "reboot", "type": "hard"})

    def test_soft_reboot(self):
        _, values = self.measure({"name": "reboot"})
        self.check_stop(values)

    def test_resize(self):
        """The flavor is back in the next repetition."""
        _, values = self.measure({"name": "resize", "flavor": LARGER})
        self.check_stop(values)

    def test_kill_during_a_resize(self):
        self.kill({"name": "resize", "flavor": LARGER})

    def test_command(self):
        """The host writes while the guest runs on."""
        # The event ends within the phase.
        (workload,) = self.arguments["workloads"]
        workload["arguments"]["runtime"] = 3 * BUSY
        self.arguments["phase_seconds"] = 3 * BUSY
        path = self.laboratory.folder / "busy"
        self.addCleanup(path.unlink, missing_ok=True)
        event = {
            "name": "command",
            "argv": [
                *("sh", "-c"),
                f"timeout {BUSY} sh -c 'while dd if=/dev/zero of={path} bs=1M "
                "count=200 oflag=direct; do :; done' || true",
            ],
        }
        _, values = self.measure(event)
        for repetition in values:
            downtime, _ = repetition[figures.DOWNTIME.name]
            self.assertLess(downtime, 5)

    def test_kill_during_a_command(self):
        self.kill({"name": "command", "argv": ["sleep", str(BUSY)]})


@long.LONG
class TestColdMigration(Case):
    """A guest is migrated to another hypervisor and back."""

    @classmethod
    def setUpClass(cls):
        """Have two hypervisors, and the earlier number in the end."""
        super().setUpClass()
        before = str(settings.load(d.PLACE).hypervisors)
        if before != "2":
            cls.addClassCleanup(recovering.up, "--hypervisors", before)
            recovering.up("--hypervisors", "2")

    def test_there_and_back(self):
        event = {"name": "cold_migration"}
        records, values = self.measure(event)
        self.check_stop(values)
        hosts = []
        for record in records:
            during = record.repetition.select(phase="during").condition
            hosts.append(
                (during.phase.event.source, during.phase.event.target)
            )
        for source, target in hosts:
            self.assertNotEqual(source, target)
        self.assertEqual(hosts[0], hosts[1][::-1])

    def test_kill(self):
        self.kill({"name": "cold_migration"})
