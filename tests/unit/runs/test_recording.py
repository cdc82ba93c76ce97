# SPDX-License-Identifier: Apache-2.0
"""Tests of the facts that bare metal reports."""

import asyncio
import json
import os
import pathlib
import re
import shlex
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import background_load
from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import shapes
from rally_vmperf.machines import testing
from rally_vmperf.measurement import finding
from rally_vmperf.records import journal
from rally_vmperf.records import model
from rally_vmperf.runs import conditions
from rally_vmperf.runs import recorded
from rally_vmperf.runs import recording
from rally_vmperf.workloads import base as workloads
from tests.unit import made
from tests.unit.execution import test_measure
from tests.unit.machines import folders
from tests.unit.machines import loop_devices
from tests.unit.runs import golden
from tests.unit.runs import test_recorded

AWAY = base.Unreachable("metal is away")
DENIED = testing.completed(stderr="a password is required", exit_status=1)


@ddt.ddt
class TestNode(unittest.TestCase):
    """A host name is one, and nothing else."""

    @ddt.data(
        ("compute-1.example.org\n", "compute-1.example.org"),
        ("=cmd|'/C calc'!A0\n", "?cmd???C?calc??A0"),
        ("\x1b[2Jhost", "??2Jhost"),
        ("h\u00f4te", "h?te"),
        ("x" * 1000, "x" * 255),
    )
    @ddt.unpack
    def test_name(self, output, name):
        """Other characters are replaced by question marks."""
        machine = testing.FakeMachine("metal", {"uname": output})
        self.assertEqual(name, asyncio.run(recording._read_hostname(machine)))


class Watched(local.Local):
    """This machine, with the commands that were run on it."""

    def __init__(self):
        super().__init__("metal")
        self.argvs = []

    async def run(self, argv, **arguments):
        self.argvs.append(list(argv))
        return await super().run(argv, **arguments)


class OnVolume(test_measure.Echo):
    """A workload of two commands with a file system on a volume."""

    def targets(self, arguments):
        """Return the volume."""
        return (workloads.Target(form="filesystem", size=1 << 20),)


@mock.patch.object(background_load, "QUIET", new=0)
class TestFolder(unittest.TestCase):
    """Work directories are on the command lines, and nowhere else."""

    def record(self, parent, workload=None, raw=(), copies=1):
        """Record copies; return the commands and the records."""
        machine = Watched()
        workload = workload or test_measure.Echo()
        directory = self.enterContext(tempfile.TemporaryDirectory())
        run_journal = journal.Journal(directory, "one")
        shape_recording = recording.ShapeRecording(
            recording.RecordingPlan(
                baseline="metal",
                session="0" * 32,
                assignments=(assignment.Assignment(workload, {}),),
                shape=document.Shape(vcpus=1, memory_mib=64, copies=copies),
                repetitions=1,
                warmup=0,
                directory=parent,
                is_limited=False,
                devices=raw,
                options={},
                accepted=frozenset(finding.KINDS),
            ),
            run_journal,
        )
        self.lines = []
        shape_recording.measure(
            lambda: machine, None, self.lines.append, lambda line: None
        )
        return machine.argvs, [[run_journal.read(), shape_recording.details]]

    def test_raw_devices(self):
        """Each copy has its own one, which can be recorded again."""
        raw = tuple(loop_devices.create(self, mib) for mib in (16, 32))
        parent = self.enterContext(tempfile.TemporaryDirectory())
        mounted = ("sh", "-c", "touch volume-1.fs/x && echo 5")
        size = ("sh", "-c", "stat -f -c %b volume-1.fs")
        for _ in range(2):
            workload = OnVolume(mounted, size)
            _, ((records, _),) = self.record(parent, workload, raw, 2)
            (record,) = records
            self.assertEqual((), record.repetition.all_missing)
            blocks = {
                sample.source: sample.sample.value
                for condition in record.repetition.conditions
                for sample in condition.observations
                if sample.sample.metric == test_measure.SIZE
            }
            self.assertLess(1.5 * blocks["copy-1"], blocks["copy-2"])
            self.assertEqual([], os.listdir(parent))

    def test_folder_of_a_killed_recording(self):
        """The next recording names it, with the command that removes it."""
        parent = self.enterContext(tempfile.TemporaryDirectory())
        folder = folders.leave_run(self, parent)
        _, running = folders.start_run(self, parent)
        self.record(parent)
        (warning,) = [line for line in self.lines if "warning" in line]
        self.assertRegex(
            warning,
            rf"^warning: metal: {folder} \(3 MiB, \d+ processes\) is from a "
            r"run whose state is killed; to list and remove it: "
            r"rally-vmperf cleanup --local --work-dir "
            rf"{shlex.quote(str(parent))}$",
        )
        self.assertTrue(pathlib.Path(folder).exists())
        self.assertTrue(pathlib.Path(running).exists())

    def test_folder_of_an_unknown_recording(self):
        """It is of another machine or namespace, and kept without --all."""
        parent = self.enterContext(tempfile.TemporaryDirectory())
        folder = pathlib.Path(folders.leave_run(self, parent))
        marker = folder / ".made-by-rally-vmperf"
        marker.write_text(f"{folder.name}\nanother\n")
        self.record(parent)
        (warning,) = [line for line in self.lines if "warning" in line]
        self.assertRegex(
            warning,
            r"a run whose state is unknown; to list and remove it: "
            r"rally-vmperf cleanup --local --work-dir "
            rf"{shlex.quote(str(parent))} --all, if the run has ended$",
        )

    def test_the_record_does_not_know_it(self):
        """Two recordings differ in nothing but the folders' names."""
        parent = self.enterContext(tempfile.TemporaryDirectory())
        name = re.compile(
            rf"{parent}/rally-vmperf-\w{{10}}(/echo(/\.job-\w+-\w{{8}})?)?"
        )
        commands, entries = [], []
        for _ in range(2):
            commands_run, results_kept = self.record(parent)
            ((records, details),) = results_kept
            text = json.dumps(
                [[model.FORMAT.encode(record) for record in records], details]
            )
            self.assertNotIn(parent, text)
            self.assertNotIn("rally-vmperf-", text)
            (record,) = records
            (only,) = record.repetition.conditions
            names = sorted(metric.name for metric in only.by_metric)
            entries.append([record.workloads, names])
            jobs = [
                argv[4:] for argv in commands_run if argv[3:4] == ["job.bash"]
            ]
            commands.append(
                sorted(
                    [name.sub("FOLDER", re.sub(r"^\d+\.\d+$", "TIME", word))
                     for word in argv]
                    for argv in jobs
                )
            )  # fmt: skip
            self.assertEqual([], list(pathlib.Path(parent).iterdir()))
        self.assertEqual(*entries)
        self.assertEqual(*commands)
        self.assertIn("FOLDER", str(commands[0]))
        self.assertNotIn(parent, str(commands[0]))

    def test_a_folder_that_others_can_replace(self):
        """Nothing is measured, and nothing is left."""
        parent = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory()), "below"
        )
        parent.mkdir()
        parent.chmod(0o777)
        with self.assertRaisesRegex(
            base.MachineError,
            f"^metal: directory {parent}: .* writable by other",
        ):
            self.record(str(parent))
        self.assertEqual([], list(parent.iterdir()))


class TestAlone(unittest.TestCase):
    """Other processes on bare metal while it is recorded."""

    def record(self, machine, repetitions=1):
        """Record on a machine; return the recording and the messages."""
        directory = self.enterContext(tempfile.TemporaryDirectory())
        plan = test_recorded.plan(warmup=0, repetitions=repetitions)
        lines = []
        shape_recording = recording.ShapeRecording(
            plan, journal.Journal(directory, "one")
        )
        shape_recording.measure(
            lambda: machine, None, lines.append, lines.append
        )
        return shape_recording, lines

    def kinds(self, shape_recording):
        """Return the findings of each entry of the baseline."""
        entries_found = recorded.build_baseline([shape_recording]).entries
        return [
            [finding_.kind for finding_ in entry.findings]
            for entry in entries_found
        ]

    def test_alone(self):
        """A machine without other processes is not reported."""
        shape_recording, lines = self.record(golden.Machine("metal"))
        self.assertEqual(
            [["bare_metal_unrestricted"]] * 2, self.kinds(shape_recording)
        )
        self.assertNotIn("alone", "\n".join(lines))

    def test_not_alone(self):
        """A process that burns meanwhile is reported and recorded."""
        machine = golden.Machine("metal")
        machine.burning = 300
        shape_recording, lines = self.record(machine)
        self.assertEqual(
            [["bare_metal_unrestricted", "bare_metal_busy"]] * 2,
            self.kinds(shape_recording),
        )
        self.assertIn(
            "other processes use bare metal: other", "\n".join(lines)
        )

    def test_busy_disks_do_not_concern_processors(self):
        """A workload has the loads of the parts that it uses."""
        shape_recording, _ = self.record(golden.Machine("metal"))
        shape_recording.records = made.with_finding(
            shape_recording.records,
            "bare_metal_busy",
            "disks of bare metal",
            "its disks moved 4.2 MB/s",
        )
        self.assertEqual(
            [["bare_metal_unrestricted"]] * 2, self.kinds(shape_recording)
        )

    def test_how_often_and_how_much(self):
        """The baseline counts repetitions, and has the worst of them."""
        shape_recording, _ = self.record(
            golden.Machine("metal"), repetitions=4
        )
        shape_recording.records = [
            made.with_finding(
                record,
                "bare_metal_busy",
                "baseline",
                f"other processes used {used}% of its 2 CPUs",
            )
            if used
            else record
            for record, used in zip(
                shape_recording.records, (0, 12.5, 91.8, 30), strict=True
            )
        ]
        for entry in recorded.build_baseline([shape_recording]).entries:
            whole, busy = entry.findings
            self.assertEqual("bare_metal_unrestricted", whole.kind)
            self.assertEqual(
                "in 3 of 4 repetitions, at worst: other processes used 91.8% "
                "of its 2 CPUs",
                busy.detail,
            )

    def test_a_machine_without_an_answer(self):
        """It is reported, and recorded nevertheless."""
        machine = golden.Machine("metal")
        machine.burning = None
        shape_recording, lines = self.record(machine)
        self.assertEqual(
            [["bare_metal_unrestricted"]] * 2, self.kinds(shape_recording)
        )
        self.assertIn(
            "cannot check bare metal for background load",
            " ".join(lines),
        )


def metal(*boots, **answers):
    """Return bare metal with these boot identifiers, one after the other."""
    return testing.FakeMachine(
        "metal", {"cat": list(boots), "id": "0\n", "sh": "", **answers}
    )


class TestCheck(unittest.TestCase):
    """Only another machine is rebooted, and by root."""

    def test_refused(self):
        """This one by any name, and a user who may not."""
        boot_id = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
        for machine, message in (
            (
                local.Local("metal"),
                "metal is the machine that runs this program",
            ),
            (
                metal(boot_id),
                "which cannot be rebooted; use --reboot never",
            ),
            (metal("\n"), "boot_id cannot be read"),
            (metal("b1\n", id="7\n", sudo=DENIED), "cannot become root"),
        ):
            with self.assertRaisesRegex(base.MachineError, message):
                asyncio.run(recording.check_permission(machine))
        asyncio.run(recording.check_permission(metal("b1\n")))


@mock.patch.object(recording, "_POLL", 0)
class TestReboot(unittest.TestCase):
    """It is waited for, and limited to its shape again."""

    def reboot(self, machine):
        """Return the action, with a copy that has no limits so far."""
        runner = asyncio.Runner()
        self.addCleanup(runner.close)
        self.copy = roles.Station(
            name="copy-1", machine=machine, role="copy", prefix=("old",)
        )
        self.session = sessions.Session(
            assignments=(),
            stations=[self.copy],
            peer=None,
            progress=lambda line: None,
            runner=runner,
        )
        self.session.last_look = {"copy-1": None}

        async def reapply_limits():
            return shapes.ResourceLimits(
                limited_by="cgroup2", prefixes=(("new",),)
            )

        return recording.HostReboot(
            machine=machine,
            session=self.session,
            reapply_limits=reapply_limits,
            progress=lambda line: None,
        )

    def before(self, reboot, repetition):
        """Run the action before a repetition; return its errors."""
        return reboot.before(
            conditions.CurrentCondition(
                condition=conditions.PlannedCondition(),
                repetition=repetition,
                machines=("copy-1",),
            )
        ).errors

    def test_between_repetitions(self):
        """It answers again with another boot, after being away."""
        machine = metal("b1\n", "b1\n", AWAY, "b2\n")
        reboot = self.reboot(machine)
        self.assertEqual({}, self.before(reboot, 1))
        self.assertEqual([], machine.commands)
        self.assertEqual({}, self.before(reboot, 2))
        names = [argv[3:4] for argv in machine.commands]
        self.assertEqual(1, names.count(("reboot.sh",)))
        self.assertEqual(("settle.sh",), names[-1])
        self.assertEqual(("new",), self.copy.prefix)
        self.assertEqual({}, self.session.last_look)

    def test_it_does_not_come_back(self):
        """The copies have nothing to measure on."""
        reboot = self.reboot(metal("b1\n", AWAY))
        self.before(reboot, 1)
        with mock.patch.object(recording, "TIMEOUT", -1):
            errors = self.before(reboot, 2)
        self.assertRegex(errors["copy-1"], "has not rebooted within")
        self.assertEqual(("old",), self.copy.prefix)
