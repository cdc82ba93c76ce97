# SPDX-License-Identifier: Apache-2.0
"""Events in guests and on bare metal, and the findings that report them."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from rally_vmperf.baseline import store
from rally_vmperf.questions.overhead import question as overhead
from tests import patience
from tests.functional import laboratory
from tests.long import long

TASKS = pathlib.Path(__file__).parent / "tasks"
TASK = TASKS / "verdicts.yaml"
CPU = "cpu.sysbench.rate"
THROUGHPUT = "network.iperf3.from_peer.throughput"
#: What an emulated guest beside other work may show as well.
TOLERATED = [
    "bare_metal_is_guest",
    "bare_metal_busy",
    "guest_faster",
    "shape_not_enforced",
]
#: Seconds of a command, long enough for something to happen in its middle.
LONG = 15
#: Beyond what emulation and a policy on the NIC leave.
LIMITS = {CPU: 99.9, "network.*": 99.9999}
#: Kilobytes per second that the NIC's policy allows.
RATE = 1000


def sysbench(seconds):
    """Return the workload that only calculates."""
    return {"name": "sysbench", "arguments": {"time": seconds}}


class VerdictCase(laboratory.Case):
    """A guest, and a baseline of whatever it measures."""

    def setUp(self):
        """Work as a member."""
        super().setUp()
        self.laboratory.use("member")

    def record(self, name, *workloads, **arguments):
        """Record bare metal once, and register it as of longer commands."""
        task_arguments = {
            "workloads": [sysbench(1), *workloads],
            "baseline": name,
        }
        self.laboratory.record_baseline(
            *(f"{name}-short", "--task", str(TASK)),
            *("--task-args", json.dumps(task_arguments | arguments)),
            *("--flavor", "vmperf.tiny"),
        )
        self.laboratory.pretend_arguments(
            name, f"{name}-short", "sysbench", time=LONG
        )
        self.earlier_journals = self.laboratory.journals()

    def judged(self, records, *tolerated):
        """Return the judgement of records."""
        judge = overhead.OVERHEAD.parse(
            {"max_percent": LIMITS, "tolerate": [*TOLERATED, *tolerated]}
        ).create_judge()
        for record in records:
            judge.add(record.repetition)
        return judge.judgement()

    def kinds(self, record):
        """Return the kinds of findings about one repetition."""
        return {
            finding.kind for finding in record.repetition.condition.findings
        }


@long.LONG
class TestReboot(VerdictCase):
    """A guest that Nova reboots costs the repetition, and no other."""

    def test_in_the_middle_of_the_second_repetition(self):
        """It is void and left out; the guest is waited for, three count."""
        lab = self.laboratory
        self.record("rebooted")
        with lab.started(
            TASK,
            workloads=[sysbench(LONG)],
            baseline="rebooted",
            tolerate=[*TOLERATED, "clock_wrong"],
        ) as process:
            second = re.compile("Repetition 2 of 4.*sysbench on g1", re.S)
            laboratory.wait_for(
                "second repetition",
                lambda: (
                    second.search(process.log.read_text())
                    or process.poll() is not None
                ),
            )
            self.assertIsNone(process.poll(), process.log.read_text()[-4000:])
            time.sleep(2)
            (server,) = lab.admin.compute.servers(all_projects=True)
            lab.admin.compute.reboot_server(server, "HARD")
            process.wait(patience.seconds(420))
            text = process.log.read_text()
        (path,) = lab.journals() - self.earlier_journals
        records = lab.records(path)
        self.assertEqual(4, len(records), text[-4000:])
        rebooted = [
            "guest_rebooted" in self.kinds(record) for record in records
        ]
        self.assertEqual([False, True, False, False], rebooted, text[-4000:])
        states = [records[number].repetition.state for number in (0, 2, 3)]
        self.assertEqual(["complete"] * 3, states, text[-4000:])
        judged = self.judged(records, "clock_wrong")
        self.assertEqual((2,), judged.omitted, judged.sentence())
        self.assertIn("1 repetition of 4 is void", judged.sentence())
        (row,) = (row for row in judged.rows if row.metric.name == CPU)
        self.assertEqual(3, len(row.comparison.guest_values))
        self.assertEqual("passed", row.status, judged.sentence())


@long.LONG
class TestGuest(VerdictCase):
    """A guest whose clock is wrong, behind a NIC that is held back."""

    def test_clock_and_policy(self):
        """Steps, a slow clock and the flavor's limit are named."""
        lab = self.laboratory
        workload = {
            "name": "iperf3",
            "arguments": {"directions": ["from_peer"], "time": 5},
        }
        peer = laboratory.peer()
        self.record("wrong-clock", workload, peer=peer)
        with self._flavor() as flavor:
            lab.start(
                TASK,
                workloads=[sysbench(LONG), workload],
                peer=peer,
                baseline="wrong-clock",
                flavor=flavor,
                user_data=(TASKS / "clock.yaml").read_text(),
                tolerate=TOLERATED,
            )
        (path,) = lab.journals() - self.earlier_journals
        records = lab.records(path)
        self._check_steps(records)
        self.assertIn("clock_wrong", self.kinds(records[3]))
        judged = self.judged(records, "clock_wrong", "guest_rebooted")
        self._check_policy(judged)

    def _check_steps(self, records):
        """A command whose clock is stepped gives no figure."""
        reasons = [
            " ".join(gap.reason for gap in record.repetition.all_missing)
            for record in records
        ]
        stepped = [
            re.findall(r"clock of g1 was stepped by ([+-][0-9.]+) s", reason)
            for reason in reasons
        ]
        self.assertEqual([], stepped[0], reasons)
        # A machine that reads its clocks too slowly may hide one of two.
        steps = {float(step) for texts in stepped[1:3] for step in texts}
        self.assertTrue(steps, reasons)
        for step in steps:
            self.assertGreater(step, 0)

    def _check_policy(self, judged):
        """The rate is the flavor's, and what limits it is named."""
        about = [
            run_finding.finding
            for run_finding in judged.findings
            if run_finding.finding.kind == "bottleneck_outside_guest"
        ]
        self.assertEqual(
            [THROUGHPUT], [run_finding.subject for run_finding in about]
        )
        self.assertIn("vif_inbound_average", about[0].detail)
        (row,) = (x for x in judged.rows if x.metric.name == THROUGHPUT)
        self.assertNotEqual("passed", row.status, row.sentence())

    @contextlib.contextmanager
    def _flavor(self):
        """Yield the name of a flavor whose NIC has a limit."""
        compute = self.laboratory.admin.compute
        tiny = compute.find_flavor("vmperf.tiny")
        made = compute.create_flavor(
            name="vmperf.held-back",
            ram=tiny.ram,
            vcpus=tiny.vcpus,
            disk=tiny.disk,
        )
        try:
            compute.create_flavor_extra_specs(
                made,
                {
                    "quota:vif_inbound_average": str(RATE),
                    "quota:vif_outbound_average": str(100 * RATE),
                },
            )
            yield made.name
        finally:
            compute.delete_flavor(made)


@long.LONG
class TestRecording(VerdictCase):
    """Bare metal that another user loads while it is recorded."""

    def test_burners(self):
        """They are named in each repetition, and the baseline is not alone."""
        lab = self.laboratory
        journals = lab.journals()
        burner = lab.folder / "burner"
        shutil.copy("/usr/bin/yes", burner)
        number = 2 * (os.cpu_count() or 1)
        with contextlib.ExitStack() as burning:
            for _ in range(number):
                burner_process = subprocess.Popen(
                    [burner], stdout=subprocess.DEVNULL
                )
                burning.enter_context(burner_process)
                burning.callback(burner_process.kill)
            arguments = {"workloads": [sysbench(1)], "baseline": "busy"}
            lab.record_baseline(
                *("busy", "--task", str(TASK)),
                *("--task-args", json.dumps(arguments)),
                *("--flavor", "vmperf.tiny"),
            )
        (path,) = lab.journals() - journals
        for record in lab.records(path):
            details = [
                finding.detail
                for condition in record.repetition.conditions
                for finding in condition.findings
                if finding.kind == "bare_metal_busy"
            ]
            self.assertRegex(" ".join(details), "other processes used.*burner")
        content = store.Store(lab.folder / "baselines").load("busy")
        for entry in content.entries:
            kinds = {finding.kind for finding in entry.findings}
            self.assertIn("bare_metal_busy", kinds)
