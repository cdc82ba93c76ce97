# SPDX-License-Identifier: Apache-2.0
"""Tests of the exact requests of the inventory to a cloud."""

from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ownership
from tests.unit.guests import apis

KEYSTONE, NOVA, NEUTRON = apis.KEYSTONE, apis.NOVA, apis.NEUTRON
CINDER = f"{apis.CINDER}/p1"
GLANCE = "http://image.example.org"
SERVICES = {
    "identity": KEYSTONE,
    "compute": NOVA,
    "network": NEUTRON,
    "block-storage": CINDER,
    "image": GLANCE,
}
OWNER = ownership.Owner("c_rally_dddddddd")
NAME = "c_rally_dddddddd_00000001"
SERVER = {"id": "s1", "name": NAME, "tenant_id": "p3", "links": []}
PROJECT = {"id": "p2", "name": NAME, "domain_id": "default", "links": {}}
USER = {**PROJECT, "id": "u2"}

#: What an admin asks where a run left a server in project p3, and Rally's
#: contexts project p2 with user u2.
OF_ADMIN = [
    f"{NOVA}/servers/detail?name=%5Ec_rally_dddddddd&all_tenants=True",
    f"{KEYSTONE}/users?name__startswith=c_rally_dddddddd",
    f"{KEYSTONE}/users?marker=u2",
    f"{KEYSTONE}/projects?name__startswith=c_rally_dddddddd",
    f"{NEUTRON}/v2.0/floatingips?project_id=p1&project_id=p2&project_id=p3",
    f"{CINDER}/volumes/detail?project_id=p1&all_tenants=True",
    f"{CINDER}/volumes/detail?project_id=p2&all_tenants=True",
    f"{CINDER}/volumes/detail?project_id=p3&all_tenants=True",
    f"{NEUTRON}/v2.0/routers?project_id=p1&project_id=p2&project_id=p3",
    f"{NEUTRON}/v2.0/subnets?project_id=p1&project_id=p2&project_id=p3",
    f"{NEUTRON}/v2.0/networks?project_id=p1&project_id=p2&project_id=p3",
    f"{NEUTRON}/v2.0/ports?project_id=p1&project_id=p2&project_id=p3",
    f"{NEUTRON}/v2.0/security-groups?project_id=p1&project_id=p2&project_id=p3",
    f"{NOVA}/os-server-groups?all_projects=True",
    f"{NOVA}/os-keypairs",
    f"{NOVA}/os-keypairs?user_id=u2",
    f"{NOVA}/flavors?is_public=False",
    f"{GLANCE}/v2/images?tag=rally-vmperf",
]

#: What a run asks for its own clean-up when its servers are gone.
OF_A_RUN = [
    f"{NOVA}/servers/detail?name=%5Ec_rally_dddddddd",
    f"{NEUTRON}/v2.0/floatingips?project_id=p1",
    f"{CINDER}/volumes/detail",
    f"{NEUTRON}/v2.0/ports?project_id=p1",
    f"{NEUTRON}/v2.0/security-groups?project_id=p1",
    f"{NOVA}/os-server-groups",
    f"{NOVA}/os-keypairs",
    f"{GLANCE}/v2/images?tag=rally-vmperf",
]


class RequestsTest(apis.ApiTestCase):
    maxDiff = None

    def mock_resources(self, servers):
        """Mock the lists of a cloud with a few resources of a run."""
        mocker = self.mocker
        apis.mock_microversions(mocker, NOVA, "v2.1", "2.93")
        apis.mock_microversions(mocker, apis.CINDER, "v3.0", "3.71")
        apis.mock_unversioned(mocker, NEUTRON, "v2.0")
        apis.mock_unversioned(mocker, GLANCE, "v2")
        for path in ("/servers", "/servers/detail"):
            mocker.get(f"{NOVA}{path}", json={"servers": servers})
        pages = (
            {
                "users": [USER],
                "links": {"next": f"{KEYSTONE}/users?marker=u2"},
            },
            {"users": []},
        )
        mocker.get(f"{KEYSTONE}/users", [{"json": page} for page in pages])
        mocker.get(
            f"{KEYSTONE}/projects",
            json={"projects": [PROJECT], "links": {"next": None}},
        )
        mocker.get(f"{CINDER}/volumes/detail", json={"volumes": []})
        for kind in ("server_groups", "keypairs"):
            path = f"os-{kind.replace('_', '-')}"
            mocker.get(f"{NOVA}/{path}", json={kind: []})
        mocker.get(f"{NOVA}/flavors", json={"flavors": []})
        mocker.get(f"{GLANCE}/v2/images", json={"images": []})
        for kind in (
            "floatingips",
            "routers",
            "subnets",
            "networks",
            "ports",
            "security_groups",
        ):
            path = kind.replace("_", "-")
            mocker.get(f"{NEUTRON}/v2.0/{path}", json={kind: []})

    def list_all(self, **options):
        """Return the requests of an inventory, without those for versions."""
        inventory.Inventory(
            self.connect(SERVICES), OWNER.owns, (OWNER.prefix,), **options
        ).list_all()
        versions = {
            *SERVICES.values(),
            apis.CINDER,
            f"{NEUTRON}/v2.0",
            f"{GLANCE}/v2",
        }
        return [
            request.url
            for request in self.mocker.request_history
            if request.method == "GET"
            and request.url.rstrip("/") not in versions
        ]

    def test_an_admin_never_lists_the_whole_cloud(self):
        self.mock_resources([SERVER])
        self.assertEqual(OF_ADMIN, self.list_all(admin=True))

    def test_a_run_lists_its_own_resources(self):
        self.mock_resources([])
        self.assertEqual(OF_A_RUN, self.list_all(kinds=inventory.GUEST_KINDS))
