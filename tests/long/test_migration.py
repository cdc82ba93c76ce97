"""A second hypervisor: live migration there and back, and its removal."""

import re

from tests.cloud.state import settings
from tests.cloud.system import layout
from tests.functional import breakage as d
from tests.functional import laboratory
from tests.functional import recovering
from tests.functional import test_closed
from tests.long import guest
from tests.long import long

FIRST, SECOND = layout.HYPERVISORS
#: How Neutron 21 logs that it lost a race at the end of a migration. The guest
#: runs on the target, and its server has the status ERROR until its deletion.
RACE = "activate failed: .*UnmappedInstanceError"
#: Of the guest: a restart would change both.
LIFE = "cat /proc/sys/kernel/random/boot_id /dev/shm/mark"
UPTIME = "cut -d ' ' -f 1 /proc/uptime"


class RaceError(Exception):
    """Neutron lost the race at the end of a migration."""


def races():
    """Return how often Neutron has lost that race."""
    log = (d.PLACE.log / "neutron-server.log").read_text()
    return len(re.findall(RACE, log))


def as_nobody(*words):
    """Return the command line of a user without rights."""
    return ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
            *words)  # fmt: skip


@long.LONG
class TestMigration(recovering.Case):
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
            {one.host for one in compute.services(binary="nova-compute")},
            {one.name for one in compute.hypervisors()},
            {one.host for one in network.agents()},
        ]

    def test_both_are_alive(self):
        self.assertEqual([{FIRST, SECOND}] * 3, self.hosts())
        services = self.cloud.compute.services(binary="nova-compute")
        self.assertEqual(["up", "up"], [one.state for one in services])
        agents = [
            (one.host, one.is_alive) for one in self.cloud.network.agents()
        ]
        self.assertEqual(5, len(agents))
        self.assertIn((SECOND, True), agents)
        self.assertEqual({True}, {alive for _, alive in agents})
        shown = d.run(*d.COMMAND, "status", *d.ROOT)
        for name in ("libvirtd", "nova-compute", "neutron-linuxbridge-agent"):
            for host in layout.HYPERVISORS:
                self.assertRegex(shown, rf"{name} +\| {host} +\| running ")

    def test_there_and_back(self):
        """Three times; a lost race of Neutron's is tried once more."""
        lost = 0
        while True:
            try:
                with self.boot("vmperf-migrated", FIRST) as moved:
                    self.check_rounds(moved, 3)
                break
            except RaceError:
                lost += 1
                self.assertLess(lost, 2, "Neutron lost the race twice")
        print(f"races that Neutron lost: {lost}")

    def check_rounds(self, moved, count):
        """Move a guest there and back; the same guest is still reached."""
        moved.wait()
        moved.said("echo here >/dev/shm/mark")
        life = moved.said(LIFE)
        uptime = float(moved.said(UPTIME))
        for target in [SECOND, FIRST] * count:
            before = races()
            status = moved.migrate(target)
            if status == "error" and races() > before:
                raise RaceError
            self.assertEqual("completed", status)
            self.assertEqual(
                (target, "ACTIVE"), (moved.host(), moved.status())
            )
            self.assertEqual(life, moved.said(LIFE))
            later = float(moved.said(UPTIME))
            self.assertGreater(later, uptime)
            uptime = later
        self.assertEqual(1, len(d.guests()))

    def test_control_is_closed(self):
        """By sockets of root, and by no port."""
        chosen = laboratory.networks()
        addresses = (chosen.controller, str(chosen.management[3]))
        known = f"{chosen.controller}:5000"
        asked = [
            f"{host}:{port}"
            for host in ("127.0.0.1", *addresses)
            for port in test_closed.LIBVIRT
        ]
        python = ("/usr/bin/python3", "-c", test_closed.ASK)
        ask = as_nobody(*python, known, *asked)
        self.assertEqual([known], d.CONTAINER.run(*ask).split())
        self.assertEqual([known], d.run(*ask).split())
        for address in addresses:
            folder = d.PLACE.run / f"libvirt-{address}"
            self.assertTrue((folder / "libvirt-sock").is_socket())
            self.assertEqual(0o700, folder.stat().st_mode & 0o777)
            look = as_nobody("ls", str(folder))
            said = d.CONTAINER.run(*look, accept=(2,))
            self.assertIn("Permission denied", said)

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
        self.assertEqual([FIRST], [one.name for one in providers])
        self.assertEqual([], d.CONTAINER.processes("supervisord-2"))
        self.assertNotIn(2, {len(one) for one in d.processes().values()})
