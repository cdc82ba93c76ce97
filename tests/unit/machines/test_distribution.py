import unittest

import ddt

from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import testing
from rally_vmperf.machines.provisioning import packages
from tests.unit.machines import programs


def said(manager, ident, version, codename, architecture="x86_64"):
    return (
        f"manager={manager}\nid={ident}\nversion_id={version}\n"
        f"codename={codename}\narchitecture={architecture}\n"
    )


@ddt.ddt
class DistributionTestCase(unittest.IsolatedAsyncioTestCase):
    @ddt.data(
        (
            said("apt-get", "debian", "12", "bookworm", "amd64"),
            ("apt", {"bookworm", "debian-12"}, "amd64"),
        ),
        (
            said("apt-get", "ubuntu", "22.04", "jammy", "arm64"),
            ("apt", {"jammy", "ubuntu-22.04", "ubuntu-22"}, "arm64"),
        ),
        (
            said("dnf", "rocky", "9.4", ""),
            ("dnf", {"rocky-9.4", "rocky-9"}, "x86_64"),
        ),
        (said("yum", "rhel", "7.9", ""), ("dnf", {"rhel-7.9", "rhel-7"})),
        (
            said("zypper", "opensuse-leap", "15.6", ""),
            ("zypper", {"opensuse-leap-15.6", "opensuse-leap-15"}),
        ),
        (said("zypper", "opensuse-tumbleweed", "", ""), ("zypper", set())),
        (said("", "alpine", "3.20", ""), ("", {"alpine-3.20", "alpine-3"})),
        (said("evil", "", "", ""), ("", set())),
    )
    @ddt.unpack
    async def test_what_machines_say(self, stdout, wanted):
        machine = testing.FakeMachine("g1", {"sh": stdout})
        found = await packages.of(machine)
        told = (found.kind, set(found.names), found.architecture)
        self.assertEqual(wanted, told[: len(wanted)])

    async def test_what_is_said_is_made_printable(self):
        machine = testing.FakeMachine(
            "g1", {"sh": "id=a\x1b[1m\nversion_id=1"}
        )
        found = await packages.of(machine)
        self.assertEqual({"a\ufffd[1m-1"}, found.names)
        self.assertEqual("", found.manager)

    async def test_a_machine_that_cannot_tell(self):
        failed = testing.completed(stderr="no printf\n", exit_status=2)
        machine = testing.FakeMachine("g1", {"sh": failed})
        with self.assertRaisesRegex(base.MachineError, "g1 .*no printf"):
            await packages.of(machine)

    @ddt.data(
        ([], ""),
        (["apt-get"], "apt-get"),
        (["dnf", "yum"], "dnf"),
        (["microdnf"], "microdnf"),
        (["yum"], "yum"),
        (["zypper"], "zypper"),
    )
    @ddt.unpack
    async def test_real_script(self, there, wanted):
        """It finds the one that is there, and an architecture."""
        has = programs.Programs(self)
        for name in there:
            has.fake(name)
        found = await packages.of(local.Local("here"))
        self.assertEqual(wanted, found.manager)
        self.assertTrue(found.architecture)
