# SPDX-License-Identifier: Apache-2.0
"""Tests of who else works on a machine."""

import asyncio
import dataclasses
import subprocess
import sys
import time
import unittest

import ddt

from rally_vmperf.machines import background_load
from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import testing

#: One processor's time in ticks, and that of four for ten seconds.
BEFORE = """machine hz=100 cpus=4 own=30
counters up=90.00 sectors=1000 bytes=5000 cpu=0 io=0 memory=0
process 1 0 10 500 90000 systemd
process 20 1 300 50 70000 sshd
process 30 20 8900 1 0 sh
process 40 1 400 1000 0 qemu-system-x86
process 50 1 500 10 100 cron
process 51 50 8000 40 0 backup
"""
AFTER = """machine hz=100 cpus=4 own=31
counters up=100.00 sectors=1000 bytes=5000 cpu=0 io=0 memory=0
process 1 0 10 900 95000 systemd
process 20 1 300 60 74000 sshd
process 31 20 9900 1 0 sh
process 32 31 9900 90 0 awk
process 40 1 400 {qemu} 0 qemu-system-x86
process 50 1 500 10 {reaped} cron
process 60 1 9500 {new} 0 (a) b (c
"""
#: Four processors for ten seconds.
WHOLE = 4000


def after(qemu=1000, reaped=140, new=0):
    """Return a machine ten seconds later, when a child of cron has ended."""
    return background_load.parse(
        AFTER.format(qemu=qemu, reaped=reaped, new=new)
    )


@ddt.ddt
class TestBetween(unittest.TestCase):
    """Two looks at a machine, and what others did meanwhile."""

    def between(self, **changes):
        """Return the load within ten seconds."""
        before = background_load.parse(BEFORE)
        return background_load.find_cpu_use(before, after(**changes))

    def test_own_and_quiet_processes(self):
        """Only descendants of the run are excluded, not children of init."""
        self.assertEqual([], self.between())

    @ddt.data(
        ({"qemu": 1000 + WHOLE // 2}, "qemu-system-x86 50.0%"),
        ({"reaped": 140 + WHOLE // 4}, "cron 25.0%"),
        ({"new": WHOLE // 10}, "(a) b (c 10.0%"),
    )
    @ddt.unpack
    def test_others(self, changes, named):
        """A process, what it waited for, and a new one are named."""
        (load,) = self.between(**changes)
        self.assertEqual("processors of bare metal", load.subject)
        self.assertIn(f"({named}", load.description)
        self.assertIn("of its 4 processors", load.description)

    def test_a_little(self):
        """Two in a hundred are a host's own services."""
        self.assertEqual([], self.between(qemu=1000 + WHOLE // 50))
        self.assertEqual(1, len(self.between(qemu=1001 + WHOLE // 50)))

    def test_an_earlier_account_is_not_counted_again(self):
        """A child that ended leaves its parent what it used before, too."""
        self.assertEqual([], self.between(reaped=100 + 40 + WHOLE // 50))


@ddt.ddt
class TestQuiet(unittest.TestCase):
    """A second without processes of the run."""

    QUIET = """machine hz=100 cpus=4 own=30
counters up=90.00 sectors=1000 bytes=5000 speed=0 cpu=1000000 io=0 memory=0
counters up=91.00 sectors={sectors} bytes={bytes} speed={speed} cpu={cpu} \
io={io} memory=0
process 30 20 8900 1 0 {name}
"""

    def find_load(self, **changes):
        """Return the load in these facts."""
        facts = {
            "sectors": 1000,
            "bytes": 5000,
            "speed": 0,
            "cpu": 1000000,
            "io": 0,
            "name": "sh",
        }
        text = self.QUIET.format(**{**facts, **changes})
        return background_load.find_load(background_load.parse(text))

    def test_nothing(self):
        """A quiet machine has no load."""
        self.assertEqual([], self.find_load())

    @ddt.data(
        ({"sectors": 1000 + 8192}, "disks", "its disks moved 4.2 MB/s"),
        ({"bytes": 3000000}, "links", "its links moved 3.0 MB/s"),
        (
            {"bytes": 13000000, "speed": 10000},
            "links",
            "its links moved 13.0 MB/s",
        ),
        (
            {"cpu": 1300000},
            "processors",
            "processes waited for processors 30% of the time",
        ),
        (
            {"io": 200000},
            "disks",
            "processes waited for disks 20% of the time",
        ),
        ({"name": "qemu-system-x86"}, "", "1 QEMU processes run on it"),
    )
    @ddt.unpack
    def test_others(self, changes, noun, description):
        """Disks, links, pressure and guests are."""
        subject = f"{noun} of bare metal" if noun else "baseline"
        self.assertEqual([(subject, description)], self.find_load(**changes))

    def test_one_percent_of_the_link(self):
        """A heartbeat of storage does not load a link of 10 Gbit/s."""
        self.assertEqual([], self.find_load(bytes=12000000, speed=10000))

    @ddt.data(
        ("processors of bare metal", ["cpu", "memory", "application"]),
        ("disks of bare metal", ["disk", "application"]),
        ("links of bare metal", ["network", "application"]),
        (
            "baseline",
            ["cpu", "memory", "disk", "network", "application"],
        ),
    )
    @ddt.unpack
    def test_parts(self, subject, parts):
        """A load concerns the workloads of its part."""
        all_parts = ("cpu", "memory", "disk", "network", "application")
        self.assertEqual(
            parts,
            [
                component
                for component in all_parts
                if background_load.concerns(subject, component)
            ],
        )

    def test_a_kernel_without_pressure(self):
        """Missing files of the kernel are not read."""
        text = (
            "machine hz=100 cpus=4 own=30\n"
            "counters up=90.00 sectors=0 bytes=0 cpu= io= memory=\n"
            "counters up=91.00 sectors=0 bytes=0 cpu= io= memory=\n"
        )
        reading = background_load.parse(text)
        self.assertEqual([], background_load.find_load(reading))


class TestLook(unittest.TestCase):
    """The load of a machine is read."""

    def test_a_burner(self):
        """Real processes that burn are seen, and this process is not."""
        machine = local.Local("metal")
        burner = "while True: pass"
        burning = [
            subprocess.Popen([sys.executable, "-c", burner]) for _ in range(4)
        ]
        try:
            before = asyncio.run(background_load.read_load(machine))
            pids = {process.pid for process in before.processes}
            self.assertLessEqual({process.pid for process in burning}, pids)
            time.sleep(2)
            later = asyncio.run(background_load.read_load(machine))
        finally:
            for process in burning:
                process.kill()
                process.wait()
        (load,) = background_load.find_cpu_use(before, later)
        self.assertIn("other processes used ", load.description)
        # Whoever else works here now: without the burners it is less.
        others = dataclasses.replace(
            later,
            processes=tuple(
                process
                for process in later.processes
                if process.pid not in {each.pid for each in burning}
            ),
        )
        self.assertNotEqual(
            [load], background_load.find_cpu_use(before, others)
        )

    def test_a_quiet_look_has_two_readings(self):
        """The second one is later."""
        reading = asyncio.run(
            background_load.read_load(local.Local("metal"), 1)
        )
        first, last = reading.counters
        self.assertGreater(last["up"], first["up"])

    def test_a_machine_without_an_answer(self):
        """It is named, with the missing program."""
        machine = testing.FakeMachine("metal", {"sh": "no\n"})
        with self.assertRaisesRegex(base.MachineError, "metal .* needs awk"):
            asyncio.run(background_load.read_load(machine))
