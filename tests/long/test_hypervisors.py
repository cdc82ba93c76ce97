# SPDX-License-Identifier: Apache-2.0
"""A second hypervisor: its services, its control socket, and its removal."""

from tests.cloud.state import settings
from tests.cloud.system import layout
from tests.functional import breakage as d
from tests.functional import laboratory
from tests.functional import recovering
from tests.functional import test_closed
from tests.long import guest
from tests.long import long

FIRST, SECOND = layout.HYPERVISORS


def as_nobody(*command):
    """Return the command line of a user without rights."""
    return ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
            *command)  # fmt: skip


@long.LONG
class TestHypervisors(recovering.Case):
    """Two hypervisors in one container."""

    @classmethod
    def setUpClass(cls):
        """Go back to the earlier number in the end."""
        super().setUpClass()
        before = str(settings.load(d.PLACE).hypervisors)
        cls.addClassCleanup(recovering.up, "--hypervisors", before)

    def setUp(self):
        super().setUp()
        self.up("--hypervisors", "2")
        self.cloud = recovering.connect("admin")

    def boot(self, name, host):
        """Boot a guest on a hypervisor."""
        return guest.booted(self.cloud, d.PLACE.root, name, host)

    def hosts(self):
        """Return the hosts of services, hypervisors and agents."""
        compute, network = self.cloud.compute, self.cloud.network
        return [
            {
                service.host
                for service in compute.services(binary="nova-compute")
            },
            {hypervisor.name for hypervisor in compute.hypervisors()},
            {agent.host for agent in network.agents()},
        ]

    def test_both_are_alive(self):
        self.assertEqual([{FIRST, SECOND}] * 3, self.hosts())
        services = self.cloud.compute.services(binary="nova-compute")
        self.assertEqual(["up", "up"], [service.state for service in services])
        agents = [
            (agent.host, agent.is_alive)
            for agent in self.cloud.network.agents()
        ]
        self.assertEqual(5, len(agents))
        self.assertIn((SECOND, True), agents)
        self.assertEqual({True}, {alive for _, alive in agents})
        shown = d.run(*d.COMMAND, "status", *d.ROOT)
        for name in ("libvirtd", "nova-compute", "neutron-linuxbridge-agent"):
            for host in layout.HYPERVISORS:
                self.assertRegex(shown, rf"{name} +\| {host} +\| running ")

    def test_control_is_closed(self):
        """It is reached by sockets of root, and by no port."""
        chosen = laboratory.networks()
        addresses = (chosen.controller, str(chosen.management[3]))
        reachable = f"{chosen.controller}:5000"
        targets = [
            f"{host}:{port}"
            for host in ("127.0.0.1", *addresses)
            for port in test_closed.LIBVIRT
        ]
        python = ("/usr/bin/python3", "-c", test_closed.ASK)
        ask = as_nobody(*python, reachable, *targets)
        self.assertEqual([reachable], d.CONTAINER.run(*ask).split())
        self.assertEqual([reachable], d.run(*ask).split())
        for address in addresses:
            folder = d.PLACE.run / f"libvirt-{address}"
            self.assertTrue((folder / "libvirt-sock").is_socket())
            self.assertEqual(0o700, folder.stat().st_mode & 0o777)
            look = as_nobody("ls", str(folder))
            output = d.CONTAINER.run(*look, accept=(2,))
            self.assertIn("Permission denied", output)

    def test_removal(self):
        """Rejected while it has a guest; then nothing of it is left."""
        name = "vmperf-in-the-way"
        with self.boot(name, SECOND):
            self.check_rejected(
                f"--hypervisors=1: .*{SECOND} has guests .*{name}",
                *("--hypervisors", "1"),
            )
            self.assertEqual([{FIRST, SECOND}] * 3, self.hosts())
        self.up("--hypervisors", "1")
        self.assertEqual([{FIRST}] * 3, self.hosts())
        providers = self.cloud.placement.resource_providers()
        self.assertEqual([FIRST], [provider.name for provider in providers])
        self.assertEqual([], d.CONTAINER.processes("supervisord-2"))
        self.assertNotIn(
            2, {len(hypervisors) for hypervisors in d.processes().values()}
        )
