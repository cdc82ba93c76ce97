# SPDX-License-Identifier: Apache-2.0
"""Tests of HTTP requests and responses that the fake cloud does not have."""

import typing as t
from unittest import mock

import ddt
import requests
from keystoneauth1 import fixture

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import hosts
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.guests import volumes
from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.booting import placement
from rally_vmperf.guests.booting import rate_limits
from rally_vmperf.guests.planning import capacity
from rally_vmperf.guests.planning import quota
from tests.unit.guests import apis
from tests.unit.guests import made
from tests.unit.guests.testing import calls

NOVA = apis.NOVA
PLACEMENT = apis.PLACEMENT
CINDER = f"{apis.CINDER}/p1"
QUOTA = f"{CINDER}/os-quota-sets/p1"
VOLUME = {
    "attachments": [],
    "availability_zone": "nova",
    "bootable": "true",
    "consistencygroup_id": None,
    "created_at": "2026-01-01T00:00:00.000000",
    "description": None,
    "encrypted": False,
    "id": "2b955850-f177-45f7-9f49-ecb2c256d161",
    "links": [],
    "metadata": {},
    "migration_status": None,
    "multiattach": False,
    "name": "c_rally_1234abcd_00000001",
    "replication_status": None,
    "size": 10,
    "snapshot_id": None,
    "source_volid": None,
    "status": "available",
    "updated_at": None,
    "user_id": "u1",
    "volume_type": "ssd",
}
LIMITS = {
    "limits": {
        "rate": [],
        "absolute": {
            "totalSnapshotsUsed": 0,
            "maxTotalBackups": 10,
            "maxTotalVolumeGigabytes": 100,
            "maxTotalSnapshots": 10,
            "maxTotalBackupGigabytes": 1000,
            "totalBackupGigabytesUsed": 0,
            "maxTotalVolumes": 10,
            "totalVolumesUsed": 4,
            "totalBackupsUsed": 0,
            "totalGigabytesUsed": 30,
        },
    }
}
TYPES = {
    "volume_types": [
        {"id": "t1", "name": "ssd", "is_public": True, "extra_specs": {}}
    ]
}


def build_group(**options):
    """Return a group of guests with some options."""
    name = request.ResourceReference(by="name", value="any")
    return request.Group(image=name, flavor=name, **options)


@ddt.ddt
class ServerTest(apis.ApiTestCase):
    @ddt.unpack
    @ddt.data(
        ("2.93", {"policy": "soft-affinity"}, "2.64"),
        ("2.60", {"policies": ["soft-affinity"]}, "2.60"),
    )
    def test_groups_of_old_and_new_versions(self, newest, policy, version):
        connection = self.connect_nova(newest)
        groups = self.mocker.post(
            f"{NOVA}/os-server-groups",
            json={"server_group": {"id": "sg1", "name": "n"}},
        )
        created = boot.add_server_group(connection, "n", "soft-affinity")
        self.assertEqual("sg1", created)
        request = apis.get_request(groups)
        self.assertEqual(
            {"server_group": {"name": "n", **policy}}, request.json()
        )
        self.assertEqual(
            f"compute {version}", request.headers["OpenStack-API-Version"]
        )

    def test_server(self):
        connection = self.connect_nova()
        servers = self.mocker.post(
            f"{NOVA}/servers", json={"server": {"id": "s1"}}
        )
        mapping = volumes.create_device_mapping(
            volumes.GuestVolumes(data=(calls.Thing(id="v1"),)),
            models.Image(id="i1", name="debian"),
        )
        connection.compute.create_server(
            name="n",
            flavor_id="f1",
            networks=[{"port": "p1"}, {"port": "p2"}],
            scheduler_hints={"group": "sg1"},
            **mapping,
        )
        body = apis.get_request(servers).json()
        self.assertEqual({"group": "sg1"}, body["OS-SCH-HNT:scheduler_hints"])
        self.assertEqual(
            {
                "name": "n",
                "flavorRef": "f1",
                "imageRef": "i1",
                "networks": [{"port": "p1"}, {"port": "p2"}],
                "block_device_mapping_v2": [
                    {
                        "boot_index": 0,
                        "uuid": "i1",
                        "source_type": "image",
                        "destination_type": "local",
                        "delete_on_termination": True,
                    },
                    {
                        "boot_index": -1,
                        "uuid": "v1",
                        "source_type": "volume",
                        "destination_type": "volume",
                        "delete_on_termination": True,
                    },
                ],
            },
            body["server"],
        )


@ddt.ddt
class ActionTest(apis.ApiTestCase):
    @ddt.unpack
    @ddt.data(
        ("pause", "pause"),
        ("unpause", "unpause"),
        ("stop", "os-stop"),
        ("start", "os-start"),
    )
    def test_accepted_without_a_document(self, verb, action):
        connection = self.connect_nova()
        actions = self.mocker.post(
            f"{NOVA}/servers/s1/action", status_code=202
        )
        getattr(connection.compute, f"{verb}_server")("s1")
        self.assertEqual([action], list(apis.get_request(actions).json()))

    def test_an_empty_answer_to_another_request_is_rejected(self):
        connection = self.connect_nova()
        self.mocker.post(f"{NOVA}/servers", status_code=202)
        with self.assertRaisesRegex(
            cloud.InvalidResponse, "not a JSON object"
        ):
            connection.compute.create_server(name="n", flavor_id="f1")


@ddt.ddt
class ShapeTest(apis.ApiTestCase):
    """A proxy in maintenance answers 200, and not with a valid document."""

    def answer(self, path, content, method="GET"):
        """Return a connection to a Nova with this content."""
        connection = self.connect_nova()
        self.mocker.request(
            method,
            f"{NOVA}{path}",
            content=content,
            status_code=200 if content else 204,
        )
        return connection

    @ddt.data(
        *(b"", b"{}", b"[]", b"null", b'{"servers": null}', b"[[[["),
        *(b'{"servers": [1]}', b'{"servers": "x"}', b'{"servers": [null]}'),
        *(b'{"server": []}', b"[" * 100000, b'{"servers": [[]]}'),
    )
    def test_lists(self, content):
        """Guests are waited for after it, as after any error of an API."""
        connection = self.answer("/servers/detail", content)
        with self.assertRaises(cloud.InvalidResponse) as caught:
            cloud.list_servers(connection, ["g1"])
        self.assertTrue(cloud.is_temporary(caught.exception))
        self.assertTrue(cloud.one_line(caught.exception).isprintable())
        with (
            self.assertRaisesRegex(errors.GuestError, "^list servers: "),
            cloud.convert_errors("list servers"),
        ):
            cloud.list_servers(connection, ["g1"])

    @ddt.data(b"", b"{}", b"[]", b'{"server": null}', b'{"server": "x"}')
    def test_objects(self, content):
        connection = self.answer("/servers/s1", content)
        with self.assertRaises(cloud.InvalidResponse):
            connection.compute.get_server("s1")

    @ddt.data(b"", b"{}", b'{"server": null}')
    def test_creations(self, content):
        connection = self.answer("/servers", content, method="POST")
        with self.assertRaises(cloud.InvalidResponse):
            connection.compute.create_server(name="n", flavor_id="f1")

    @ddt.data(b'{"hypervisors": null}', b'{"hypervisors": [1]}', b"{}")
    def test_hypervisors(self, content):
        """They are not known, as where Nova does not show them."""
        connection = self.answer("/os-hypervisors/detail", content)
        self.assertEqual({}, hosts.find_hypervisors(connection, {"h1"}))

    @ddt.data(b'{"nodes": [1]}', b'{"nodes": {}}', b'{"pagesize_kb": []}')
    def test_topology(self, content):
        connection = self.answer("/servers/s1/topology", content)
        self.assertIsNone(placement.get_topology(connection, "s1"))

    @ddt.data(
        b'{"instanceActions": null}', b'{"instanceActions": [{"action": 1}]}'
    )
    def test_actions(self, content):
        connection = self.answer("/servers/s1/os-instance-actions", content)
        server = calls.Thing(id="s1", updated_at="later")
        self.assertEqual(
            [], placement._list_moves(connection, server, "before")
        )


class HostTest(apis.ApiTestCase):
    def test_zone_of_a_host(self):
        """As Nova's service list has it."""
        service = {
            "id": "e81d66a4-ddd3-4aba-8a84-171d1cb4d339",
            "binary": "nova-compute",
            "host": "compute1",
            "zone": "nova",
            "status": "enabled",
            "state": "up",
            "updated_at": "2012-10-29T13:42:02.000000",
            "disabled_reason": None,
            "forced_down": False,
        }
        connection = self.connect_nova()
        self.mocker.get(f"{NOVA}/os-services", json={"services": [service]})
        resolved = hosts.resolve_placement(
            connection, made.build_request(host="compute1")
        )
        self.assertEqual(("nova:compute1",), resolved.zones)


class PlacementTest(apis.ApiTestCase):
    NEEDS: t.ClassVar = {"VCPU": 1, "MEMORY_MB": 512}

    def setUp(self):
        super().setUp()
        versions = fixture.DiscoveryList(PLACEMENT, v2=False, v3=False)
        versions.add_microversion(
            "", "v1.0", min_version="1.0", max_version="1.39"
        )
        self.mocker.get(PLACEMENT, json={"versions": versions.versions})
        self.mocker.get(
            f"{PLACEMENT}/resource_providers",
            json={
                "resource_providers": [{"uuid": "rp1", "name": "compute1.x"}]
            },
        )
        self.connection = self.connect({"placement": PLACEMENT})

    def mock_summaries(self, summaries):
        """Return the mock of a response with these hosts."""
        return self.mocker.get(
            f"{PLACEMENT}/allocation_candidates",
            json={"allocation_requests": [], "provider_summaries": summaries},
        )

    def test_room(self):
        resources = {
            "VCPU": {"capacity": 32, "used": 1},
            "MEMORY_MB": {"capacity": 35389, "used": 512},
        }
        candidates = self.mock_summaries(
            {"rp1": {"resources": resources, "traits": []}}
        )
        (host,) = capacity.find_hosts(
            self.connection, self.NEEDS, {"compute1"}
        )
        self.assertEqual("compute1.x", host.name)
        self.assertEqual({"VCPU": 1, "MEMORY_MB": 512}, host.used)
        request = apis.get_request(candidates)
        self.assertEqual(
            "placement 1.31", request.headers["OpenStack-API-Version"]
        )
        (host,) = capacity.find_hosts(self.connection, self.NEEDS, set(), 16)
        self.assertEqual("rp1", host.name)
        host = capacity.resolve_name(self.connection, host)
        self.assertEqual("compute1.x", host.name)
        self.assertEqual({"uuid": ["rp1"]}, self.mocker.last_request.qs)

    def test_summaries_of_another_shape(self):
        for summaries in (None, [], {"rp1": {}}, {"rp1": {"resources": [1]}}):
            self.mock_summaries(summaries)
            with self.assertRaisesRegex(errors.GuestError, "list free hosts"):
                capacity.find_hosts(self.connection, self.NEEDS, {"compute1"})


#: What Cinder says of a quota that is not used.
NOTHING_USED = {"in_use": 0, "reserved": 0}


class BlockStorageTest(apis.ApiTestCase):
    def setUp(self):
        super().setUp()
        apis.mock_microversions(self.mocker, apis.CINDER, "v3.0", "3.71")
        self.volumes = self.mocker.post(
            f"{CINDER}/volumes",
            json={"volume": {**VOLUME, "status": "creating"}},
        )
        self.mocker.get(
            f"{CINDER}/volumes/{VOLUME['id']}", json={"volume": VOLUME}
        )
        self.mocker.get(f"{CINDER}/limits", json=LIMITS)
        self.mocker.get(f"{CINDER}/types", json=TYPES)
        self.mocker.get(
            QUOTA,
            json={
                "quota_set": {
                    "id": "p1",
                    "volumes": {"limit": 10, "in_use": 4, "reserved": 0},
                    "per_volume_gigabytes": {
                        **NOTHING_USED,
                        "limit": 500,
                    },
                    "volumes_ssd": {"limit": 5, "in_use": 2, "reserved": 1},
                    "gigabytes_ssd": {**NOTHING_USED, "limit": -1},
                }
            },
        )
        self.connection = self.connect({"block-storage": CINDER})

    def test_volume(self):
        group = build_group(
            boot_volume=request.Volume(size_gib=10, type="ssd")
        )
        image = models.Image(id="i1", name="debian")
        volumes.check_volume_types(self.connection, group)
        created = volumes.create_volumes(
            self.connection,
            {"g1": (image, group)},
            60,
            lambda: "n",
            lambda line: None,
        )
        self.assertEqual(
            {
                "volume": {
                    "name": "n",
                    "size": 10,
                    "imageRef": "i1",
                    "volume_type": "ssd",
                }
            },
            apis.get_request(self.volumes).json(),
        )
        self.assertEqual("ssd", created["g1"].boot.volume_type)

    def test_room(self):
        room = quota.find_free_volume_quota(self.connection)
        sizes = {"GiB of volumes": 70, "GiB of one volume": 500}
        self.assertEqual({"volumes": 6, **sizes}, room)
        self.assertIn("usage=True", self.mocker.last_request.url)

    def test_room_of_a_type(self):
        """Cinder names it by the type; a type without a quota has none."""
        needs = ["volumes of type ssd", "GiB of volumes of type ssd"]
        room = quota.find_free_volume_quota(
            self.connection, [*needs, "volumes of type other"]
        )
        self.assertEqual([2, None], [room[need] for need in needs])
        self.assertIsNone(room["volumes of type other"])

    def test_largest_volume_that_a_policy_hides(self):
        """Its size is not checked then."""
        self.mocker.get(QUOTA, status_code=403)
        needs = ["volumes of type ssd"]
        room = quota.find_free_volume_quota(self.connection, needs)
        self.assertIsNone(room["GiB of one volume"])
        self.assertIsNone(room["volumes of type ssd"])

    def test_types_of_another_shape(self):
        for content in (b'{"volume_types": null}', b'{"volume_types": [{}]}'):
            self.mocker.get(f"{CINDER}/types", content=content)
            with self.assertRaises(cloud.InvalidResponse):
                rate_limits.find_volume_type_limits(self.connection, "ssd")

    def test_no_service(self):
        group = build_group(boot_volume=request.Volume(size_gib=10))
        connection = self.connect({"compute": NOVA})
        with self.assertRaisesRegex(errors.GuestError, "no block-storage"):
            volumes.check_volume_types(connection, group)

    @mock.patch("time.sleep", new=mock.Mock())
    def test_a_cloud_that_is_away_is_not_one_without_volumes(self):
        group = build_group(boot_volume=request.Volume(size_gib=10))
        for method, path in (
            ("GET", ""),
            ("GET", "/"),
            ("POST", "/auth/tokens"),
        ):
            self.mocker.request(
                method,
                f"{apis.KEYSTONE}{path}",
                exc=requests.exceptions.ConnectionError,
            )
        message = "find the block-storage service: "
        with self.assertRaisesRegex(errors.GuestError, message):
            volumes.check_volume_types(self.connection, group)
