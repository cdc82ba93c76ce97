import dataclasses
import hashlib
import pathlib
import shutil
import unittest

from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import provision
from rally_vmperf.machines import testing


@dataclasses.dataclass
class Tool:
    command: str
    package: str
    version: tuple[str, ...]


LS = Tool("ls", "coreutils", ("ls", "--version"))
MBW = Tool("mbw", "mbw", ("mbw", "-h"))
MISSING = "tool mbw\n"
THERE = "tool mbw\npath /usr/bin/mbw\nsha256 abc\nversion \nmbw\x1b[1m 1\n"


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
            await provision.ensure(here, [LS, absent], install=False)

    async def test_missing_tools_are_installed(self):
        machine = testing.FakeMachine(
            "g1", {"bash": [MISSING, THERE], "id -u": "0\n", "sh": ""}
        )
        facts = await provision.ensure(machine, [MBW])
        self.assertEqual("/usr/bin/mbw", facts["mbw"].path)
        install = machine.commands[2]
        self.assertEqual(("sh", "-c"), install[:2])
        self.assertEqual(("install.sh", "mbw"), install[3:])

    async def test_apt_says_why_not(self):
        machine = testing.FakeMachine(
            "g1",
            {
                "bash": MISSING,
                "id -u": "1000\n",
                "sudo": [
                    testing.completed(),
                    testing.completed(
                        stderr="W: x\nE: Unable to locate package mbw\n",
                        exit_status=100,
                    ),
                ],
            },
        )
        with self.assertRaisesRegex(
            base.MachineError,
            r"^g1 has no mbw: .*\(apt: E: Unable to locate package mbw\)$",
        ):
            await provision.ensure(machine, [MBW])

    async def test_no_sudo(self):
        refused = testing.completed(
            stderr="sudo: a password is required\n", exit_status=1
        )
        machine = testing.FakeMachine(
            "g1", {"bash": MISSING, "id -u": "1000\n", "sudo": refused}
        )
        with self.assertRaisesRegex(base.MachineError, "password"):
            await provision.ensure(machine, [MBW])

    async def test_what_a_guest_says_is_made_printable(self):
        said = "tool mbw\npath /usr/bin/mbw\nversion a\x1b[31m" + "x" * 999
        machine = testing.FakeMachine("g1", {"bash": said})
        facts = (await provision.ensure(machine, [MBW]))["mbw"]
        self.assertTrue(facts.version.isprintable())
        self.assertEqual(200, len(facts.version))
        self.assertEqual("", facts.checksum)
