import types
import unittest
from unittest import mock

from rally_vmperf.cloud.resources import inventory
from rally_vmperf.cloud.state import hypervisors
from rally_vmperf.cloud.system import errors
from tests.unit.cloud import base

NOON = 1_767_268_800.0  # 2026-01-01 12:00 UTC
FIRST, SECOND = hypervisors.NAMES
AGENTS = hypervisors.AGENTS


def one(**attributes):
    return types.SimpleNamespace(**attributes)


class HeardSinceTestCase(unittest.TestCase):
    def test_table(self):
        for report, heard in (
            (None, False),
            ("2026-01-01T11:59:59.000000", False),
            ("2026-01-01T12:00:00.000000", True),
            ("2026-01-01 12:00:01", True),
        ):
            with self.subTest(report):
                self.assertIs(heard, inventory.heard_since(report, NOON))


class WaitTestCase(unittest.TestCase):
    def test_there_already(self):
        inventory.wait("a hypervisor", lambda: True, timeout=-1)

    def test_too_late(self):
        with self.assertRaisesRegex(
            errors.CloudError, "a hypervisor is still missing .* --rebuild"
        ):
            inventory.wait("a hypervisor", lambda: False, timeout=-1)


class RemovalTestCase(unittest.TestCase):
    """The second hypervisor is removed only without guests."""

    def check(self, servers=(), migrations=()):
        cloud = mock.Mock()
        cloud.compute.servers.return_value = [
            one(name=name, compute_host=host) for name, host in servers
        ]
        cloud.compute.get.return_value = one(
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
        inventory.check_hypervisor_removable(cloud)

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
            errors.CloudError,
            r"^--hypervisors=1: .*-2 has guests \(a, c\); migrate or delete",
        ):
            self.check([("c", SECOND), ("b", FIRST), ("a", SECOND)])

    def test_migrations(self):
        """A server is active before its migration has ended."""
        for ends in ((SECOND, FIRST), (FIRST, SECOND)):
            with self.assertRaisesRegex(
                errors.CloudError, "migrations that have not ended, of 7; wait"
            ):
                self.check([("a", FIRST)], [("7", *ends, "running")])

    def test_forget(self):
        cloud = mock.Mock()
        service, agent = one(id=1), one(id=2)
        cloud.compute.services.return_value = [service]
        cloud.network.agents.return_value = [agent]
        cloud.compute.hypervisors.return_value = [one(name=FIRST)]
        inventory.forget_hypervisor(cloud)
        cloud.compute.services.assert_called_once_with(host=SECOND)
        cloud.compute.delete_service.assert_called_once_with(service)
        cloud.network.agents.assert_called_once_with(host=SECOND)
        cloud.network.delete_agent.assert_called_once_with(agent)


class HypervisorsTestCase(unittest.TestCase):
    def wait(self, starts):
        cloud = mock.Mock()
        cloud.compute.services.return_value = [
            one(host=FIRST, state="up", updated_at="2026-01-01T12:00:00"),
            one(host=SECOND, state="down", updated_at="2026-01-01T12:00:00"),
        ]
        cloud.compute.hypervisors.return_value = [one(name=FIRST)]
        with mock.patch.object(inventory, "wait", autospec=True) as wait:
            inventory.wait_for_hypervisors(cloud, starts)
        return wait.call_args.args[1]()

    def test_since_the_start(self):
        self.assertTrue(self.wait({FIRST: NOON}))
        self.assertFalse(self.wait({FIRST: NOON + 1}))
        self.assertFalse(self.wait({FIRST: NOON, SECOND: NOON}))


class AgentsTestCase(unittest.TestCase):
    def test_since_the_start(self):
        cloud = mock.Mock()
        cloud.network.agents.return_value = [
            one(
                host=FIRST,
                binary=name,
                is_alive=True,
                last_heartbeat_at="2026-01-01 12:00:00",
            )
            for name in AGENTS
        ]
        for start, expected in ((NOON, True), (NOON + 1, False)):
            starts = dict.fromkeys(((FIRST, a) for a in AGENTS), start)
            with mock.patch.object(inventory, "wait", autospec=True) as wait:
                inventory.wait_for_agents(cloud, starts)
            self.assertIs(expected, wait.call_args.args[1]())


class QuotasTestCase(unittest.TestCase):
    def test_a_refusal_in_one_line(self):
        cloud = mock.Mock()
        cloud.set_compute_quotas.side_effect = (
            inventory.openstack.exceptions.SDKException("too many")
        )
        with self.assertRaisesRegex(
            errors.CloudError, "quotas of project p were refused: too many"
        ):
            inventory.ensure_quotas(
                cloud, {"projects": ["p"], "compute": {}, "network": {}}
            )


class ImageTestCase(base.CloudTestCase):
    def ensure(self, *images):
        """Return what is deleted, and the arguments of an upload."""
        cloud = mock.Mock()
        cloud.image.images.return_value = images
        inventory.ensure_image(cloud, {"name": "g"}, self.folders.image)
        upload = cloud.create_image.call_args
        return (
            [call.args[0] for call in cloud.image.delete_image.mock_calls],
            upload and upload.kwargs,
        )

    def test_upload(self):
        """Unless Glance has this build of it."""
        self.folders.image.touch()
        removed, upload = self.ensure()
        self.assertEqual(([], "g"), (removed, upload["name"]))
        stamp = {"vmperf_build": upload["vmperf_build"]}
        whole = one(properties=stamp, status="active")
        self.assertEqual(([], None), self.ensure(whole))
        for image in (
            one(properties={}, status="active"),
            one(properties=stamp, status="queued"),
        ):
            removed, upload = self.ensure(image)
            self.assertEqual([image], removed)
            self.assertLessEqual(stamp.items(), upload.items())
