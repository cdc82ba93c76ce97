# SPDX-License-Identifier: Apache-2.0
import json
from unittest import mock

import ddt

from tests.cloud.container import kvm
from tests.cloud.container import package_root
from tests.unit.cloud import base


@ddt.ddt
class KvmTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.verdict = self.folders.data / "kvm.json"
        self.boot_id = kvm.BOOT_ID.read_text().strip()

    def works(self):
        with mock.patch.object(kvm, "DEVICE", self.folder / "no-kvm"):
            return kvm.works(self.folders)

    def test_asked_once_in_each_boot(self):
        self.verdict.write_text(
            json.dumps({"boot_id": self.boot_id, "works": True})
        )
        self.assertTrue(self.works())

    @ddt.data('{"boot_id": "earlier", "works": true}', "{", "")
    def test_asked_anew(self, text):
        self.verdict.write_text(text)
        self.assertFalse(self.works())
        self.assertEqual(
            {"boot_id": self.boot_id, "works": False},
            json.loads(self.verdict.read_text()),
        )

    @ddt.data(
        ("echo 'Linux'; echo 'vmperf-guest: looking'; exec sleep 60", True),
        ("echo 'KVM internal error' >&2; exec sleep 60", False),
        ("echo 'no such device' >&2; exit 1", False),
        ("exec sleep 60", False),
    )
    @ddt.unpack
    def test_boots(self, script, expected):
        with (
            mock.patch.object(kvm, "_TIMEOUT", 1),
            mock.patch.object(
                package_root,
                "enter",
                autospec=True,
                return_value=["sh", "-c", f"exec 2>&1; {script}"],
            ) as enter,
        ):
            self.assertIs(expected, kvm._boots(self.folders))
        _, directory, guest = enter.call_args.args
        self.assertEqual(self.folders.root, directory)
        self.assertIn("-snapshot", guest)
