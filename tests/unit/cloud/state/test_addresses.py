import ipaddress

import ddt

from rally_vmperf.cloud.services import templates
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import errors
from tests.unit.cloud import base

#: What tells the rules of the usual ranges from others.
USUAL_TEXT = ("172.30.0", "172.24.4", "10.254.1")


def used(*networks):
    return {ipaddress.ip_network(text): f"route {text}" for text in networks}


@ddt.ddt
class ChooseTestCase(base.CloudTestCase):
    @ddt.data(
        ([], "172.30.0.0/24 172.24.4.0/24 10.254.1.0/24"),
        (["192.0.2.0/24"], "172.30.0.0/24 172.24.4.0/24 10.254.1.0/24"),
        # as Docker makes it, with the machine's gateway in it
        (["172.30.0.0/16"], "10.254.240.0/24 172.24.4.0/24 10.254.1.0/24"),
        (["172.30.0.77/32"], "172.30.240.0/24 172.24.4.0/24 10.254.1.0/24"),
        (["10.254.0.0/16"], "172.30.0.0/24 172.24.4.0/24 172.30.240.0/24"),
        (
            ["10.0.0.0/8", "172.16.0.0/12"],
            "192.168.240.0/24 192.168.241.0/24 192.168.242.0/24",
        ),
        (
            ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"],
            "100.127.240.0/24 100.127.241.0/24 100.127.242.0/24",
        ),
    )
    @ddt.unpack
    def test_free_ones(self, networks, expected):
        chosen = addresses.choose(used(*networks))
        self.assertEqual(expected, " ".join(map(str, chosen.ranges)))

    def test_none_is_free(self):
        with self.assertRaisesRegex(
            errors.CloudError,
            "172.30.0.0/24 overlaps the machine's route 128.0.0.0/1.*"
            "cloud up --network",
        ):
            addresses.choose(used("0.0.0.0/1", "128.0.0.0/1"))


@ddt.ddt
class ParseTestCase(base.CloudTestCase):
    def test_the_first_three(self):
        chosen = addresses.parse("10.66.0.0/22")
        self.assertEqual(
            ["10.66.0.0/24", "10.66.1.0/24", "10.66.2.0/24"],
            [*map(str, chosen.ranges)],
        )

    @ddt.data("10.66.0.0/23", "10.66.0.1/22", "fd00::/16", "x", "0.0.0.0/0")
    def test_refused(self, text):
        with self.assertRaises(ValueError):
            addresses.parse(text)


class SettleTestCase(base.CloudTestCase):
    def settle(self, *networks, wanted=None, made=False):
        if wanted:
            wanted = addresses.parse(wanted)
        return addresses.settle(
            self.folders, used(*networks), wanted, made=made
        )

    def test_kept(self):
        """A second time takes the same, also when the usual are free again."""
        chosen = self.settle("172.30.0.0/16")
        self.assertNotEqual(addresses.USUAL, chosen)
        for made in (False, True):
            self.assertEqual(chosen, self.settle(made=made))
        self.assertEqual(chosen, addresses.load(self.folders))

    def test_chosen_anew_while_there_is_no_cloud(self):
        self.assertEqual(addresses.USUAL, self.settle())
        self.assertNotEqual(addresses.USUAL, self.settle("10.254.0.0/16"))

    def test_a_cloud_on_a_machine_that_moved(self):
        before = self.settle()
        with self.assertRaisesRegex(
            errors.CloudError, "10.254.1.0/24 overlaps.*cloud down --purge"
        ):
            self.settle("10.254.0.0/16", made=True)
        self.assertEqual(before, addresses.load(self.folders))

    def test_asked_for(self):
        chosen = self.settle(wanted="10.66.0.0/16")
        self.assertEqual("10.66.0.1", chosen.controller)
        self.assertEqual(chosen, self.settle(wanted="10.66.0.0/22", made=True))
        with self.assertRaisesRegex(errors.CloudError, "other networks"):
            self.settle(wanted="10.99.0.0/22", made=True)
        with self.assertRaisesRegex(
            errors.CloudError, "10.99.1.0/24 overlaps .*cloud up --network"
        ):
            self.settle("10.99.1.7/32", wanted="10.99.0.0/22")

    def test_a_cloud_of_before_there_was_a_choice(self):
        self.assertEqual(addresses.USUAL, self.settle(made=True))

    def test_a_broken_record(self):
        for text in ("{", "{}", '{"management": "x"}'):
            self.folders.addresses.write_text(text)
            self.assertEqual(addresses.USUAL, addresses.load(self.folders))


class TemplatesTestCase(base.CloudTestCase):
    def test_every_file_has_the_chosen_ones(self):
        addresses.save(self.folders, addresses.parse("10.66.0.0/22"))
        values = {
            "secrets": dict.fromkeys(
                ("admin", "member", "metadata", "rabbitmq", "service_nova",
                 "service_glance", "service_neutron", "service_placement",
                 "database_nova", "database_glance", "database_keystone",
                 "database_neutron", "database_placement"), "x"
            ),
            "host_uuid": "x",
            "virtualization": "qemu",
            "disk_cache": "none",
        }  # fmt: skip
        shipped = templates.Templates(self.folders, values)
        names = [*templates.FILES, "services.yaml.j2", "resources.yaml.j2"]
        told = {name: shipped.render(name) for name in names}
        for name, text in told.items():
            for usual in USUAL_TEXT:
                self.assertNotIn(usual, text, name)
        for name, expected in (
            ("clouds.yaml.j2", "http://10.66.0.1:5000/v3"),
            ("resources.yaml.j2", "start: 10.66.1.10"),
            ("resources.yaml.j2", "cidr: 10.66.2.0/24"),
            ("task-args.yaml.j2", "address: 10.66.1.2"),
            ("neutron.conf.j2", "local_ip = 10.66.0.1"),
        ):
            self.assertIn(expected, told[name])
