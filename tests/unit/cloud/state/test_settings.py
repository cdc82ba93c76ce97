# SPDX-License-Identifier: Apache-2.0
from tests.cloud.state import settings
from tests.unit.cloud import base


class SettingsTestCase(base.CloudTestCase):
    def test_kept(self):
        chosen = settings.Settings("writeback", "kvm", 2, True)
        settings.save(self.folders, chosen)
        self.assertEqual(chosen, settings.load(self.folders))

    def test_defaults_for_what_cannot_be_read(self):
        for text in (
            *("", "{", '{"disk_cache": "fast"}', '{"hypervisors": 3}'),
            '{"volumes": 1}',
        ):
            with self.subTest(text):
                self.folders.settings.write_text(text)
                self.assertEqual(
                    settings.Settings("none", "qemu", 1, False),
                    settings.load(self.folders),
                )
