import json
from unittest import mock

import ddt

from rally_vmperf.cloud.container import kvm
from tests.unit.cloud import base


@ddt.ddt
class KvmTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.verdict = self.folders.data / "kvm.json"
        self.boot_id = kvm.BOOT_ID.read_text().strip()

    def works(self):
        with mock.patch.object(kvm, "DEVICE", self.folder / "no-kvm"):
            return kvm.works(
                self.folders.image, self.verdict, self.folders.package_root
            )

    def test_the_sector_boots(self):
        self.assertEqual(512, len(kvm.SECTOR))
        self.assertEqual(b"\x55\xaa", kvm.SECTOR[-2:])

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

    def test_the_image_stays_as_it_is(self):
        line = kvm.guest_command(
            "kvm", self.folders.image, self.folder / "serial"
        )
        self.assertIn("-snapshot", line)

    @ddt.data(
        (b"Cloud-init v. 22", b"", True),
        (b"Linux", b"KVM internal error", False),
    )
    @ddt.unpack
    def test_speaks(self, shown, complaint, expected):
        serial, complaints = self.folder / "serial", self.folder / "complaints"
        serial.write_bytes(shown)
        complaints.write_bytes(complaint)
        guest = mock.Mock(spec=["poll"], **{"poll.return_value": None})
        self.assertIs(expected, kvm.speaks(guest, serial, complaints, 60))
