# SPDX-License-Identifier: Apache-2.0
import dataclasses
import hashlib
import pathlib
import shutil
import unittest

import ddt

from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import testing
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.workloads import registry
from tests.unit.machines import programs


@dataclasses.dataclass
class Tool:
    command: str
    package: str
    version: tuple[str, ...]
    packages: dict[str, str] = dataclasses.field(default_factory=dict)
    advice: dict[str, str] = dataclasses.field(default_factory=dict)


LS = Tool("ls", "coreutils", ("ls", "--version"))
MBW = Tool("mbw", "mbw", ("mbw", "-h"))
MISSING = "tool mbw\n"
DEBIAN, ROCKY, LEAP = "apt-get\n", "dnf\n", "zypper\n"
ANY = provision.Supply()
TOOLS = {
    tool.command: tool
    for name in registry.workload_names()
    for tool in registry.get_workload(name).TOOLS
}
THERE = "tool mbw\npath /usr/bin/mbw\nsha256 abc\nversion \nmbw\x1b[1m 1\n"


@ddt.ddt
class EnsureTestCase(unittest.IsolatedAsyncioTestCase):
    async def test_real_tools(self):
        absent = Tool("no-such-tool", "none", ("no-such-tool",))
        here = local.Local("here")
        facts = (await provision.ensure(here, [LS]))["ls"]
        path = shutil.which("ls")
        self.assertEqual(path, facts.path)
        self.assertEqual(
            hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest(),
            facts.checksum,
        )
        self.assertIn("coreutils", facts.version)
        with self.assertRaisesRegex(
            base.MachineError,
            "has no no-such-tool: .*apt-get install none",
        ):
            await provision.ensure(here, [LS, absent])

    async def test_version_of_a_package(self):
        """A program without an option for its version is found by its file."""
        has = programs.Programs(self)
        has.fake("mbw")
        here = local.Local("here")
        silent = Tool("mbw", "mbw", ())
        has.fake("dpkg-query", 'echo "$3 1.2.2-1.1"')
        facts = (await provision.ensure(here, [silent]))["mbw"]
        self.assertEqual("mbw 1.2.2-1.1", facts.version)
        has.fake("dpkg-query", stderr="no packages\n", exit_status=1)
        has.fake("rpm", "echo mbw-2.0-1.x86_64")
        facts = (await provision.ensure(here, [silent]))["mbw"]
        self.assertEqual("mbw-2.0-1.x86_64", facts.version)
        has.fake("rpm", 'echo "file $3 is not owned"; exit 1')
        facts = (await provision.ensure(here, [silent]))["mbw"]
        self.assertEqual("", facts.version)

    async def test_nothing_is_done_for_tools_that_are_there(self):
        machine = testing.FakeMachine("g1", {"bash": THERE})
        facts = await provision.ensure(machine, [MBW], supply=ANY)
        self.assertEqual("/usr/bin/mbw", facts["mbw"].path)
        self.assertEqual(1, len(machine.commands))

    async def test_missing_tools_are_installed(self):
        machine = testing.FakeMachine(
            "g1",
            {"bash": [MISSING, THERE], "id -u": "0\n", "sh": [DEBIAN, ""]},
        )
        proxy = provision.Supply(proxy="http://192.0.2.1:1")
        facts = await provision.ensure(machine, [MBW], supply=proxy)
        self.assertEqual("/usr/bin/mbw", facts["mbw"].path)
        install = machine.commands[3]
        self.assertEqual(("sh", "-c"), install[:2])
        self.assertEqual(
            ("install.sh", "apt-get", "http://192.0.2.1:1", "mbw"),
            install[3:],
        )

    @ddt.data(
        (DEBIAN, "iperf3", "apt-get install iperf3"),
        (ROCKY, "iperf3", "dnf install iperf3"),
        (LEAP, "iperf3", "zypper install iperf"),
        (ROCKY, "sysbench", "dnf install sysbench; .* in EPEL"),
        (LEAP, "sysbench", "zypper install sysbench; .*Package Hub"),
        (ROCKY, "mbw", "dnf install mbw; no known package"),
    )
    @ddt.unpack
    async def test_forbidden(self, release, command, message):
        """Only queries run; the message has the command to run."""
        machine = testing.FakeMachine(
            "g1", {"bash": f"tool {command}\n", "sh": release}
        )
        with self.assertRaisesRegex(
            base.MachineError, f"^g1 has no {command}: install .*: {message}"
        ):
            await provision.ensure(
                machine, [TOOLS[command]], supply=provision.NO_SUPPLY
            )
        self.assertEqual(2, len(machine.commands))

    @ddt.data(ANY, provision.NO_SUPPLY)
    async def test_a_tool_that_no_distribution_has(self, supply):
        """Nothing is installed; the message names the source."""
        machine = testing.FakeMachine(
            "g1", {"bash": "tool bmkrun\n", "sh": DEBIAN}
        )
        with self.assertRaisesRegex(
            base.MachineError,
            "^g1 has no bmkrun: no distribution has a package: build an ",
        ):
            await provision.ensure(machine, [TOOLS["bmkrun"]], supply=supply)

    async def test_no_package_manager(self):
        machine = testing.FakeMachine("g1", {"bash": MISSING, "sh": ""})
        with self.assertRaisesRegex(
            base.MachineError, "no mbw: .*neither apt-get nor dnf nor zypper"
        ):
            await provision.ensure(machine, [MBW], supply=ANY)

    async def test_why_not(self):
        failed = testing.completed(
            stderr="Error: Unable to find a match: sysbench\n", exit_status=1
        )
        machine = testing.FakeMachine(
            "g1",
            {
                "bash": "tool sysbench\n",
                "id -u": "0\n",
                "sh": [ROCKY, failed],
            },
        )
        with self.assertRaisesRegex(
            base.MachineError,
            r"^g1 has no sysbench: dnf cannot install sysbench \(Error: "
            r"Unable to find a match: sysbench\); .* in EPEL: enable it; .*"
            r"option proxy .*option bundle.*image build'$",
        ):
            await provision.ensure(machine, [TOOLS["sysbench"]], supply=ANY)

    async def test_no_sudo(self):
        refused = testing.completed(
            stderr="sudo: a password is required\n", exit_status=1
        )
        machine = testing.FakeMachine(
            "g1",
            {
                "bash": MISSING,
                "sh": DEBIAN,
                "id -u": "1000\n",
                "sudo": refused,
            },
        )
        with self.assertRaisesRegex(base.MachineError, "password"):
            await provision.ensure(machine, [MBW], supply=ANY)

    async def test_output_of_a_guest_is_made_printable(self):
        output = "tool mbw\npath /usr/bin/mbw\nversion a\x1b[31m" + "x" * 999
        machine = testing.FakeMachine("g1", {"bash": output})
        facts = (await provision.ensure(machine, [MBW]))["mbw"]
        self.assertTrue(facts.version.isprintable())
        self.assertEqual(200, len(facts.version))
        self.assertEqual("", facts.checksum)


@ddt.ddt
class FindManagerTestCase(unittest.IsolatedAsyncioTestCase):
    @ddt.data(("dnf\n", "dnf"), ("", ""), ("evil\n", ""), ("\x1b[1m", ""))
    @ddt.unpack
    async def test_output_of_a_machine(self, stdout, manager):
        """Only a known program is accepted."""
        machine = testing.FakeMachine("g1", {"sh": stdout})
        self.assertEqual(manager, await provision.find_manager(machine))

    async def test_failed_search(self):
        failed = testing.completed(stderr="no printf\n", exit_status=2)
        machine = testing.FakeMachine("g1", {"sh": failed})
        with self.assertRaisesRegex(base.MachineError, "g1 .*no printf"):
            await provision.find_manager(machine)

    @ddt.data(
        ([], ""),
        (["apt-get"], "apt-get"),
        (["dnf", "yum"], "dnf"),
        (["dnf", "zypper"], "zypper"),
        (["microdnf"], "microdnf"),
        (["yum"], "yum"),
        (["zypper"], "zypper"),
    )
    @ddt.unpack
    async def test_real_script(self, present, manager):
        fakes = programs.Programs(self)
        for name in present:
            fakes.fake(name)
        machine = local.Local("here")
        self.assertEqual(manager, await provision.find_manager(machine))
