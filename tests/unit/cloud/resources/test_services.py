import types
import unittest
from unittest import mock

from rally_vmperf.image.system import errors
from tests.cloud.resources import services
from tests.cloud.system import layout

NOON = 1_767_268_800.0  # 2026-01-01 12:00 UTC
FIRST, SECOND = layout.HYPERVISORS


def resource(**attributes):
    return types.SimpleNamespace(**attributes)


class HaveReportedTestCase(unittest.TestCase):
    def ask(self, starts, *, time="2026-01-01 12:00:00", alive=True):
        cloud = mock.Mock()
        cloud.network.agents.return_value = [
            resource(
                host=FIRST,
                binary=name,
                is_alive=alive,
                last_heartbeat_at=time,
            )
            for name in layout.AGENTS
        ]
        cloud.compute.services.return_value = [
            resource(
                host=host,
                binary="nova-compute",
                state=state,
                updated_at="2026-01-01T12:00:00.000000",
            )
            for host, state in ((FIRST, "up"), (SECOND, "down"))
        ]
        return services.have_reported(cloud, starts)

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


class WaitTestCase(unittest.TestCase):
    def test_there_already(self):
        services.wait("a hypervisor", lambda: True, timeout=-1)

    def test_too_late(self):
        with self.assertRaisesRegex(
            errors.HostError, "a hypervisor is still missing .* --rebuild"
        ):
            services.wait("a hypervisor", lambda: False, timeout=-1)


class RemovalTestCase(unittest.TestCase):
    """The second hypervisor is removed only without guests."""

    def check(self, servers=(), migrations=()):
        cloud = mock.Mock()
        cloud.compute.servers.return_value = [
            resource(name=name, compute_host=host) for name, host in servers
        ]
        cloud.compute.get.return_value = resource(
            status_code=200,
            json=lambda: {
                "migrations": [
                    {
                        "instance_uuid": uuid,
                        "source_compute": source,
                        "dest_compute": target,
                        "status": status,
                    }
                    for uuid, source, target, status in migrations
                ]
            },
        )
        services.check_hypervisor_removable(cloud)

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
            errors.HostError,
            r"^--hypervisors=1: .*-2 has guests \(a, c\); migrate or delete",
        ):
            self.check([("c", SECOND), ("b", FIRST), ("a", SECOND)])

    def test_migrations(self):
        """A server is active before its migration has ended."""
        for ends in ((SECOND, FIRST), (FIRST, SECOND)):
            with self.assertRaisesRegex(
                errors.HostError, "migrations that have not ended, of 7; wait"
            ):
                self.check([("a", FIRST)], [("7", *ends, "running")])

    def test_forget(self):
        cloud = mock.Mock()
        service, agent = resource(id=1), resource(id=2)
        cloud.compute.services.return_value = [service]
        cloud.network.agents.return_value = [agent]
        services.forget_hypervisor(cloud)
        cloud.compute.services.assert_called_once_with(host=SECOND)
        cloud.compute.delete_service.assert_called_once_with(service)
        cloud.network.agents.assert_called_once_with(host=SECOND)
        cloud.network.delete_agent.assert_called_once_with(agent)
