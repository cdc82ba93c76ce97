import unittest

import ddt

from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import testing
from rally_vmperf.machines.provisioning import packages
from tests.unit.machines import programs


@ddt.ddt
class FindManagerTestCase(unittest.IsolatedAsyncioTestCase):
    @ddt.data(("dnf\n", "dnf"), ("", ""), ("evil\n", ""), ("\x1b[1m", ""))
    @ddt.unpack
    async def test_output_of_a_machine(self, stdout, manager):
        """Only a known program is accepted."""
        machine = testing.FakeMachine("g1", {"sh": stdout})
        self.assertEqual(manager, await packages.find_manager(machine))

    async def test_failed_search(self):
        failed = testing.completed(stderr="no printf\n", exit_status=2)
        machine = testing.FakeMachine("g1", {"sh": failed})
        with self.assertRaisesRegex(base.MachineError, "g1 .*no printf"):
            await packages.find_manager(machine)

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
        self.assertEqual(manager, await packages.find_manager(machine))
