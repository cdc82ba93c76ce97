# SPDX-License-Identifier: Apache-2.0
import json
import stat

import ddt

from rally_vmperf.image import commands
from tests import skips
from tests.cloud.state import credentials
from tests.unit.cloud import base

ALL = {*credentials.PURPOSES, *credentials.PURPOSES_OF_VOLUMES}


@ddt.ddt
class CredentialsTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.path = self.folders.etc / "secrets.json"

    def load(self, **facts):
        return credentials.load(self.path, **{"used": False, **facts})

    def test_one_for_each_purpose_and_all_different(self):
        made = self.load()
        self.assertEqual(ALL, set(made))
        self.assertEqual(len(made), len(set(made.values())))
        self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))

    def test_kept(self):
        made = self.load()
        self.assertEqual(made, self.load())
        self.assertEqual(made, self.load(used=True))

    def test_a_new_purpose_leaves_the_others(self):
        self.path.write_text(json.dumps({"admin": "known"}))
        made = self.load()
        self.assertEqual("known", made["admin"])
        self.assertEqual(ALL, set(made))

    def test_volumes_of_a_cloud_that_had_none(self):
        """Its databases lack their secrets, and get new ones."""
        before = self.load()
        for purpose in credentials.PURPOSES_OF_VOLUMES:
            del before[purpose]
        self.path.write_text(json.dumps(before))
        with self.assertRaisesRegex(commands.HostError, "lacks 2 secrets"):
            self.load(used=True, has_volumes=True)
        made = self.load(used=True)
        self.assertEqual(ALL, set(made))
        self.assertLessEqual(before.items(), made.items())

    @ddt.data("", '{"admin": "x', "[1]", '{"admin": "x", "member": 1}')
    def test_a_broken_file(self, text):
        """It is made anew, unless databases contain the secrets."""
        self.path.write_text(text)
        self.path.chmod(0o644)
        with self.assertRaisesRegex(
            commands.HostError,
            "secrets.json lacks 1[34] secrets .*cloud up --rebuild",
        ):
            self.load(used=True)
        self.assertEqual(text, self.path.read_text())
        made = self.load()
        self.assertEqual(made, self.load())
        self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))


@skips.requires("ssh-keygen")
class KeysTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.private = self.folders.etc / "id_ed25519"
        self.public = self.folders.etc / "id_ed25519.pub"
        self.cookie = self.folders.data / "rabbitmq/.erlang.cookie"
        self.make()

    def make(self):
        credentials.make_keys(self.folders)
        paths = (self.private, self.public, self.cookie)
        return [path.read_text() for path in paths]

    def test_kept(self):
        self.assertEqual(self.make(), self.make())
        text = (self.folders.root / "known_hosts").read_text()
        self.assertTrue(text.startswith("172.24.4.2,172.24.4.3 ssh-ed25519 "))
        self.assertRegex(
            (self.folders.etc / "hypervisor_known_hosts").read_text(),
            r"^172\.24\.5\.2,172\.24\.5\.3 ssh-ed25519 ",
        )
        for path, mode in (
            *((self.private, 0o600), (self.public, 0o600)),
            (self.cookie, 0o400),
        ):
            self.assertEqual(mode, stat.S_IMODE(path.stat().st_mode))
        self.assertRegex(self.cookie.read_text(), "^[0-9a-f]{64}$")

    def test_half_a_pair_is_made_anew(self):
        for path in (self.private, self.public):
            before = self.make()
            path.unlink()
            after = self.make()
            self.assertNotEqual(before, after)
            self.assertEqual(after, self.make())
