# SPDX-License-Identifier: Apache-2.0
"""Real guests that are paused, stopped or killed while others measure."""

import os
import re
import signal
import statistics
import time

import ddt
import yaml

from rally_vmperf.measurement import finding
from rally_vmperf.questions.density import question as density
from tests import patience
from tests.functional import laboratory
from tests.functional import test_density
from tests.long import long
from tests.long import measuring

TASK = laboratory.TOP / "tasks" / "kvm-density.yaml"
RATIO = laboratory.TOP / "tasks" / "allocation-ratio.yaml"


@long.LONG
@ddt.ddt
class TestOthers(laboratory.Case):
    """The second guest rests in the first level, and wakes for the next."""

    @ddt.data(("paused", "PAUSED", "unpause"), ("stopped", "SHUTOFF", "start"))
    @ddt.unpack
    def test_others(self, idle_guests, status, wake):
        """Both levels are complete; the boot between them gives no finding."""
        lab = self.laboratory
        lab.use("member")
        journals = lab.journals()
        with lab.started(
            test_density.TASK,
            levels=[1, 2],
            count=2,
            times=1,
            idle_guests=idle_guests,
            workloads=[{"name": "sysbench", "arguments": {"time": 1}}],
        ) as process:
            laboratory.wait_for(
                f"one guest {status} in the level of one guest",
                lambda: status in self._statuses(),
            )
            code = process.wait(patience.seconds(400))
            text = process.log.read_text()
        self.assertEqual(0, code, text[-4000:])
        self.assertIn(f"{wake} g2", text)
        (path,) = lab.journals() - journals
        (record,) = lab.records(path)
        self.assertEqual(
            ("complete", idle_guests),
            (record.repetition.state, record.options["idle_guests"]),
        )
        for level in record.repetition.conditions:
            self.assertEqual("complete", level.state)
            self.assertEqual(
                set(level.machines),
                {observation.source for observation in level.observations},
            )
        self.assertEqual([], self._void(record))

    def _statuses(self):
        servers = self.laboratory.admin.compute.servers(all_projects=True)
        return [server.status for server in servers]

    def _void(self, record):
        """Return what makes the record void, but for short runs."""
        measured = record.repetition
        return [
            voiding
            for carrier in (measured, *measured.conditions)
            for voiding in carrier.findings
            if finding.KINDS[voiding.kind].severity == "void"
            and voiding.kind not in test_density.TOLERATED
        ]


@long.LONG
class TestKilled(laboratory.Case):
    """A guest that dies costs its level, and nothing else."""

    def test_guest_killed_in_the_middle_of_level_three(self):
        """It names who is missing; the next level goes on, nothing leaks."""
        lab = self.laboratory
        lab.use("admin")
        journals = lab.journals()
        with lab.started(
            test_density.TASK,
            levels=[1, 3, 2],
            times=1,
            workloads=[{"name": "sysbench", "arguments": {"time": 6}}],
        ) as process:
            laboratory.wait_for(
                "level of three guests",
                lambda: "Condition guests 3" in process.log.read_text(),
            )
            time.sleep(3)
            machine = self._machine("g1", process.log.read_text())
            os.kill(machine, signal.SIGKILL)
            code = process.wait(patience.seconds(240))
            text = process.log.read_text()
        self.assertEqual(2, code, text[-2000:])
        (path,) = lab.journals() - journals
        (record,) = lab.records(path)
        level_1, three, two = record.repetition.conditions
        self.assertEqual(
            ["complete", "incomplete", "complete"],
            [level_1.state, three.state, two.state],
        )
        self.assertEqual({"g1"}, {gap.machine for gap in three.missing}, three)
        self.assertEqual(
            {"g2", "g3"},
            {
                observation.source
                for observation in record.repetition.select(
                    guests=3
                ).condition.observations
            },
        )
        self.assertEqual(("g2", "g3"), two.machines)
        judge = density.DEGRADATION.parse(
            {
                "max_percent": {test_density.CPU: 95},
                "tolerate": test_density.TOLERATED,
            }
        ).create_judge()
        judge.add(record.repetition)
        judged = judge.judgement()
        self.assertEqual("void", judged.status, judged.sentence())

    def _machine(self, name, text):
        """Return the process of a guest's machine, by its address."""
        (address,) = re.findall(rf"{name} answers SSH at ([\d.]+)", text)
        for server in self.laboratory.admin.compute.servers(all_projects=True):
            addresses = [
                address_entry["addr"]
                for every in server.addresses.values()
                for address_entry in every
            ]
            if address in addresses:
                return laboratory.qemu(server.id)
        raise AssertionError(f"no server of {name} at {address}")


@long.LONG
class TestShippedTask(measuring.MeasuringCase):
    """The shipped task, with its arguments for the embedded cloud."""

    def test_against_bare_metal(self):
        """Each level is compared with as many copies on bare metal."""
        text = TASK.with_suffix(".embedded.yaml").read_text()
        arguments = yaml.safe_load(text)
        self.assertEqual(laboratory.peer(), arguments["peer"])
        arguments |= {
            "baseline": TASK.stem,
            "levels": [1, 2],
            "compare_to": "bare_metal",
            "tolerate": [
                *arguments["tolerate"],
                *("guest_faster", "bare_metal_is_guest"),
                "bare_metal_busy",
            ],
        }
        for record in self.measure(TASK, **arguments):
            levels = record.repetition.conditions
            copies = [level.reference_copies for level in levels]
            self.assertEqual([1, 2], copies)
        criteria = {
            verdict["criterion"] for verdict in self.laboratory.verdicts()
        }
        self.assertLessEqual(
            {"vmperf_degradation", "vmperf_fairness"}, criteria
        )


@long.LONG
class TestLoad(laboratory.Case):
    """Three guests on two cores fit at a low load, and not at full load."""

    def test_two_loads(self):
        """One sentence for each load; the rates are shares of full speed."""
        lab = self.laboratory
        lab.use("admin")
        arguments = yaml.safe_load(
            RATIO.with_suffix(".embedded.yaml").read_text()
        )
        journals = lab.journals()
        with lab.started(RATIO, **arguments) as process:
            process.wait(patience.seconds(1500))
            text = process.log.read_text()
        (path,) = lab.journals() - journals
        *warmups, _, _, _, _, record = lab.records(path)
        self.assertEqual(3, len(warmups), text[-3000:])
        full_speed = [
            observation.sample.value
            for warmup in warmups
            for condition in warmup.repetition.conditions
            for observation in condition.observations
            if observation.sample.metric.name == "cpu.sysbench.rate"
        ]
        self.assertEqual(3, len(full_speed))
        rates = {
            workload.label: workload.arguments["rate"]
            for workload in record.workloads
        }
        low = rates["load-10"] / statistics.geometric_mean(full_speed)
        self.assertAlmostEqual(0.1, low, delta=0.01)
        self.assertIn("10 % load, 80 % load: the same rates are load: [", text)
        solo = record.repetition.select(guests=1).condition
        (achieved,) = (
            observation.sample.value
            for observation in solo.observations
            if observation.sample.metric.name == "cpu.sysbench.load-10.rate"
        )
        self.assertAlmostEqual(
            1, achieved / rates["load-10"], delta=0.1, msg=text[-3000:]
        )
        sentences = " ".join(lab.vmperf("judge").stdout.split())
        self.assertIn(
            "At 10 % load, up to 3 guests, the largest tested number, within "
            "all limits (1.5 vCPUs per CPU)",
            sentences,
        )
        # Three guests need 2.4 of the two cores, which others use, too.
        self.assertIn("At 80 % load, ", sentences)
        self.assertNotIn("At 80 % load, up to 3 guests", sentences)
