# SPDX-License-Identifier: Apache-2.0
"""Tests of the number of API requests on empty and on busy clouds."""

import collections
import itertools
import unittest
from unittest import mock

from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.booting import placement
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

PREFIX = "c_rally_1234abcd"
#: What guests without boot volumes and copies of images can have.
KINDS = inventory.GUEST_KINDS - {"volume", "image"}

#: What a run of two guests on a host asks for, with floating IPs and two
#: repetitions: each sort of request, and how often.
WHOLE_RUN = {
    "images": 1,
    "flavors": 1,
    "fetch_flavor_extra_specs": 1,
    "services": 1,
    "networks": 2,
    "ports": 6,
    "routers": 1,
    "get_limits": 1,
    "get_quota": 1,
    "resource_providers": 1,
    "get": 2,
    "create_keypair": 1,
    "create_security_group": 1,
    "create_security_group_rule": 4,
    "create_server": 2,
    "servers": 9,
    "create_ip": 2,
    "delete_server": 2,
    "ips": 3,
    "delete_ip": 2,
    "security_groups": 3,
    "delete_security_group": 1,
    "server_groups": 3,
    "keypairs": 4,
    "delete_keypair": 1,
    "subnets": 1,
}

#: What changes where they are to share a host that nobody names: a group,
#: for which there is quota, and the first of them has a host.
ONE_HOST = {
    "services": 0,
    "get_limits": 2,
    "create_server_group": 1,
    "get_server": 1,
    "delete_server_group": 1,
}

#: What an admin's clean-up asks for that finds a server and its address.
CLEAN_UP = {
    "servers": 10,
    "get": 4,
    "ips": 3,
    "volumes": 1,
    "routers": 1,
    "subnets": 1,
    "networks": 1,
    "ports": 1,
    "security_groups": 1,
    "server_groups": 1,
    "keypairs": 1,
    "flavors": 1,
    "images": 1,
    "delete_server": 1,
    "delete_ip": 1,
}


def busy(cloud):
    """Fill a cloud with what is others'."""
    foreign = {"project_id": "p2", "name": "somebody's own"}
    for number in range(3000):
        cloud.network.all_ports.append(
            calls.Thing(
                id=f"foreign{number}",
                network_id="n2",
                device_id=f"server{number}",
                device_owner="compute:nova",
                fixed_ips=[],
                **foreign,
            )
        )
    for number in range(500):
        server = cloud.add(
            cloud.compute.all_servers,
            status="ACTIVE",
            task_state=None,
            detail=0,
            deleted=False,
            **foreign,
        )
        cloud.add(cloud.network.all_ips, description="", project_id="p2")
        cloud.add(cloud.network.all_groups, **foreign)
        cloud.add(cloud.compute.all_groups, **foreign)
        cloud.add(
            cloud.block_storage.all_volumes,
            detail=0,
            status="available",
            server=None,
            **foreign,
        )
        cloud.add(cloud.identity.all_users, name=foreign["name"])
        cloud.add(cloud.identity.all_projects, name=foreign["name"])
        cloud.image.all_images.append(
            calls.Thing(id=f"image-{server.id}", name=f"other {number}")
        )
        cloud.network.all_networks.append(
            calls.Thing(
                id=f"network-{server.id}",
                is_router_external=False,
                is_port_security_enabled=True,
                **foreign,
            )
        )
        cloud.network.all_routers.append(
            calls.Thing(id=f"router-{server.id}", **foreign)
        )
    hosts = [f"other{number}" for number in range(1000)]
    cloud.compute.all_zones["nova"] += hosts
    cloud.compute.hypervisors += [
        {"hypervisor_hostname": name, "vcpus": 4} for name in hosts
    ]
    room = cloud.placement.all_hosts["h1"]
    cloud.placement.all_hosts |= dict.fromkeys(hosts, room)
    return cloud


@mock.patch("time.sleep", new=mock.Mock())
class RequestsTest(unittest.TestCase):
    """A run from its plan to the end of its clean-up."""

    maxDiff = None

    def whole_run(self, cloud, **options):
        """Return each sort of request, and how many things were listed."""
        numbers = itertools.count()
        cloud.compute.host = "h1"
        cloud.compute.hypervisors.append(
            {"hypervisor_hostname": "h1", "vcpus": 4}
        )
        booted = boot.prepare(
            cloud,
            made.build_request(
                count=2,
                allowed_sources=["192.0.2.0/24"],
                **(options or {"host": "h1"}),
            ),
            lambda: f"{PREFIX}_{next(numbers):08}",
            lambda line: None,
            admin=cloud,
        ).run()
        updated = {}
        for _ in range(2):
            changes = placement.find_changes(cloud, booted.guests, updated)
            self.assertEqual([], changes)
        removal.remove_resources(
            cloud, ownership.Owner(PREFIX), lambda line: None, kinds=KINDS
        )
        return collections.Counter(cloud.calls), cloud.listed

    def test_an_empty_cloud(self):
        """An additional request needs a reason."""
        requests, _ = self.whole_run(testing.FakeCloud())
        self.assertEqual(WHOLE_RUN, dict(requests))

    def test_guests_that_share_a_host(self):
        """They cost a server group and a look at where the first one is."""
        requests, _ = self.whole_run(testing.FakeCloud(), one_host=True)
        self.assertEqual(collections.Counter(WHOLE_RUN | ONE_HOST), requests)

    def test_a_busy_cloud(self):
        """It gets the same requests, and gives the same answers."""
        empty = self.whole_run(testing.FakeCloud())
        self.assertEqual(empty, self.whole_run(busy(testing.FakeCloud())))

    def cleaned_up(self, cloud):
        """Return the requests and listed resources of an admin's clean-up."""
        cloud.compute.create_server(
            name=f"{PREFIX}_00000001", networks=[{"uuid": "n2"}]
        )
        cloud.network.create_ip(
            description=f"{PREFIX}_00000002", project_id="p1"
        )
        before = cloud.listed
        cloud.calls.clear()
        sweep = removal.OrphanCleanup(
            [inventory.Inventory(cloud, admin=True)],
            ownership.RunIndex([], []),
            everything=True,
        )
        failures = sweep.remove(sweep.find(), lambda line: None)
        self.assertEqual({}, failures)
        return collections.Counter(cloud.calls), cloud.listed - before

    def test_the_clean_up_of_a_busy_cloud(self):
        """An administrator searches all projects for resources of runs."""
        requests, listed = self.cleaned_up(testing.FakeCloud())
        self.assertEqual(CLEAN_UP, dict(requests))
        self.assertEqual(
            (requests, listed), self.cleaned_up(busy(testing.FakeCloud()))
        )

    def test_a_busy_cloud_without_a_named_host(self):
        """It gets no more requests, and lists a few of its hosts."""
        requests, listed = self.whole_run(testing.FakeCloud(), one_host=True)
        more, longer = self.whole_run(busy(testing.FakeCloud()), one_host=True)
        self.assertEqual({}, dict(more - requests))
        self.assertLess(longer, listed + 20)
