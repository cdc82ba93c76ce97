"""Tests for the search for what runs left."""

import unittest
from unittest import mock

import ddt
from openstack import exceptions as sdk_errors

from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import removal
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
TASKS = [ownership.Task(uuid="task-e", ended=True, workloads=(ENDED,))]


def name(owner, number=0):
    return f"c_rally_{owner}_{number:08}" if owner is not OWN else OWN


@ddt.ddt
@mock.patch("time.sleep", new=mock.Mock())
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
        view = removal.View(connection=self.cloud, admin=False)
        register = ownership.Register(ENTRIES, TASKS)
        return removal.Sweep([view, view], register, **options)

    def remove(self, **options):
        """Remove what is chosen; return what is left of it."""
        sweep = self.sweep(**options)
        return sweep.remove(sweep.find(), lambda line: None)

    def owners(self):
        return [
            each
            for each in (DEAD, ALIVE, ENDED, FOREIGN, OWN)
            if name(each)
            in {one.name for one in self.cloud.compute.all_servers.values()}
        ]

    def test_everything_with_rallys_names_is_listed_once(self):
        found = self.sweep().find()
        self.assertEqual(8, len(found))
        states = {one.resource.name: one.run.state for one in found}
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
    def test_what_stays(self, options, stays):
        left = self.remove(**options)
        self.assertEqual({}, left)
        self.assertEqual(stays, self.owners())
        self.assertEqual(len(stays), len(self.cloud.network.all_ips))

    def test_reasons(self):
        def refuse(called, done):
            if called == "delete_ip":
                raise sdk_errors.ForbiddenException(
                    "no", http_status=403, details="policy"
                )

        self.cloud.interrupt = refuse
        left = self.remove(task="task-d")
        self.assertEqual(["policy"], list(left.values()))

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
        self.assertEqual(["r1"], [one.id for one in network.all_routers])

    def test_an_admin_looks_into_all_projects_once(self):
        """Then only into those in which something was found."""
        network = self.cloud.network
        for number in range(1000):
            self.cloud.add(network.all_ips, description="", project_id="p2")
            network.create_port(
                name=f"other {number}", network_id="n1", project_id="p2"
            )
        network.create_port(
            name=name(DEAD, 2), network_id="n2", project_id="p3"
        )
        self.cloud.identity = mock.Mock()
        for listed in ("users", "projects"):
            getattr(self.cloud.identity, listed).return_value = []
        view = removal.View(connection=self.cloud, admin=True)
        sweep = removal.Sweep([view], ownership.Register(ENTRIES, TASKS))
        found, before = sweep.find(), len(self.cloud.queries)
        self.assertEqual({}, sweep.remove(found, lambda line: None))
        self.assertEqual([ALIVE, FOREIGN, OWN], self.owners())
        asked = self.cloud.queries[before:]
        self.assertLess(len(asked), 100)
        kinds = {"ips", "ports", "routers", "subnets", "networks"}
        self.assertEqual(
            [{"project_id": ["p1", "p3"]}]
            * len([one for one in asked if one[0] in kinds]),
            [query for called, query in asked if called in kinds],
        )
        groups = [q for called, q in asked if called == "security_groups"]
        self.assertEqual([{}] * len(groups), groups)
