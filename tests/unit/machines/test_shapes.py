# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import re
import tempfile
import time
import unittest

from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import scripts
from rally_vmperf.machines import shapes
from rally_vmperf.machines import testing
from tests import skips
from tests.unit.machines import folders

LOOK = (
    "method={}\nmemory_kib=8388608\nallowed=0-3\n0,0,0\n1,1,0\n2,2,0\n3,3,0\n"
)
STATUS = "Name:\tcat\nCpus_allowed_list:\t0\nMems_allowed_list:\t0\n"


def _groups(hold):
    """Return the folders of a hold's own groups; others may come and go."""
    return [
        pathlib.Path(word).parent
        for word in hold.prefixes[0]
        if word.endswith("/cgroup.procs")
    ]


class RealShapeTestCase(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        skips.require(self, root=True)
        self.machine = local.Local("bare metal")
        look = await self.machine.run(
            scripts.argv("shape.sh", "look", shapes.MOUNTED)
        )
        if "method=cgroup" not in look.stdout:
            self.skipTest("no control groups for CPUs and memory here")

    async def test_cpus_and_memory_are_limited_and_released(self):
        hold = await shapes.apply_limits(self.machine, cpus=1, memory_mib=64)
        try:
            self.assertIn(hold.limited_by, ("cgroup1", "cgroup2"))
            self.assertEqual((), hold.findings)
            self.assertTrue(all(path.is_dir() for path in _groups(hold)))
            completed = await self.machine.run(
                [*hold.prefixes[0], "cat", "/proc/self/status"]
            )
            allowed = re.search(r"Cpus_allowed_list:\s*(.*)", completed.stdout)
            self.assertEqual(str(hold.cpus[0][0]), allowed[1])
            eater = ["head", "-c", "500M", "/dev/zero"]
            completed = await self.machine.run(
                [*hold.prefixes[0], "sh", "-c", '"$@" | tail', "sh", *eater]
            )
            self.assertEqual("", completed.stdout)
        finally:
            await hold.release()
        self.assertTrue(_groups(hold))
        self.assertFalse(any(path.exists() for path in _groups(hold)))
        await hold.release()

    async def test_groups_of_a_dead_recorder_are_removed(self):
        stale = await shapes.apply_limits(self.machine, cpus=1, memory_mib=64)
        hold = await shapes.apply_limits(self.machine, cpus=1, memory_mib=64)
        self.assertTrue(all(path.is_dir() for path in _groups(stale)))
        await hold.release()
        for path in _groups(stale):
            os.utime(path, (time.time() - 4000,) * 2)
        hold = await shapes.apply_limits(self.machine, cpus=1, memory_mib=64)
        self.assertFalse(any(path.exists() for path in _groups(stale)))
        await hold.release()
        await stale.release()

    async def test_running_processes_are_ended(self):
        hold = await shapes.apply_limits(self.machine, cpus=1, memory_mib=64)
        prefix = hold.prefixes[0]
        await self.machine.run(
            [
                "sh",
                "-c",
                '"$@" >/dev/null 2>&1 &',
                "sh",
                *prefix,
                "sleep",
                "99",
            ]
        )
        await hold.release()

    async def test_a_machine_that_is_too_small(self):
        have = len(os.sched_getaffinity(0))
        with self.assertRaisesRegex(
            base.MachineError, f"has {have} CPUs .* need {have + 1};"
        ):
            await shapes.apply_limits(
                self.machine, cpus=have + 1, memory_mib=1
            )
        with self.assertRaisesRegex(base.MachineError, "999999999 MiB"):
            await shapes.apply_limits(
                self.machine, cpus=1, memory_mib=999999999
            )


class PlannedShapeTestCase(unittest.IsolatedAsyncioTestCase):
    def machine(self, method, uid="0", look=LOOK, **answers):
        def answer(argv):
            if argv[3] == "enter.sh":
                return testing.completed(STATUS)
            if argv[4] == "look":
                return testing.completed(look.format(method))
            return testing.completed(f"/cg/{argv[6]}/cgroup.procs\n")

        return testing.FakeMachine(
            "host1",
            {
                "sh": answer,
                "id": f"{uid}\n",
                "sudo -n -- true": "",
                "sudo -n -- sh": lambda argv: answer(argv[3:]),
                "systemd-run": STATUS,
                **answers,
            },
        )

    async def assert_taskset(self, machine, reason):
        hold = await shapes.apply_limits(machine, cpus=1, memory_mib=512)
        self.assertEqual("taskset", hold.limited_by)
        self.assertEqual((("taskset", "-c", "0"),), hold.prefixes)
        (limits_finding,) = hold.findings
        self.assertEqual("shape_not_enforced", limits_finding.kind)
        self.assertRegex(limits_finding.detail, reason)
        await hold.release()

    async def test_chosen_cpus(self):
        """The named CPUs are used, including isolated ones."""
        machine = self.machine("none")
        hold = await shapes.apply_limits(
            machine, cpus=1, memory_mib=512, copies=2, allowed="2-3,9"
        )
        self.assertEqual(((2,), (3,)), hold.cpus)
        self.assertEqual(
            "limited by taskset to CPUs 2; 3, NUMA node 0", hold.describe()
        )
        self.assertEqual(
            {"limited_by": "taskset", "cpus": ["2", "3"], "numa_nodes": [0]},
            hold.document(),
        )
        with self.assertRaisesRegex(
            shapes.TooSmall, "host1 has 2 CPUs of 2-3,9 and 3 copies of 1 "
        ):
            await shapes.apply_limits(
                machine, cpus=1, memory_mib=512, copies=3, allowed="2-3,9"
            )
        with self.assertRaisesRegex(shapes.TooSmall, "0 CPUs of 7 "):
            await shapes.check(machine, cpus=1, memory_mib=1, allowed="7")

    async def test_control_groups_that_cannot_be_made(self):
        def refuse(argv):
            if argv[4] == "look":
                return testing.completed(LOOK.format("cgroup2"))
            busy = "write error: Device or resource busy\n"
            return testing.completed(
                stderr=busy, exit_status=argv[4] != "down"
            )

        machine = self.machine("cgroup2", sh=refuse)
        await self.assert_taskset(machine, "making .*resource busy")
        self.assertEqual("down", machine.commands[-1][4])

    async def test_a_user_without_root(self):
        refused = testing.completed(
            stderr="sudo: a password is required\n", exit_status=1
        )
        for method in ("systemd", "cgroup2", "cgroup1"):
            machine = self.machine(
                method, uid="1000", **{"sudo": refused, "sudo -n --": refused}
            )
            machine._answers.pop(("sudo", "-n", "--", "true"))
            machine._answers.pop(("sudo", "-n", "--", "sh"))
            with self.subTest(method):
                await self.assert_taskset(machine, "a password is required")

    async def test_control_groups_that_cannot_be_entered(self):
        refused = testing.completed(
            stderr="Failed to connect to bus\n", exit_status=1
        )
        await self.assert_taskset(
            self.machine("systemd", **{"systemd-run": refused}),
            "entering .*Failed to connect to bus",
        )

    async def test_control_groups_that_hold_nothing(self):
        everything = "Name: x\nCpus_allowed_list:\t0-3\n"
        await self.assert_taskset(
            self.machine("systemd", **{"systemd-run": everything}), "'0-3'"
        )

    async def test_a_machine_that_goes_away_meanwhile(self):
        machine = self.machine(
            "systemd", **{"systemd-run": base.Unreachable("away")}
        )
        with self.assertRaises(base.Unreachable):
            await shapes.apply_limits(machine, cpus=1, memory_mib=512)

    async def test_taskset_limits_no_memory_and_reports_it(self):
        hold = await shapes.apply_limits(
            self.machine("taskset"), cpus=2, memory_mib=512, copies=2
        )
        self.assertEqual(
            (("taskset", "-c", "0,1"), ("taskset", "-c", "2,3")), hold.prefixes
        )
        (limits_finding,) = hold.findings
        self.assertEqual("shape_not_enforced", limits_finding.kind)
        self.assertEqual("host1", limits_finding.subject)
        await hold.release()

    async def test_systemd(self):
        hold = await shapes.apply_limits(
            self.machine("systemd"), cpus=1, memory_mib=512
        )
        arguments = hold.prefixes[0]
        self.assertEqual("systemd-run", arguments[0])
        self.assertIn("--property=AllowedCPUs=0", arguments)
        self.assertIn("--property=MemoryMax=512M", arguments)
        self.assertIn("--property=MemorySwapMax=0", arguments)

    async def test_systemd_binds_memory_to_the_node_of_the_cpus(self):
        """The record states this node."""
        look = LOOK.replace("0,0,0", "0,0,1")
        machine = self.machine("systemd", look=look)
        hold = await shapes.apply_limits(
            machine, cpus=1, memory_mib=512, allowed="0"
        )
        self.assertEqual([1], hold.document()["numa_nodes"])
        self.assertIn("--property=AllowedMemoryNodes=1", hold.prefixes[0])

    async def test_a_user_enters_as_root_and_works_as_himself(self):
        machine = self.machine("cgroup2", uid="1000")
        hold = await shapes.apply_limits(machine, cpus=1, memory_mib=512)
        prefix = hold.prefixes[0]
        self.assertEqual(("sudo", "-n", "--"), prefix[:3])
        self.assertEqual(
            (
                "setpriv",
                "--reuid=1000",
                "--regid=1000",
                "--init-groups",
                "--",
            ),
            prefix[-5:],
        )
        await hold.release()
        self.assertEqual("down", machine.commands[-1][7])

    def test_whole(self):
        hold = shapes.unlimited(3)
        self.assertEqual(
            ("none", ((), (), ())), (hold.limited_by, hold.prefixes)
        )


class Cgroup2TestCase(unittest.IsolatedAsyncioTestCase):
    """The files of version 2, in a plain folder where the kernel has none."""

    async def test_files(self):
        root = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(dir=folders.PLAIN))
        )
        (root / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
        machine = local.Local("here")
        look = await machine.run(scripts.argv("shape.sh", "look", str(root)))
        self.assertRegex(look.stdout, "method=(cgroup2|systemd)")
        arguments = (str(root), "rally-vmperf-x", "0-1", "0", "1048576")
        completed = await machine.run(
            scripts.argv("shape.sh", "up", *arguments)
        )
        self.assertEqual(0, completed.exit_status, completed.stderr)
        group = root / "rally-vmperf-x"
        self.assertEqual(f"{group}/cgroup.procs\n", completed.stdout)
        self.assertEqual("0-1\n", (group / "cpuset.cpus").read_text())
        self.assertEqual("1048576\n", (group / "memory.max").read_text())
        run_as = shapes.User(uid="0", gid="0")
        prefix = shapes.enter(run_as, completed.stdout.split())
        completed = await machine.run([*prefix, "sh", "-c", "echo $$"])
        self.assertEqual(
            completed.stdout, (group / "cgroup.procs").read_text()
        )
