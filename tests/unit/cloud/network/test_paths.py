import pathlib
import types

from rally_vmperf.cloud.network import paths
from rally_vmperf.cloud.system import commands
from tests.unit.cloud import base

DATA = pathlib.Path(__file__).parents[1] / "data"
ROUTER = {"name": "router", "gateway": "public", "subnet": "private-v4"}


class FakeNeutron:
    """Knows the networks by name."""

    def find_network(self, name):
        """Return the public network."""
        return types.SimpleNamespace(id=f"{name}-id")

    def find_subnet(self, name):
        """Return the private subnet."""
        return types.SimpleNamespace(
            network_id="private-id", gateway_ip="10.254.1.1"
        )

    def find_router(self, name):
        """Return the router."""
        return types.SimpleNamespace(id=f"{name}-id")


class WaysTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        cloud = types.SimpleNamespace(network=FakeNeutron())
        self.data_paths = paths.expected(
            cloud, {"router": ROUTER}, self.folders
        )

    def test_expected(self):
        self.assertEqual(
            [
                ("qdhcp-public-id", "172.24.4.1", 2),
                ("qdhcp-private-id", "10.254.1.1", 1),
                ("qrouter-router-id", "172.24.4.1", 1),
            ],
            [
                (w.namespace, w.target, len(w.pid_files))
                for w in self.data_paths
            ],
        )

    def test_saved(self):
        self.assertEqual([], paths.saved(self.folders))
        paths.save(self.folders, self.data_paths, "agents")
        self.assertEqual(
            [data_path.namespace for data_path in self.data_paths],
            [data_path.namespace for data_path in paths.saved(self.folders)],
        )

    def test_a_namespace_that_is_gone(self):
        self.assertEqual(
            ["namespace qdhcp-public-id is gone"],
            paths.of_data_path(self.data_paths[0]),
        )


class RulesTestCase(base.CloudTestCase):
    def test_of_a_router(self):
        saved = (DATA / "iptables-save-1.8.9-router.txt").read_text()
        self.assertEqual([], paths.lacking("it", paths.ROUTER_RULES, saved))
        lines = saved.splitlines(keepends=True)
        for rule in paths.ROUTER_RULES:
            kept = [ln for ln in lines if not ln.startswith(rule)]
            self.assertLess(len(kept), len(lines))
            self.assertEqual(
                ["the firewall of it has lost Neutron's rules"],
                paths.lacking("it", paths.ROUTER_RULES, "".join(kept)),
            )


class HelpersTestCase(base.CloudTestCase):
    def test_those_of_this_cloud(self):
        mark = {commands.MARK: str(self.folders.root)}
        self.proc.add(10, argv=["dnsmasq"], environment=mark)
        self.proc.add(11, argv=["/usr/sbin/haproxy"], environment=mark)
        self.proc.add(12, argv=["dnsmasq"])
        self.proc.add(13, argv=["mariadbd"], environment=mark)
        self.assertEqual([10, 11], paths.helpers(self.folders, self.processes))
