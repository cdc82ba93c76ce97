from rally_vmperf.cloud import bringup
from rally_vmperf.cloud.services import probes
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.services import templates
from rally_vmperf.cloud.system import console
from rally_vmperf.cloud.system import graph
from tests.unit.cloud import base


class ServicesTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        shipped = templates.Templates(self.folders, {})
        self.services = services.parse(shipped.data("services.yaml.j2"))

    def test_names_differ(self):
        names = [service.name for service in self.services]
        self.assertEqual(len(names), len(set(names)))

    def test_command_lines_are_words(self):
        for service in self.services:
            with self.subTest(service.name):
                self.assertTrue(
                    all(isinstance(word, str) for word in service.argv)
                )
                values = service.environment.values()
                self.assertTrue(all(isinstance(v, str) for v in values))

    def test_probes_are_known(self):
        for service in self.services:
            self.assertLessEqual(set(service.ready), set(probes.KINDS))

    def test_addresses(self):
        taken = [a for one in self.services for a in one.addresses()]
        self.assertEqual(len(taken), len(set(taken)))
        for address in ("172.30.0.1:9292", "172.30.0.1:8775",
                        "127.0.0.1:4370"):  # fmt: skip
            self.assertIn(address, taken)
        # the peer's is in its own namespace
        self.assertNotIn("172.24.4.2:22", taken)

    def test_a_follower_starts_after_its_leader(self):
        for service in self.services:
            self.assertLessEqual(set(service.follows), set(service.needs))

    def test_every_need_is_met_in_order(self):
        steps = bringup.Bringup(
            self.folders,
            console.Progress(),
            supervisor.Supervisor(self.folders, self.processes),
            None,
        ).tasks()
        order = graph.order(steps)
        for first, then in (
            ("packages", "mariadb"),
            ("mariadb", "schema-nova"),
            ("schema-keystone", "keystone"),
            ("keystone", "identity"),
            ("identity", "nova-api"),
            ("rabbitmq", "nova-conductor"),
            ("libvirtd", "nova-compute"),
            ("neutron-server", "neutron-l3-agent"),
            ("image", "image upload"),
            ("agents", "networks"),
            ("networks", "paths"),
        ):
            with self.subTest(first=first, then=then):
                self.assertLess(order.index(first), order.index(then))


class DigestTestCase(base.CloudTestCase):
    def digest(self, leaders=(), **change):
        (self.folders.etc / "a.conf").write_text(change.pop("text", "x = 1"))
        described = {"name": "a", "argv": ["a"], "config": ["a.conf"]}
        service = services.Service(**{**described, **change})
        return service.digest(self.folders.etc, leaders)

    def test_the_same(self):
        self.assertEqual(self.digest(), self.digest())
        self.assertEqual(self.digest(), self.digest(address="elsewhere"))

    def test_ground_that_is_made_anew(self):
        ground = self.folder / "ground"
        digests = [self.digest(ground=[str(ground)])]
        for kind in (ground.mkdir, ground.touch):
            kind()
            digests.append(self.digest(ground=[str(ground)]))
            ground.rename(self.folder / kind.__name__)
        self.assertEqual(3, len(set(digests)))

    def test_what_asks_for_a_restart(self):
        for change in (
            {"argv": ["b"]},
            {"environment": {"A": "1"}},
            {"text": "x = 2"},
            {"leaders": ["libvirtd restarted"]},
        ):
            with self.subTest(**change):
                self.assertNotEqual(self.digest(), self.digest(**change))
