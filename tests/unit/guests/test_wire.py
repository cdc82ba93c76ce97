"""Tests of the HTTP requests to services that fakes replace elsewhere."""

import unittest

import ddt

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
from tests.unit.guests import made
from tests.unit.guests import wire
from tests.unit.guests.testing import calls

NOVA, CINDER = "/compute/v2.1", "/volume/v3/p1"
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
BLOCK = {
    ("GET", "/volume/v3"): wire.version("v3.0", "3.71", "URL/volume/v3/"),
    ("POST", f"{CINDER}/volumes"): {
        "volume": {**VOLUME, "status": "creating"}
    },
    ("GET", f"{CINDER}/volumes/{VOLUME['id']}"): {"volume": VOLUME},
    ("GET", f"{CINDER}/limits"): LIMITS,
    ("GET", f"{CINDER}/types"): TYPES,
}


@ddt.ddt
class ServerGroupTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ("2.93", {"policy": "soft-affinity"}, "2.64"),
        ("2.60", {"policies": ["soft-affinity"]}, "2.60"),
    )
    def test_in_the_words_of_old_and_new(self, newest, policy, version):
        path = f"{NOVA}/os-server-groups"
        answers = {
            ("GET", NOVA): wire.version("v2.1", newest, f"URL{NOVA}/"),
            ("POST", path): {"server_group": {"id": "sg1", "name": "n"}},
        }
        cloud_there = wire.Wire(answers, {"compute": NOVA})
        with wire.connected(cloud_there) as connection:
            made = boot.add_server_group(connection, "n", "soft-affinity")
        self.assertEqual("sg1", made)
        self.assertEqual(
            {"server_group": {"name": "n", **policy}},
            cloud_there.body("POST", path),
        )
        sent = cloud_there.headers("POST", path)
        self.assertEqual(f"compute {version}", sent["OpenStack-API-Version"])

    def test_server(self):
        path = f"{NOVA}/servers"
        answers = {
            ("GET", NOVA): wire.version("v2.1", "2.93", f"URL{NOVA}/"),
            ("POST", path): {"server": {"id": "s1"}},
        }
        cloud_there = wire.Wire(answers, {"compute": NOVA})
        volume = calls.Thing(id="v1")
        with wire.connected(cloud_there) as connection:
            connection.compute.create_server(
                name="n",
                flavor_id="f1",
                networks=[{"port": "p1"}, {"port": "p2"}],
                scheduler_hints={"group": "sg1"},
                **volumes.create_device_mapping(volume),
            )
        body = cloud_there.body("POST", path)
        self.assertEqual({"group": "sg1"}, body["OS-SCH-HNT:scheduler_hints"])
        self.assertEqual(
            {
                "name": "n",
                "flavorRef": "f1",
                "networks": [{"port": "p1"}, {"port": "p2"}],
                "block_device_mapping_v2": [
                    {
                        "boot_index": 0,
                        "uuid": "v1",
                        "source_type": "volume",
                        "destination_type": "volume",
                        "delete_on_termination": True,
                    }
                ],
            },
            body["server"],
        )


@ddt.ddt
class ActionTest(unittest.TestCase):
    def wire(self, path):
        answers = {
            ("GET", NOVA): wire.version("v2.1", "2.93", f"URL{NOVA}/"),
            ("POST", path): "",
        }
        return wire.Wire(answers, {"compute": NOVA})

    @ddt.unpack
    @ddt.data(
        ("pause", "pause"),
        ("unpause", "unpause"),
        ("stop", "os-stop"),
        ("start", "os-start"),
    )
    def test_accepted_without_a_word(self, verb, word):
        path = f"{NOVA}/servers/s1/action"
        cloud_there = self.wire(path)
        with wire.connected(cloud_there) as connection:
            getattr(connection.compute, f"{verb}_server")("s1")
        self.assertEqual([word], list(cloud_there.body("POST", path)))

    def test_an_empty_answer_to_another_request_is_rejected(self):
        cloud_there = self.wire(f"{NOVA}/servers")
        with (
            wire.connected(cloud_there) as connection,
            self.assertRaisesRegex(cloud.InvalidResponse, "not a JSON object"),
        ):
            connection.compute.create_server(name="n", flavor_id="f1")


@ddt.ddt
class ShapeTest(unittest.TestCase):
    """A proxy in maintenance answers 200, and not with a valid document."""

    def answer(self, path, content, method="GET"):
        answers = {
            ("GET", NOVA): wire.version("v2.1", "2.93", f"URL{NOVA}/"),
            (method, f"{NOVA}{path}"): content,
        }
        wire_ = wire.Wire(answers, {"compute": NOVA})
        return self.enterContext(wire.connected(wire_))

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


class HostTest(unittest.TestCase):
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
        answers = {
            ("GET", NOVA): wire.version("v2.1", "2.93", f"URL{NOVA}/"),
            ("GET", f"{NOVA}/os-services"): {"services": [service]},
        }
        cloud_there = wire.Wire(answers, {"compute": NOVA})
        with wire.connected(cloud_there) as connection:
            resolved = hosts.resolve_placement(
                connection, made.build_request(host="compute1")
            )
        self.assertEqual(("nova:compute1",), resolved.zones)


class PlacementTest(unittest.TestCase):
    def test_room(self):
        path = "/placement"
        resources = {
            "VCPU": {"capacity": 32, "used": 1},
            "MEMORY_MB": {"capacity": 35389, "used": 512},
        }
        answers = {
            ("GET", path): {
                "versions": [
                    {
                        "id": "v1.0",
                        "status": "CURRENT",
                        "max_version": "1.39",
                        "min_version": "1.0",
                        "links": [{"rel": "self", "href": ""}],
                    }
                ]
            },
            ("GET", f"{path}/resource_providers"): {
                "resource_providers": [{"uuid": "rp1", "name": "compute1.x"}]
            },
            ("GET", f"{path}/allocation_candidates"): {
                "allocation_requests": [],
                "provider_summaries": {
                    "rp1": {"resources": resources, "traits": []}
                },
            },
        }
        cloud_there = wire.Wire(answers, {"placement": path})
        each = {"VCPU": 1, "MEMORY_MB": 512}
        with wire.connected(cloud_there) as connection:
            (host,) = capacity.find_hosts(connection, each, {"compute1"})
        self.assertEqual("compute1.x", host.name)
        self.assertEqual({"VCPU": 1, "MEMORY_MB": 512}, host.used)
        sent = cloud_there.headers("GET", f"{path}/allocation_candidates")
        self.assertEqual("placement 1.31", sent["OpenStack-API-Version"])

        with wire.connected(cloud_there) as connection:
            (host,) = capacity.find_hosts(connection, each, set(), 16)
            self.assertEqual("rp1", host.name)
            host = capacity.resolve_name(connection, host)
        self.assertEqual("compute1.x", host.name)

        for summaries in (None, [], {"rp1": {}}, {"rp1": {"resources": [1]}}):
            cloud_there.answers["GET", f"{path}/allocation_candidates"] = {
                "provider_summaries": summaries
            }
            with (
                wire.connected(cloud_there) as connection,
                self.assertRaisesRegex(errors.GuestError, "list free hosts"),
            ):
                capacity.find_hosts(connection, each, {"compute1"})


class BlockStorageTest(unittest.TestCase):
    def setUp(self):
        self.wire = wire.Wire(dict(BLOCK), {"block-storage": CINDER})

    def test_volume(self):
        boot_volume = request.BootVolume(size_gib=10, type="ssd")
        image = models.Image(id="i1", name="debian")
        with wire.connected(self.wire) as connection:
            volumes.check_volume_type(connection, boot_volume)
            made_volumes = volumes.create_volumes(
                connection,
                {"g1": (image, boot_volume)},
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
            self.wire.body("POST", f"{CINDER}/volumes"),
        )
        self.assertEqual("ssd", made_volumes["g1"].volume_type)

    def test_room(self):
        with wire.connected(self.wire) as connection:
            room = quota.find_free_volume_quota(connection)
        self.assertEqual({"volumes": 6, "GiB of volumes": 70}, room)

    def test_types_of_another_shape(self):
        for content in (b'{"volume_types": null}', b'{"volume_types": [{}]}'):
            self.wire.answers["GET", f"{CINDER}/types"] = content
            with (
                wire.connected(self.wire) as connection,
                self.assertRaises(cloud.InvalidResponse),
            ):
                rate_limits.find_volume_type_limits(connection, "ssd")

    def test_no_service(self):
        self.wire.services = {"compute": NOVA}
        boot_volume = request.BootVolume(size_gib=10)
        with (
            wire.connected(self.wire) as connection,
            self.assertRaisesRegex(errors.GuestError, "no block-storage"),
        ):
            volumes.check_volume_type(connection, boot_volume)

    def test_a_cloud_that_is_away_is_not_one_without_volumes(self):
        boot_volume = request.BootVolume(size_gib=10)
        with wire.connected(self.wire) as connection:
            pass
        message = "find the block-storage service: "
        with self.assertRaisesRegex(errors.GuestError, message):
            volumes.check_volume_type(connection, boot_volume)
