# SPDX-License-Identifier: Apache-2.0
"""Tests for the search for what runs left."""

import itertools
import unittest
from unittest import mock

import ddt
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import cloud
from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.cleanup import test_ledger
from tests.unit.guests.testing import calls

DEAD = "dddddddd"
ALIVE = "aaaaaaaa"
ENDED = "eeeeeeee"
FOREIGN = "ffffffff"
OWN = "somebody's own"

ENTRIES = [
    test_ledger.entry(DEAD, "task-d", process=test_ledger.dead()),
    test_ledger.entry(ALIVE, "task-a"),
]
TASKS = [ownership.OwningTask(uuid="task-e", ended=True, workloads=(ENDED,))]


def name(owner, number=0):
    return f"c_rally_{owner}_{number:08}" if owner is not OWN else OWN


@ddt.ddt
@mock.patch("time.sleep", new=mock.Mock())
@mock.patch.object(removal, "TIMEOUT", 5)
class SweepTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()
        for owner in (DEAD, ALIVE, ENDED, FOREIGN, OWN):
            self.cloud.compute.create_server(
                name=name(owner), networks=[{"uuid": "n2"}]
            )
            self.cloud.network.create_ip(
                description=name(owner, 1), project_id="p1"
            )

    def sweep(self, **options):
        view = inventory.Inventory(self.cloud)
        register = ownership.RunIndex(ENTRIES, TASKS)
        return removal.OrphanCleanup([view, view], register, **options)

    def remove(self, **options):
        """Remove what is chosen; return what is left of it."""
        sweep = self.sweep(**options)
        return sweep.remove(sweep.find(), lambda line: None)

    def owners(self):
        return [
            each
            for each in (DEAD, ALIVE, ENDED, FOREIGN, OWN)
            if name(each)
            in {
                server.name
                for server in self.cloud.compute.all_servers.values()
            }
        ]

    def test_everything_with_rallys_names_is_listed_once(self):
        sweep = self.sweep()
        resources = sweep.find()
        self.assertEqual(8, len(resources))
        states = {
            resource.name: sweep.find_run(resource).state
            for resource in resources
        }
        self.assertEqual("killed", states[name(DEAD)])
        self.assertEqual("running", states[name(ALIVE)])
        self.assertEqual("ended", states[name(ENDED)])
        self.assertEqual("unknown", states[name(FOREIGN)])

    @ddt.unpack
    @ddt.data(
        ({}, [ALIVE, FOREIGN, OWN]),
        ({"everything": True}, [ALIVE, OWN]),
        ({"task": "task-d"}, [ALIVE, ENDED, FOREIGN, OWN]),
        ({"task": "task-a"}, [DEAD, ALIVE, ENDED, FOREIGN, OWN]),
        ({"task": FOREIGN + "-1"}, [DEAD, ALIVE, ENDED, OWN]),
    )
    def test_remaining_resources(self, options, stays):
        failures = self.remove(**options)
        self.assertEqual({}, failures)
        self.assertEqual(stays, self.owners())
        self.assertEqual(len(stays), len(self.cloud.network.all_ips))

    def test_reasons(self):
        def refuse(called, is_done):
            if called == "delete_ip":
                raise sdk_errors.ForbiddenException(
                    "no", http_status=403, details="policy"
                )

        self.cloud.interrupt = refuse
        failures = self.remove(task="task-d")
        self.assertEqual(["policy"], list(failures.values()))

    def test_a_list_of_another_shape(self):
        """The other kinds are found and removed, accounts are kept."""
        project = self.cloud.add(
            self.cloud.identity.all_projects, name=name(DEAD, 8)
        )

        def refuse(called, is_done):
            if called == "servers":
                raise cloud.InvalidResponse("servers=None")

        self.cloud.interrupt = refuse
        sweep = removal.OrphanCleanup(
            [inventory.Inventory(self.cloud, admin=True)],
            ownership.RunIndex(ENTRIES, TASKS),
            task="task-d",
        )
        with self.assertRaisesRegex(
            inventory.IncompleteError, "^cannot list servers: servers=None$"
        ) as caught:
            sweep.find()
        resources = caught.exception.resources
        kinds = ["floating IP", "project"]
        self.assertEqual(kinds, [resource.kind for resource in resources])
        with mock.patch.object(removal, "TIMEOUT", 0.1):
            failures = sweep.remove(
                resources, lambda line: None, is_complete=False
            )
        self.assertEqual(["project"], [resource.kind for resource in failures])
        self.assertIn(project.id, self.cloud.identity.all_projects)
        self.assertEqual(4, len(self.cloud.network.all_ips))

    def test_networks_of_contexts(self):
        network = self.cloud.network
        called = name(DEAD, 7)
        gateway = {"network_id": "n1"}
        network.all_networks.append(
            calls.Thing(id="n9", name=called, is_router_external=False)
        )
        network.all_subnets.append(calls.Thing(id="s9", name=called))
        network.all_routers.append(
            calls.Thing(id="r9", name=called, external_gateway_info=gateway)
        )
        network.all_ports.append(
            calls.Thing(
                id="port-r9",
                name="",
                device_id="r9",
                network_id="n9",
                device_owner="network:router_interface",
                fixed_ips=[],
            )
        )
        self.assertEqual({}, self.remove())
        self.assertEqual(["n1", "n2"], list(network.names))
        self.assertEqual([], network.all_subnets)
        self.assertEqual(["r1"], [router.id for router in network.all_routers])

    def admin(self, *projects, **options):
        view = inventory.Inventory(self.cloud, admin=True, projects=projects)
        register = ownership.RunIndex(ENTRIES, TASKS)
        return removal.OrphanCleanup([view], register, **options)

    def made_by_rally(self, owner):
        """Keep a project of Rally's, as its contexts make it."""
        cloud, called = self.cloud, name(owner, 3)
        project = cloud.add(cloud.identity.all_projects, name=called)
        user = cloud.add(cloud.identity.all_users, name=called)
        key = name(owner, 4)
        cloud.compute.all_keypairs[key] = calls.Thing(
            id=key, name=key, user_id=user.id
        )
        owner_query = {"project_id": project.id}
        for called, things in {
            "default": cloud.network.all_groups,
            name(owner, 5): cloud.network.all_groups,
            name(owner, 6): cloud.compute.all_groups,
        }.items():
            cloud.add(things, name=called, **owner_query)
        cloud.block_storage.create_volume(
            name=name(owner, 7), size=1, **owner_query
        )
        cloud.network.create_port(
            name=name(owner, 8), network_id="n2", **owner_query
        )
        return project.id

    def test_volumes_of_a_killed_boot(self):
        """They are found by name, in use or not, also without the ledger."""

        def kill(called, is_done):
            if called == at and is_done:
                raise KeyboardInterrupt

        for at in ("create_volume", "get_volume", "create_server"):
            self.cloud = testing.FakeCloud()
            self.cloud.interrupt = kill
            numbers = itertools.count(1)
            with self.assertRaises(KeyboardInterrupt):
                boot.prepare(
                    self.cloud,
                    made.build_request(volumes=[{"size_gib": 3, "count": 2}]),
                    lambda: name(FOREIGN, next(numbers)),  # noqa: B023
                    lambda line: None,
                ).run()
            self.cloud.interrupt = lambda called, is_done: None
            self.assertTrue(self.cloud.block_storage.all_volumes, at)
            self.assertEqual({}, self.remove())
            self.assertTrue(self.cloud.block_storage.all_volumes, at)
            self.assertEqual({}, self.remove(everything=True))
            self.assertEqual([], self.cloud.left(), at)

    def test_an_admin_lists_projects_with_resources_of_runs(self):
        """It searches the projects of Rally, of servers, and named ones."""
        for server in self.cloud.compute.all_servers.values():
            if server.name == name(DEAD):
                server.project_id = "p3"
        rallys = self.made_by_rally(DEAD)
        self.cloud.network.create_port(
            name=name(DEAD, 2), network_id="n2", project_id="p4"
        )
        sweep = self.admin("p4")
        resources = sweep.find()
        looked_into = {
            called: query["project_id"]
            for called, query in self.cloud.queries
            if called in {"ips", "ports", "security_groups"}
        }
        self.assertEqual(
            {
                called: ["p1", "p4", rallys, "p3"]
                for called in ("ips", "ports", "security_groups")
            },
            looked_into,
        )
        self.assertEqual({}, sweep.remove(resources, lambda line: None))
        self.assertEqual([ALIVE, FOREIGN, OWN], self.owners())
        resource_keys = [
            key for key in self.cloud.left() if not key.startswith("id")
        ]
        self.assertEqual([], resource_keys)
        self.assertEqual({}, self.cloud.identity.all_projects)
        self.assertEqual({}, self.cloud.identity.all_users)
        self.assertEqual({}, self.cloud.network.all_groups)
        self.assertEqual({}, self.cloud.block_storage.all_volumes)

    def test_only_found_kinds_are_listed_again(self):
        """Most services get one request."""
        sweep = self.admin()
        resources, before = sweep.find(), len(self.cloud.queries)
        self.assertEqual({}, sweep.remove(resources, lambda line: None))
        self.assertEqual(
            {"servers", "delete_server", "ips", "delete_ip"},
            {called for called, _ in self.cloud.queries[before:]},
        )

    def test_a_project_stays_with_its_remaining_resources(self):
        """The remaining resources could not be found again."""
        self.made_by_rally(DEAD)

        def refuse(called, is_done):
            if called == "delete_port":
                raise sdk_errors.ForbiddenException(
                    "no", http_status=403, details="policy"
                )

        self.cloud.interrupt = refuse
        sweep = self.admin()
        failures = sweep.remove(sweep.find(), lambda line: None)
        self.assertEqual(
            {"port": "policy", "project": "not empty"},
            {resource.kind: reason for resource, reason in failures.items()},
        )
        self.assertEqual({}, self.cloud.block_storage.all_volumes)

    def test_a_keystone_that_refuses_the_beginning_of_names(self):
        self.made_by_rally(DEAD)
        self.cloud.identity.inexact = False
        resources = self.admin().find()
        kinds = [resource.kind for resource in resources]
        self.assertEqual(1, kinds.count("project"))
        self.assertEqual(1, kinds.count("user"))

    def test_many_projects_are_named_in_portions(self):
        """Each with the admin's own first, for which Neutron makes a group."""
        for _ in range(120):
            self.made_by_rally(DEAD)
        self.admin().find()
        for called, sizes in {
            "ports": [50, 50, 21],
            "security_groups": [51, 51, 21],
        }.items():
            projects = [
                query["project_id"]
                for request, query in self.cloud.queries
                if request == called
            ]
            self.assertEqual(
                sizes, [len(identifiers) for identifiers in projects]
            )
        self.assertEqual(
            ["p1"] * 3, [identifiers[0] for identifiers in projects]
        )
