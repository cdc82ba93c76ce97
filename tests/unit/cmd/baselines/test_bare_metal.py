# SPDX-License-Identifier: Apache-2.0
"""Tests of the ways to bare metal."""

import argparse
import contextlib
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.cmd import machine_options
from rally_vmperf.cmd import main
from rally_vmperf.cmd.baselines import bare_metal
from rally_vmperf.cmd.baselines import baseline_record
from rally_vmperf.cmd.baselines import coverage
from rally_vmperf.execution import assignment
from rally_vmperf.execution import protocols
from rally_vmperf.machines import background_load
from rally_vmperf.machines import base
from rally_vmperf.machines import testing
from tests.unit.machines import loop_devices

LOOK = "\n".join(
    [
        "allowed=0-3",
        "memory_kib=8388608",
        "# CPU,CORE,NODE",
        *(f"{number},{number},0" for number in range(4)),
    ]
)
GIB = 1 << 30
DD = {"name": "dd", "arguments": {"target": "volume", "count": 16}}
TASK = """\
version: 2
title: Mine
subtasks:
  - title: Volumes
    scenario:
      VMPerf.overhead:
        workloads:
          - name: dd
            arguments: {target: TARGET, count: 16, directions: [write, read]}
        shape: whole
    runner: {serial: {times: 2}}
    contexts:
      vmperf_guests: {image: {name: i}, flavor: {name: f}, VOLUMES}
"""


@ddt.ddt
class CpuListTest(unittest.TestCase):
    @ddt.data(
        *(("8-15", True), ("0-3,8", True), ("7", True)),
        *(("", False), ("a", False), ("3-1", False), ("1,", False)),
        *(("-1", False), ("1-", False)),
    )
    @ddt.unpack
    def test_lists_of_cpus(self, text, good):
        """An invalid list is rejected with an example."""
        if good:
            self.assertEqual(text, bare_metal.parse_cpu_list(text))
            return
        with self.assertRaisesRegex(
            argparse.ArgumentTypeError, "such as 8-15"
        ):
            bare_metal.parse_cpu_list(text)


class TestTooSmall(unittest.TestCase):
    """Asked before anything is measured, or held."""

    def test_each_shape(self):
        """By its CPUs and by its memory."""
        fits = document.Shape(1, 1024, 4)
        cpus, memory = document.Shape(1, 1024, 5), document.Shape(1, 4096, 4)
        machine = testing.FakeMachine("metal", {"sh": LOOK, "bash": LOOK})
        with mock.patch.object(
            machine_options, "connect", autospec=True, return_value=machine
        ):
            too_large = bare_metal.find_too_large_shapes(
                argparse.Namespace(cpu_list=""), [fits, cpus, memory]
            )
        self.assertEqual({cpus, memory}, set(too_large))
        self.assertIn("4 CPUs and 5 copies", str(too_large[cpus]))
        self.assertIn("8192 MiB", str(too_large[memory]))


@ddt.ddt
class CheckTest(unittest.TestCase):
    """Options that do not match are rejected before anything is written."""

    def setUp(self):
        super().setUp()
        self.machine = testing.FakeMachine("metal", {"id -u": "0\n"})
        patch = mock.patch(
            "rally_vmperf.cmd.machine_options.connect",
            autospec=True,
            side_effect=lambda parsed: self.machine,
        )
        patch.start()
        self.addCleanup(patch.stop)

    def check(self, workloads, *options, copies=1, gib=20, reboot="never"):
        """Check options against workloads; return the warnings."""
        parser = argparse.ArgumentParser()
        bare_metal.add_device_arguments(parser)
        parsed = parser.parse_args(options)
        self.machine._answers[("bash",)] = [
            "".join(
                f"device {number} /dev/sd{number} {gib * GIB}\n"
                for number in range(1, len(parsed.device) + 1)
            )
        ]
        covered = coverage.Coverage(
            assignments=assignment.assign(workloads),
            shape=document.Shape(1, 512, copies),
            repetitions=3,
            warmup=0,
            protocol=protocols.Protocol(reboot=reboot),
        )
        return bare_metal.check_devices(parsed, [covered])

    def refuse(self, pattern, *arguments, **options):
        """Expect one line that matches a pattern."""
        with self.assertRaisesRegex(document.BaselineError, pattern) as caught:
            self.check(*arguments, **options)
        self.assertNotIn("\n", str(caught.exception))

    def test_nothing_is_given(self):
        self.assertEqual([], self.check([{"name": "fio"}]))
        self.assertEqual([], self.machine.calls)

    def test_what_is_lost(self):
        """Nothing is measured without --yes."""
        lost = (
            r"/dev/b \(/dev/sd1\), 20.0 GiB: everything on it is lost, and "
            "nothing is restored"
        )
        self.refuse(
            f"^--device: {lost}; to record, add --yes$",
            [DD],
            *("--device", "/dev/b"),
        )
        (line,) = self.check([DD], "--device", "/dev/b", "--yes")
        self.assertRegex(line, f"^warning: {lost}$")
        self.assertTrue(self.machine.closed)

    def test_device_without_workload(self):
        self.refuse(
            "^--device=/dev/b: no workload uses it; set target: volume",
            [{"name": "fio"}],
            *("--device", "/dev/b", "--yes"),
        )
        self.refuse(
            "^--device=/dev/c, /dev/d: no workload uses it",
            [DD],
            *("--device", "/dev/b", "--device", "/dev/c"),
            *("--device", "/dev/d", "--yes"),
        )
        self.assertEqual([], self.machine.calls)

    def test_workload_without_device(self):
        self.refuse(
            "^workload dd: target is not root, and requires 1 raw devices of "
            "bare metal .*; --device names 0: add --device PATH, whose "
            "content is lost, or set target: root$",
            [DD],
        )
        self.refuse(
            r"requires 2 raw devices .*\(1 for each of 2 copies\); --device "
            "names 1: ",
            [DD],
            *("--device", "/dev/b", "--yes"),
            copies=2,
        )
        self.assertEqual([], self.machine.calls)

    def test_devices_of_copies(self):
        options = ("--device", "/dev/b", "--device", "/dev/c", "--yes")
        self.assertEqual(2, len(self.check([DD], *options, copies=2)))

    def test_devices_of_a_shape(self):
        """A shape with fewer copies uses the first ones."""
        parsed = argparse.Namespace(device=["/dev/b", "/dev/c"])
        for name, copies, expected in (
            ("volume", 1, ("/dev/b",)),
            ("volume", 2, ("/dev/b", "/dev/c")),
            ("root", 2, ()),
        ):
            workload = {"name": "dd", "arguments": {"target": name}}
            covered = coverage.Coverage(
                assignments=assignment.assign([workload]),
                shape=document.Shape(1, 512, copies),
                repetitions=3,
                warmup=0,
            )
            self.assertEqual(
                expected, bare_metal.select_devices(parsed, covered)
            )

    def test_too_small(self):
        large = {
            "name": "dd",
            "arguments": {"target": "volume", "count": 21 << 10},
        }
        self.refuse(
            "^workload dd target=volume: requires 21.0 GiB, and volume 1 of "
            "--device for copy 1 has 20.0 GiB; name a larger device",
            [large],
            *("--device", "/dev/b", "--yes"),
        )

    def test_in_use(self):
        """The machine says so before it is told what is lost."""
        self.machine = testing.FakeMachine(
            "metal", {"id -u": "0\n", "bash": "device 1 refused busy\n"}
        )
        parsed = argparse.Namespace(device=["/dev/b"], yes=False)
        covered = coverage.Coverage(
            assignments=assignment.assign([DD]),
            shape=document.Shape(1, 512, 1),
            repetitions=3,
            warmup=0,
        )
        with self.assertRaisesRegex(base.MachineError, "is in use"):
            bare_metal.check_devices(parsed, [covered])
        self.assertTrue(self.machine.closed)

    def test_names_after_a_reboot(self):
        """sdb may be another disk then."""
        options = ("--yes", "--device")
        self.refuse(
            "^--device=/dev/b: may be another disk after a reboot; use its "
            "name in /dev/disk/by-id, or add --reboot never$",
            [DD],
            *options,
            "/dev/b",
            reboot="between_repetitions",
        )
        name = "/dev/disk/by-id/ata-QEMU_1"
        self.check([DD], *options, name, reboot="between_repetitions")

    def test_yes_alone(self):
        self.refuse("^--yes: requires --device", [{"name": "fio"}], "--yes")

    @ddt.data("sdb", "/etc/passwd", "/dev/a b", "/dev/x/../../etc", "/dev/\n")
    def test_paths(self, path):
        with (
            contextlib.redirect_stderr(io.StringIO()) as errors,
            self.assertRaises(SystemExit),
        ):
            self.check([DD], "--device", path)
        self.assertIn("must be the path of a block device", errors.getvalue())


class RecordTest(unittest.TestCase):
    """The command, with a loop device and dd of this computer."""

    def setUp(self):
        super().setUp()
        self.device = loop_devices.create(self)
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        self.config = self.folder / "rally.conf"
        self.config.write_text(
            f"[vmperf]\nbaseline_dir = {self.folder}/baselines\n"
            f"journal_dir = {self.folder}/journal\n"
        )
        self.enterContext(mock.patch.object(background_load, "QUIET", new=0))

    def record(self, target, *options):
        """Record a task; return the code and the output."""
        task = self.folder / "task.yaml"
        task.write_text(
            TASK.replace("TARGET", target).replace(
                "VOLUMES", "volumes: [{size_gib: 1}]"
            )
        )
        lines = []
        with (
            mock.patch.object(
                baseline_record.Record,
                "print_line",
                lambda self, line: lines.append(line),
            ),
            contextlib.redirect_stderr(io.StringIO()) as errors,
        ):
            code = main.main(
                [
                    *("baseline", "record", "metal", "--local"),
                    *("--task", str(task), "--config-file", str(self.config)),
                    *("--cpus", "1", "--memory", "512", "--copies", "1"),
                    *("--measure-anyway", "--work-dir", str(self.folder)),
                    *options,
                ]
            )
        return code, "\n".join([*lines, errors.getvalue()])

    def read(self):
        """Return the beginning of the device."""
        with pathlib.Path(self.device).open("rb") as file:
            return file.read(32 << 20)

    def test_recording(self):
        """The device is written after --yes, and can be recorded again."""
        pathlib.Path(self.device).write_bytes(b"x" * (32 << 20))
        before = self.read()
        code, output = self.record("root", "--device", self.device, "--yes")
        self.assertEqual(1, code)
        self.assertIn("no workload uses it", output)
        code, output = self.record("volume")
        self.assertEqual(1, code)
        self.assertIn("--device names 0", output)
        code, output = self.record("volume", "--device", self.device)
        self.assertEqual(1, code)
        self.assertIn("everything on it is lost", output)
        self.assertEqual(before, self.read())
        for options in ((), ("--replace",)):
            code, output = self.record(
                "volume", "--device", self.device, "--yes", *options
            )
            self.assertEqual(0, code, output)
            self.assertIn(f"warning: {self.device}, 64 MiB: every", output)
            after = self.read()
            self.assertEqual(bytes(16 << 20), after[: 16 << 20])
            self.assertEqual(before[16 << 20 :], after[16 << 20 :])
        text = (self.folder / "baselines" / "metal.json").read_text()
        (entry,) = json.loads(text)["entries"]
        self.assertEqual("volume", entry["arguments"]["target"])
        self.assertEqual([], [*self.folder.glob("rally-vmperf-*")])

    def test_device_in_use(self):
        """It is checked again immediately before it is written."""
        before = self.read()
        opened = []
        check = bare_metal._read_devices

        async def check_and_use(parsed):
            found = await check(parsed)
            opened.append(loop_devices.use(self, self.device))
            return found

        with mock.patch.object(bare_metal, "_read_devices", check_and_use):
            code, output = self.record(
                "volume", "--device", self.device, "--yes"
            )
        self.assertEqual(1, code, output)
        self.assertIn(f"device {self.device} is in use", output)
        self.assertEqual(before, self.read())
