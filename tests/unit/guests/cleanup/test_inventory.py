"""Tests of the exact requests of the inventory to a cloud."""

import unittest

from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ownership
from tests.unit.guests import wire

KEYSTONE, NOVA, NEUTRON, CINDER = (
    "/identity/v3",
    "/compute/v2.1",
    "/network",
    "/volume/v3/p1",
)
SERVICES = {
    "identity": KEYSTONE,
    "compute": NOVA,
    "network": NEUTRON,
    "block-storage": CINDER,
    "image": "/image",
}
OWNER = ownership.Owner("c_rally_dddddddd")
NAME = "c_rally_dddddddd_00000001"
SERVER = {"id": "s1", "name": NAME, "tenant_id": "p3", "links": []}
PROJECT = {"id": "p2", "name": NAME, "domain_id": "default", "links": {}}
USER = {**PROJECT, "id": "u2"}

#: What an admin asks where a run left a server in project p3, and Rally's
#: contexts project p2 with user u2.
OF_ADMIN = [
    "/compute/v2.1/servers/detail?name=%5Ec_rally_dddddddd&all_tenants=True",
    "/identity/v3/users?name__startswith=c_rally_dddddddd",
    "/identity/v3/users?marker=u2",
    "/identity/v3/projects?name__startswith=c_rally_dddddddd",
    "/network/v2.0/floatingips?project_id=p1&project_id=p2&project_id=p3",
    "/volume/v3/p1/volumes/detail?project_id=p1&all_tenants=True",
    "/volume/v3/p1/volumes/detail?project_id=p2&all_tenants=True",
    "/volume/v3/p1/volumes/detail?project_id=p3&all_tenants=True",
    "/network/v2.0/routers?project_id=p1&project_id=p2&project_id=p3",
    "/network/v2.0/subnets?project_id=p1&project_id=p2&project_id=p3",
    "/network/v2.0/networks?project_id=p1&project_id=p2&project_id=p3",
    "/network/v2.0/ports?project_id=p1&project_id=p2&project_id=p3",
    "/network/v2.0/security-groups?project_id=p1&project_id=p2&project_id=p3",
    "/compute/v2.1/os-server-groups?all_projects=True",
    "/compute/v2.1/os-keypairs",
    "/compute/v2.1/os-keypairs?user_id=u2",
    "/compute/v2.1/flavors?is_public=False",
    "/image/v2/images?tag=rally-vmperf",
]

#: What a run asks for its own clean-up when its servers are gone.
OF_A_RUN = [
    "/compute/v2.1/servers/detail?name=%5Ec_rally_dddddddd",
    "/network/v2.0/floatingips?project_id=p1",
    "/volume/v3/p1/volumes/detail",
    "/network/v2.0/ports?project_id=p1",
    "/network/v2.0/security-groups?project_id=p1",
    "/compute/v2.1/os-server-groups",
    "/compute/v2.1/os-keypairs",
    "/image/v2/images?tag=rally-vmperf",
]


def answers(servers):
    """Return the answers of a cloud with a few resources of a run."""
    network = f"{NEUTRON}/v2.0"
    return {
        ("GET", NOVA): wire.version("v2.1", "2.93", f"URL{NOVA}/"),
        ("GET", "/volume/v3"): wire.version("v3.0", "3.71", "URL/volume/v3/"),
        ("GET", NEUTRON): wire.version("v2.0", "", f"URL{network}/"),
        ("GET", network): wire.version("v2.0", "", f"URL{network}/"),
        ("GET", f"{NOVA}/servers"): {"servers": servers},
        ("GET", f"{NOVA}/servers/detail"): {"servers": servers},
        ("GET", f"{KEYSTONE}/users"): {
            "users": [USER],
            "links": {"next": f"URL{KEYSTONE}/users?marker=u2"},
        },
        ("GET", f"{KEYSTONE}/projects"): {
            "projects": [PROJECT],
            "links": {"next": None},
        },
        ("GET", f"{CINDER}/volumes/detail"): {"volumes": []},
        ("GET", f"{NOVA}/os-server-groups"): {"server_groups": []},
        ("GET", f"{NOVA}/os-keypairs"): {"keypairs": []},
        ("GET", f"{NOVA}/flavors"): {"flavors": []},
        ("GET", "/image"): wire.version("v2.15", "", "URL/image/v2/"),
        ("GET", "/image/v2"): wire.version("v2.15", "", "URL/image/v2/"),
        ("GET", "/image/v2/images"): {"images": []},
        **{
            ("GET", f"{network}/{kind.replace('_', '-')}"): {kind: []}
            for kind in (
                "floatingips",
                "routers",
                "subnets",
                "networks",
                "ports",
                "security_groups",
            )
        },
    }


class WordsTest(unittest.TestCase):
    maxDiff = None

    def requests(self, cloud, look, **options):
        """Return the requests of a listing, without those for versions."""
        with wire.connected(cloud) as connection:
            look(
                inventory.Inventory(
                    connection, OWNER.owns, (OWNER.prefix,), **options
                )
            )
        versions = {path.rstrip("/") for path in SERVICES.values()} | {
            "/volume/v3",
            "/network/v2.0",
            "/image/v2",
        }
        return [
            path for path in cloud.read if path.rstrip("/") not in versions
        ]

    def test_an_admin_never_lists_the_whole_cloud(self):
        documents = answers([SERVER])
        cloud = wire.Wire(documents, SERVICES)
        pages = iter([documents["GET", f"{KEYSTONE}/users"], {"users": []}])
        document = cloud.document
        cloud.document = lambda method, path: (
            next(pages)
            if path == f"{KEYSTONE}/users"
            else document(method, path)
        )
        look = inventory.Inventory.list_all
        self.assertEqual(OF_ADMIN, self.requests(cloud, look, admin=True))

    def test_a_run_lists_its_own_resources(self):
        cloud = wire.Wire(answers([]), SERVICES)
        look = inventory.Inventory.list_all
        kinds = inventory.GUEST_KINDS
        self.assertEqual(OF_A_RUN, self.requests(cloud, look, kinds=kinds))
