import re
import stat

import jinja2
import yaml

from rally_vmperf import resources
from rally_vmperf.cloud.services import templates
from rally_vmperf.cloud.state import credentials
from rally_vmperf.cloud.system import layout
from tests.unit.cloud import base

#: What only a cloud that is up tells.
FOUND = {
    **dict.fromkeys(
        (
            "image_id",
            "flavor_id",
            "flavor_alt_id",
            "network_id",
            "limits_file",
        ),
        "x",
    ),
    "extensions": ["router", "quotas"],
}


class TemplatesTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.secrets = credentials.load(self.folders.etc / "secrets.json")
        self.values = {
            "secrets": self.secrets,
            "host_uuid": "6b1c7c9e-0000-4000-8000-000000000001",
            "virtualization": "qemu",
            "disk_cache": "none",
        }
        self.shipped = templates.Templates(self.folders, self.values)

    def test_every_template_renders(self):
        folder = resources.path("etc", "embedded-cloud")
        names = sorted(path.name for path in folder.glob("*.j2"))
        self.assertLessEqual(set(templates.FILES), set(names))
        for name in names:
            with self.subTest(name):
                self.shipped.render(name, user="admin", **FOUND)

    def test_a_missing_value_is_an_error(self):
        del self.values["disk_cache"]
        shipped = templates.Templates(self.folders, self.values)
        with self.assertRaises(jinja2.UndefinedError):
            shipped.render("nova.conf.j2")

    def test_disk_cache_and_emulation(self):
        text = self.shipped.render("nova.conf.j2")
        self.assertIn("disk_cachemodes = file=none\n", text)
        self.assertIn("virt_type = qemu\n", text)
        self.values.update(virtualization="kvm", disk_cache="unsafe")
        text = templates.Templates(self.folders, self.values).render(
            "nova.conf.j2"
        )
        self.assertIn("disk_cachemodes = file=unsafe\n", text)
        self.assertNotIn("cpu_mode", text)

    def test_guests_run_as_a_user_without_rights(self):
        """Their machines are no processes of root."""
        lines = self.shipped.render("qemu.conf.j2").splitlines()
        for key in ("user", "group"):
            self.assertIn(f'{key} = "{layout.QEMU_GROUP}"', lines)
        given = [line for line in lines if re.match("(user|group) *=", line)]
        self.assertEqual(2, len(given))

    def test_passwords_stay_words(self):
        """A password such as 123e4567 must not become a number."""
        self.secrets.update(dict.fromkeys(self.secrets, "123e4567"))
        clouds = yaml.safe_load(self.shipped.render("clouds.yaml.j2"))
        password = clouds["clouds"]["vmperf-member"]["auth"]["password"]
        self.assertEqual("123e4567", password)
        schema = self.shipped.data("schema.yaml.j2")
        bootstrap = schema["keystone"][-1]["environment"]
        self.assertEqual("123e4567", bootstrap["OS_BOOTSTRAP_PASSWORD"])

    def test_secrets_are_for_root_only(self):
        templates.write_all(self.shipped, self.folders)
        found = 0
        for path in self.folders.root.rglob("*"):
            if not path.is_file():
                continue
            text = path.read_text()
            if any(secret in text for secret in self.secrets.values()):
                found += 1
                mode = stat.S_IMODE(path.stat().st_mode)
                self.assertEqual(0o600, mode, path)
        self.assertGreater(found, 8)

    def test_no_service_shares_a_database_account(self):
        for name in ("glance", "keystone", "neutron", "placement"):
            text = self.shipped.render(f"{name}.conf.j2")
            accounts = re.findall(r"pymysql://(\w+):(\w+)@", text)
            self.assertEqual(
                [(name, self.secrets[f"database_{name}"])], accounts
            )
