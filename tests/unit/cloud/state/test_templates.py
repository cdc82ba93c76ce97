# SPDX-License-Identifier: Apache-2.0
import configparser
import json
import re
import stat
import subprocess
from unittest import mock

import jinja2
import jsonschema
from rally_openstack.environment.platforms import existing

from tests.cloud.state import addresses
from tests.cloud.system import layout
from tests.unit.cloud import base

# The values that only a cloud that runs has, or only some templates.
VALUES = {
    **dict.fromkeys(("limits_file", "user"), "admin"),
    "cloud": mock.MagicMock(),
}
USUAL = re.compile(r"172\.24\.[456]")


class TemplatesTestCase(base.CloudTestCase):
    def write(self, **options):
        for name in ("peer_host_ed25519", "hypervisor_ed25519"):
            (self.folders.etc / name).touch()
        self.make_templates(**options).write_all()

    def programs(self, name="supervisord.conf"):
        """Return the sections of programs."""
        config = configparser.ConfigParser(
            interpolation=None, inline_comment_prefixes=(";",)
        )
        config.read(self.folders.etc / name)
        self.assertIn("unix_http_server", config)
        return {
            section.removeprefix("program:"): config[section]
            for section in config
            if section.startswith("program:")
        }

    def test_every_template_renders_with_the_chosen_ranges(self):
        addresses.choose(self.folders, {}, addresses.parse("10.66.0.0/22"))
        self.write()
        shipped = self.make_templates()
        hypervisor = shipped.hypervisors[1]
        rendered = {
            path.name: shipped.render(path.name, own=hypervisor, **VALUES)
            for path in layout.SHIPPED.glob("*.j2")
        }
        self.assertGreater(len(rendered), 20)
        for name, text in rendered.items():
            self.assertIsNone(USUAL.search(text), name)
        for name, expected in (
            ("clouds.yaml.j2", "http://10.66.1.2:5000/v3"),
            ("resources.yaml.j2", "start: 10.66.0.10"),
            ("resources.yaml.j2", "cidr: 10.66.2.0/24"),
            ("task-args.yaml.j2", "address: 10.66.0.2"),
            ("hypervisor-neutron.conf.j2", "local_ip = 10.66.1.3"),
            ("container.env.j2", "HOST_ADDRESS=10.66.1.1\n"),
        ):
            self.assertIn(expected, rendered[name])

    def test_a_missing_value_is_an_error(self):
        with self.assertRaises(jinja2.UndefinedError):
            self.make_templates().render("hypervisor-nova.conf.j2")

    def test_disk_cache_and_emulation(self):
        text = self.make_templates().render("nova.conf.j2")
        self.assertIn("disk_cachemodes = file=none,network=none\n", text)
        self.assertIn("virt_type = qemu\n", text)
        text = self.make_templates(
            disk_cache="unsafe", virtualization="kvm"
        ).render("nova.conf.j2")
        self.assertIn("disk_cachemodes = file=unsafe,network=unsafe\n", text)
        self.assertNotIn("cpu_mode", text)

    def test_passwords_stay_words(self):
        """A password such as 123e4567 must not become a number."""
        self.make_templates()
        secrets = dict.fromkeys(self.secrets, "123e4567" * 4)
        (self.folders.etc / "secrets.json").write_text(json.dumps(secrets))
        clouds = self.make_templates().data("clouds.yaml.j2")
        password = clouds["clouds"]["vmperf-member"]["auth"]["password"]
        self.assertEqual(secrets["member"], password)

    def test_rally_accepts_both_environments(self):
        shipped = self.make_templates()
        for user, role, other in (
            ("admin", "admin", "users"),
            ("member", "users", "admin"),
        ):
            with self.subTest(user):
                text = shipped.render("rally-env.json.j2", user=user)
                inner = json.loads(text)["existing@openstack"]
                jsonschema.validate(inner, existing.OpenStack.CONFIG_SCHEMA)
                self.assertIn(role, inner)
                self.assertNotIn(other, inner)

    def test_hypervisors_share_nothing(self):
        """Names, addresses, identifiers, files and devices differ."""
        first, second = self.make_templates().hypervisors
        for name, value in first.items():
            self.assertNotEqual(value, second[name], name)
        self.assertEqual("172.24.5.3", second["address"])

    def test_no_service_shares_a_database_account(self):
        shipped = self.make_templates()
        for name in ("cinder", "glance", "keystone", "neutron", "placement"):
            text = shipped.render(f"{name}.conf.j2")
            self.assertEqual(
                [(name, self.secrets[f"database_{name}"])],
                re.findall(r"pymysql://(\w+):(\w+)@", text),
            )

    def test_secrets_are_for_root_only(self):
        self.write()
        number = 0
        for path in filter(
            lambda path: path.is_file(), self.folders.root.rglob("*")
        ):
            text = path.read_text()
            if any(secret in text for secret in self.secrets.values()):
                number += 1
                mode = stat.S_IMODE(path.stat().st_mode)
                self.assertEqual(0o600, mode, path)
        self.assertGreater(number, 8)

    def test_guests_run_as_a_user_without_rights(self):
        self.write()
        for number in (1, 2):
            data = self.folders.hypervisor_data(number)
            lines = (data / "libvirt/etc/qemu.conf").read_text().splitlines()
            settings = [
                line for line in lines if re.match("(user|group) ", line)
            ]
            self.assertEqual(
                ['user = "libvirt-qemu"', 'group = "libvirt-qemu"'], settings
            )

    def test_libvirt_has_no_port(self):
        """Without authentication, a port gives every user root's rights."""
        self.write(hypervisors=2)
        for number in (1, 2):
            data = self.folders.hypervisor_data(number)
            text = (data / "libvirt/etc/libvirtd.conf").read_text()
            self.assertIn('unix_sock_rw_perms = "0700"', text)
            nova = self.folders.etc / f"hypervisor-{number}/nova.conf"
            uris = re.findall("_uri = (.*)", nova.read_text())
            self.assertEqual(2, len(uris))
            for uri in uris:
                self.assertTrue(uri.startswith("qemu+unix:///system?"), uri)

    def test_programs(self):
        """Each waits by probes that after.sh knows, and runs a command."""
        self.write(hypervisors=2, volumes=True)
        programs = self.programs()
        self.assertLessEqual(
            {"mariadb", "keystone", "hypervisor-2", *layout.AGENTS}
            | {"peer-sshd", "control-sshd", "ceph-osd", "schema-cinder"}
            | set(layout.VOLUME_SERVICES),
            programs.keys(),
        )
        for name, section in [
            *programs.items(),
            *self.programs("supervisord-2.conf").items(),
        ]:
            with self.subTest(name):
                script, root, *arguments = section["command"].split()
                self.assertEqual(f"{self.folders.root}/bin/after.sh", script)
                self.assertEqual(str(self.folders.root), root)
                end = arguments.index("--")
                for probe in arguments[:end]:
                    self.assertRegex(probe, "^(file|unix|tcp|http):")
                self.assertTrue(arguments[end + 1 :])
                self.assertNotIn("%", section["command"])

    def test_one_hypervisor(self):
        self.write()
        self.assertNotIn("hypervisor-2", self.programs())

    def test_no_volumes(self):
        """Nothing of them starts, and nothing announces them."""
        self.write()
        for name in self.programs():
            self.assertNotRegex(name, "ceph|cinder")
        shipped = self.make_templates()
        for name in ("identity.yaml.j2", "resources.yaml.j2"):
            self.assertNotRegex(shipped.render(name), "cinder|volume")
        self.assertNotIn("cinder", shipped.render("nova.conf.j2"))
        text = shipped.render("tempest.conf.j2", **VALUES)
        self.assertIn("cinder = false\n", text)

    def test_volumes(self):
        shipped = self.make_templates(volumes=True)
        text = shipped.render("tempest.conf.j2", **VALUES)
        self.assertIn("cinder = true\n", text)
        identity = shipped.data("identity.yaml.j2")
        self.assertIn("cinder", [user["name"] for user in identity["users"]])
        resources = shipped.data("resources.yaml.j2")
        plain, limited = resources["volume_types"]
        self.assertNotIn("qos", plain)
        self.assertEqual({"total_iops_sec": "200"}, limited["qos"])
        # A default that does not exist fails each request for a volume.
        default = f"default_volume_type = {plain['name']}\n"
        self.assertIn(default, shipped.render("cinder.conf.j2"))

    def test_volumes_fit_into_the_file_of_the_osd(self):
        shipped = self.make_templates(volumes=True)
        ceph = shipped.render("ceph.conf.j2")
        (size,) = re.findall("block size = ([0-9]+)\n", ceph)
        quotas = shipped.data("resources.yaml.j2")["quotas"]["volume"]
        self.assertLess(quotas["gigabytes"] * 1024**3, 0.95 * int(size))
        conf = shipped.render("cinder.conf.j2")
        self.assertIn("max_over_subscription_ratio = 1.0\n", conf)

    def test_only_hypervisors_reach_ceph(self):
        """It asks nobody for a password."""
        text = (layout.SHIPPED / "init.sh").read_text()
        rules = re.findall(
            r"-A INPUT -p tcp --dport (\S+) ! -s \$SECOND_ADDRESS -j DROP",
            text,
        )
        self.assertEqual(["5672", "3300", "6789:7300"], rules)

    def test_what_a_setting_restarts(self):
        """supervisord starts the programs whose environment has changed."""
        self.write()
        before = {n: dict(program) for n, program in self.programs().items()}
        self.write()
        same = {n: dict(program) for n, program in self.programs().items()}
        self.assertEqual(before, same)
        self.write(disk_cache="unsafe")
        changed = {
            name
            for name, section in self.programs().items()
            if dict(section) != before[name]
        }
        self.assertEqual(
            {
                f"nova-{name}"
                for name in ("api", "conductor", "scheduler", "compute")
            },
            changed,
        )

    def test_scripts(self):
        """Bash can parse them."""
        self.write()
        scripts = [
            *(self.folders.scripts.iterdir()),
            *(self.folders.etc.glob("*.sh")),
        ]
        self.assertGreater(len(scripts), 8)
        for path in scripts:
            subprocess.run(["bash", "-n", path], check=True)
