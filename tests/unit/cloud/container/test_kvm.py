import json
import pathlib

from rally_vmperf.cloud.system import kvm
from tests.unit.cloud import base


class KvmTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.verdict = self.folders.data / "kvm.json"

    def works(self, boot_id):
        return kvm.works(pathlib.Path("/no/image"), self.verdict, boot_id)

    def test_the_sector_boots(self):
        self.assertEqual(512, len(kvm.SECTOR))
        self.assertEqual(b"\x55\xaa", kvm.SECTOR[-2:])

    def test_asked_once_in_each_boot(self):
        self.verdict.write_text(json.dumps({"boot_id": "b", "works": True}))
        self.assertTrue(self.works("b"))

    def test_asked_anew_after_a_reboot(self):
        self.verdict.write_text(json.dumps({"boot_id": "b", "works": True}))
        device = kvm.DEVICE
        self.addCleanup(setattr, kvm, "DEVICE", device)
        kvm.DEVICE = self.folder / "no-kvm"
        self.assertFalse(self.works("c"))
        known = json.loads(self.verdict.read_text())
        self.assertEqual({"boot_id": "c", "works": False}, known)

    def test_the_image_stays_as_it_is(self):
        line = kvm.guest_command(
            "kvm", pathlib.Path("/i.qcow2"), pathlib.Path("/serial")
        )
        self.assertIn("-snapshot", line)
