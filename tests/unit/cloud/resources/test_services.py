# SPDX-License-Identifier: Apache-2.0
import unittest

from rally_vmperf.image import commands
from tests.cloud.resources import services
from tests.cloud.system import layout
from tests.unit.guests import apis

NOON = 1_767_268_800.0  # 2026-01-01 12:00 UTC
FIRST, SECOND = layout.HYPERVISORS


AGENTS = f"{apis.NEUTRON}/v2.0/agents"
SERVICES = f"{apis.NOVA}/os-services"


def connect(case):
    """Return a connection to a cloud with Nova, Neutron and Cinder."""
    apis.mock_microversions(case.mocker, apis.NOVA, "v2.1", "2.93")
    apis.mock_unversioned(case.mocker, apis.NEUTRON, "v2.0")
    apis.mock_microversions(case.mocker, apis.CINDER, "v3.0", "3.70")
    return case.connect(
        {
            "compute": apis.NOVA,
            "network": apis.NEUTRON,
            "block-storage": apis.CINDER,
            "identity": apis.KEYSTONE,
        }
    )


class HaveReportedTestCase(apis.ApiTestCase):
    def ask(self, starts, *, time="2026-01-01 12:00:00", alive=True):
        agents = [
            {
                "host": FIRST,
                "binary": name,
                "alive": alive,
                "heartbeat_timestamp": time,
            }
            for name in layout.AGENTS
        ]
        computes = [
            {
                "host": host,
                "binary": "nova-compute",
                "state": state,
                "updated_at": "2026-01-01T12:00:00.000000",
            }
            for host, state in ((FIRST, "up"), (SECOND, "down"))
        ]
        self.mocker.get(AGENTS, json={"agents": agents})
        self.mocker.get(
            f"{SERVICES}?binary=nova-compute", json={"services": computes}
        )
        return services.have_reported(connect(self), starts)

    def test_agents(self):
        starts = {(FIRST, name): NOON for name in layout.AGENTS}
        self.assertTrue(self.ask(starts))
        self.assertTrue(self.ask(starts, time="2026-01-01T12:00:00.5"))
        self.assertFalse(self.ask(starts, time="2026-01-01 11:59:59"))
        self.assertFalse(self.ask(starts, time=None))
        self.assertFalse(self.ask(starts, alive=False))
        self.assertFalse(self.ask({(SECOND, layout.AGENTS[0]): NOON}))

    def test_nova_compute(self):
        self.assertTrue(self.ask({(FIRST, "nova-compute"): NOON}))
        self.assertFalse(self.ask({(FIRST, "nova-compute"): NOON + 1}))
        self.assertFalse(self.ask({(SECOND, "nova-compute"): NOON}))

    def ask_cinder(self, starts, state="up"):
        services = [
            {
                "host": host,
                "binary": name,
                "state": state,
                "updated_at": "2026-01-01T12:00:00.000000",
            }
            for name, host in zip(
                layout.VOLUME_SERVICES, (FIRST, f"{FIRST}@ceph"), strict=True
            )
        ]
        self.mocker.get(
            f"{apis.CINDER}/os-services", json={"services": services}
        )
        return self.ask(starts)

    def test_cinder(self):
        """A cloud without volumes has no service that could be asked."""
        for name in layout.VOLUME_SERVICES:
            starts = {(FIRST, name): NOON}
            self.assertTrue(self.ask_cinder(starts))
            self.assertFalse(self.ask_cinder(starts, "down"))
            self.assertFalse(self.ask_cinder({(FIRST, name): NOON + 1}))


class WaitTestCase(unittest.TestCase):
    def test_there_already(self):
        services.wait("a hypervisor", lambda: True, timeout=-1)

    def test_too_late(self):
        with self.assertRaisesRegex(
            commands.HostError, "a hypervisor is still missing .* --rebuild"
        ):
            services.wait("a hypervisor", lambda: False, timeout=-1)


class RemovalTestCase(apis.ApiTestCase):
    """The second hypervisor is removed only without guests."""

    def check(self, servers=(), migrations=()):
        documents = [
            {"id": name, "name": name, "OS-EXT-SRV-ATTR:host": host}
            for name, host in servers
        ]
        self.mocker.get(
            f"{apis.NOVA}/servers/detail?all_tenants=True",
            json={"servers": documents},
        )
        keys = ("instance_uuid", "source_compute", "dest_compute", "status")
        documents = [
            dict(zip(keys, fields, strict=True)) for fields in migrations
        ]
        self.mocker.get(
            f"{apis.NOVA}/os-migrations",
            request_headers={"OpenStack-API-Version": "compute 2.59"},
            json={"migrations": documents},
        )
        services.check_hypervisor_removable(connect(self))

    def test_unused(self):
        self.check(
            [("a", FIRST), ("b", None)],
            [
                ("1", SECOND, FIRST, "completed"),
                ("2", SECOND, FIRST, "error"),
                ("3", FIRST, FIRST, "running"),
            ],
        )

    def test_guests(self):
        with self.assertRaisesRegex(
            commands.HostError,
            r"^--hypervisors=1: .*-2 has guests \(a, c\); migrate or delete",
        ):
            self.check([("c", SECOND), ("b", FIRST), ("a", SECOND)])

    def test_migrations(self):
        """A server is active before its migration has ended."""
        for ends in ((SECOND, FIRST), (FIRST, SECOND)):
            with self.assertRaisesRegex(
                commands.HostError,
                "migrations that have not ended, of 7; wait",
            ):
                self.check([("a", FIRST)], [("7", *ends, "running")])

    def test_forget(self):
        self.mocker.get(
            f"{SERVICES}?host={SECOND}", json={"services": [{"id": "1"}]}
        )
        self.mocker.get(
            f"{AGENTS}?host={SECOND}", json={"agents": [{"id": "2"}]}
        )
        forced_down = self.mocker.put(
            f"{SERVICES}/1", json={"service": {"id": "1"}}
        )
        deleted = [
            self.mocker.delete(url, status_code=204)
            for url in (f"{SERVICES}/1", f"{AGENTS}/2")
        ]
        services.forget_hypervisor(connect(self))
        self.assertEqual(
            {"forced_down": True}, apis.get_request(forced_down).json()
        )
        self.assertEqual([1, 1], [mock.call_count for mock in deleted])


class VolumesRemovalTestCase(apis.ApiTestCase):
    """Cinder is removed only without volumes."""

    def check(self, *names):
        documents = [{"id": f"id-{name}", "name": name} for name in names]
        self.mocker.get(
            f"{apis.CINDER}/volumes/detail?all_tenants=True",
            json={"volumes": documents},
        )
        services.check_volumes_removable(connect(self))

    def test_unused(self):
        self.check()

    def test_volumes(self):
        """A volume may have no name."""
        with self.assertRaisesRegex(
            commands.HostError,
            r"^--no-volumes: volumes exist \(a, b, id-\); delete them first$",
        ):
            self.check("b", "", "a")

    def test_forget(self):
        cloud = connect(self)
        url = f"{apis.KEYSTONE}/services"
        self.mocker.get(
            f"{url}?type=block-storage", json={"services": [{"id": "5"}]}
        )
        deleted = self.mocker.delete(f"{url}/5", status_code=204)
        services.forget_volumes(cloud)
        self.assertEqual(1, deleted.call_count)
