# SPDX-License-Identifier: Apache-2.0
"""However much a guest says, little of it is kept, and no wait is long."""

import asyncio
import json
import resource
import unittest

import ddt

from rally_vmperf.execution.stations import health
from rally_vmperf.machines import base
from rally_vmperf.machines import fingerprint
from rally_vmperf.machines import local
from rally_vmperf.machines import testing
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.workloads import base as workloads
from rally_vmperf.workloads import document
from rally_vmperf.workloads.cpu import bzip2
from tests.unit.machines import folders
from tests.unit.machines import jobs

MIB = 1 << 20


@ddt.ddt
class DescriptionTestCase(unittest.IsolatedAsyncioTestCase):
    @ddt.data(
        "disks",
        "network_interfaces",
        "mitigations",
        "cpuinfo",
        "cmdline",
        "lscpu",
        "os",
        "kernel",
        "nodes",
    )
    async def test_a_fingerprint_of_a_megabyte(self, section):
        """It is refused, or little of it is kept."""
        sizes = []
        for table in (
            "".join(f"n{n}={'v' * 200}\t" * 24 for n in range(200)),
            f"x: {'v' * 200}={'w' * 200}\n" * 2400,
            "".join(f"k{n}:=\"<>&'{n}{'é' * 180}\n" for n in range(2400)),
            "flags : " + " ".join(f"f{n}{'f' * 190}" for n in range(5000)),
            "\n".join(
                "".join(f"k{n}={'v' * 200}\t" for n in range(64))
                for _ in range(64)
            ),
        ):
            output = f"@@ {section}\n{table[:MIB]}\n@@ cpuinfo\nx : y\n"
            machine = testing.FakeMachine("g1", {"sh": output})
            try:
                facts = await fingerprint.collect(machine)
            except base.MachineError as error:
                self.assertRegex(str(error), "^g1: the fingerprint has")
            else:
                sizes.append(len(json.dumps(facts)))
        self.assertLessEqual(max(sizes, default=0), fingerprint.LARGEST)

    async def test_disks_of_a_megabyte_are_refused(self):
        row = "".join(f"k{n}={'v' * 200}\t" for n in range(64))
        output = "@@ cpuinfo\n@@ disks\n" + f"{row}\n" * 64
        machine = testing.FakeMachine("g1", {"sh": output})
        with self.assertRaisesRegex(
            base.MachineError, "^g1: the fingerprint has"
        ):
            await fingerprint.collect(machine)

    async def test_a_large_host_is_not_refused(self):
        disk = "name=sdaa\tmodel=SAMSUNG MZ7LH960HAJR-00005\tdriver=sd\t"
        disk += "bus=scsi\trotational=0\tscheduler=[mq-deadline] none\t"
        disk += "write_cache=write back\tsectors=1875385008\n"
        net = "name=enp193s0f0np0\tdriver=mlx5_core\tspeed=100000\tmtu=9000\n"
        flags = " ".join(f"avx512_flag{n}" for n in range(200))
        output = f"@@ cpuinfo\nflags\t: {flags}\n@@ disks\n{disk * 64}"
        output += f"@@ nets\n{net * 64}@@ mitigations\n"
        output += "".join(f"bug{n}: Mitigation: yes\n" for n in range(30))
        machine = testing.FakeMachine("host", {"sh": output})
        facts = await fingerprint.collect(machine)
        self.assertEqual(64, len(facts["disks"]))

    async def test_a_hundred_thousand_tools_that_nobody_asked_for(self):
        output = "".join(f"tool t{n}\npath /{n}\n" for n in range(100_000))
        machine = testing.FakeMachine("g1", {"bash": output, "sh": output})
        with self.assertRaisesRegex(base.MachineError, "g1 has no bzip2"):
            await provision.ensure(
                machine, bzip2.Bzip2.TOOLS[:1], supply=provision.NO_SUPPLY
            )

    def test_counters_of_a_megabyte(self):
        look = health.parse("b" * MIB + "\n" + "pswpin 9999999999999999\n" * 9)
        self.assertEqual(64, len(look.boot))
        for text in ("cpu " + "9" * MIB, "cpu\n" * 99999, "\0" * MIB):
            health.parse(f"boot\n{text}\npswpin {'9' * 5000}\n")

    def test_json_of_a_hostile_shape(self):
        for text in (
            "{" * 10000,
            '{"a":' * 10000 + "1" + "}" * 10000,
            '{"a":' + "[" * 100000,
            '{"a": ' + "9" * 5000 + "}",
        ):
            with self.assertRaises(workloads.WorkloadError) as caught:
                document.Document(text, "fio").number("a")
            self.assertLess(len(str(caught.exception)), 300)
        twice = document.Document('{"a": 1, "a": 2}', "fio")
        self.assertEqual(2, twice.number("a"))
        for key in ("__proto__", "constructor", "__class__"):
            self.assertIsNone(twice.find(key))


@ddt.ddt
class OutputTestCase(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.machine = local.Local("g1")
        self.folder = str(folders.below(self))

    async def run_job(self, *script, timeout=60, limit=MIB):
        handle = await jobs.start(
            self.machine,
            self.folder,
            "flood",
            ["sh", "-c", *script],
            timeout=timeout,
            output_limit=limit,
        )
        return await handle.finish()

    @ddt.data(
        "head -c 100000000 /dev/zero",
        "head -c 100000000 /dev/zero >&2",
        "yes",
        "yes >&2",
        "trap '' TERM; yes",
    )
    async def test_a_job_that_floods_is_ended(self, script):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with self.assertRaisesRegex(base.OutputTooLong, "g1: .* flood"):
            await self.run_job(script)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 32 * 1024)

    @ddt.data(
        "while :; do echo x; sleep 0.05; done",
        "exec >&- 2>&-; sleep 60",
        "trap '' TERM HUP INT; while :; do sleep 60; done",
        "for n in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; wait",
        "exec </dev/zero; cat >/dev/null",
    )
    async def test_a_job_that_never_ends_is_ended(self, script):
        with self.assertRaisesRegex(base.TimedOut, "g1: .* flood .* 0.5 s"):
            await self.run_job(script, timeout=0.5)

    @ddt.data(
        # An account whose end never comes, and nothing but word characters.
        "a" * MIB,
        "=" * MIB,
        "a=" * (MIB // 2),
        ("exit=0 " * 99999)[:MIB],
        "\n" * MIB,
        "",
        "\n\nexit=0",
    )
    async def test_an_account_that_is_none(self, output):
        machine = testing.FakeMachine("g1", {"bash": ["", output]})
        handle = await jobs.start(machine, "/tmp", "fio", ["true"], timeout=1)
        with self.assertRaisesRegex(base.MachineError, "g1: .*fio") as caught:
            async with asyncio.timeout(30):
                await handle.finish()
        self.assertLess(len(str(caught.exception)), 700)
        self.assertTrue(str(caught.exception).isprintable())
