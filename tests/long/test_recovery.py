# SPDX-License-Identifier: Apache-2.0
"""Services that are killed, and guests that go on."""

import ddt

from tests.functional import breakage as d
from tests.functional import laboratory
from tests.functional import recovering
from tests.long import guest
from tests.long import long

SERVICES = (
    "epmd", "mariadb", "rabbitmq", "libvirtd", "peer-sshd", "keystone",
    "placement", "glance-api", "nova-api", "nova-conductor", "nova-scheduler",
    "nova-compute", "neutron-server", "neutron-linuxbridge-agent",
    "neutron-dhcp-agent", "neutron-l3-agent", "neutron-metadata-agent",
)  # fmt: skip


@ddt.ddt
@long.LONG
class TestRecovery(recovering.Case):
    """``kill -9`` of any service, next to a guest."""

    @classmethod
    def setUpClass(cls):
        """Boot a guest."""
        super().setUpClass()
        cls.guest = cls.enterClassContext(
            guest.booted(
                recovering.connect("admin"), d.PLACE.root, "vmperf-recovery"
            )
        )
        cls.running = d.guests()

    @ddt.data(*SERVICES)
    def test_each(self, name):
        """It runs again within 30 s, and the guest has not ended."""
        pid = d.end(name)
        laboratory.wait_for(
            f"new {name}",
            lambda: d.program(name)["pid"] != pid and d.ready(name),
            30,
        )
        self.assertEqual(1, len(self.running))
        self.assertEqual(self.running, d.guests())
        # An API answers some seconds after its start.
        self.check_it_works()
        self.assertEqual("ACTIVE", self.guest.status())

    def test_none_is_left_out(self):
        """All programs are killed, but those that end by themselves."""
        names = {process["name"] for process in d.CONTAINER.processes()}
        daemons = {name for name in names if not name.startswith("schema-")}
        self.assertEqual({*SERVICES}, daemons - {"hypervisor-2"})

    def test_all_at_once(self):
        """Supervisord starts everything again, and guests are reached."""
        pids = {name: d.end(name) for name in SERVICES}
        laboratory.wait_for(
            "new processes",
            lambda: all(
                d.program(name)["pid"] != pid and d.ready(name)
                for name, pid in pids.items()
            ),
            120,
        )
        self.assertEqual(self.running, d.guests())
        self.guest.wait()
