# SPDX-License-Identifier: Apache-2.0
import shutil
from unittest import mock

from tests.cloud import preflight
from tests.cloud import status
from tests.cloud.container import container
from tests.cloud.system import layout
from tests.unit.cloud import base


class DescribeTestCase(base.CloudTestCase):
    def describe(self, *processes):
        """Return the rows without the time, by service."""
        if processes:
            self.serve(lambda: list(processes))
        return {
            row[0]: (row[2], row[3], row[5])
            for row in status.describe(self.folders)
        }

    def test_states(self):
        waiting = self.folders.run / "waiting"
        waiting.mkdir()
        path = waiting / "supervisord.sock-keystone"
        path.write_text("tcp:172.30.0.2:5672\n")
        self.assertEqual(
            {
                "mariadb": ("running", "7", ""),
                "keystone": ("running", "7", "waits for tcp:172.30.0.2:5672"),
                "schema-nova": ("done", "", ""),
                "schema-glance": ("exited", "", "exit status 1"),
                "glance": ("fatal", "", "no such program"),
            },
            self.describe(
                base.process("mariadb"),
                base.process("keystone"),
                base.process("schema-nova", "EXITED", pid=0),
                base.process(
                    "schema-glance",
                    "EXITED",
                    pid=0,
                    exitstatus=1,
                    description="exit status 1",
                ),
                base.process(
                    "glance", "FATAL", pid=0, spawnerr="no such program"
                ),
            ),
        )

    def test_both_hypervisors(self):
        self.serve(lambda: [base.process("libvirtd")])
        self.serve(lambda: [base.process("libvirtd")], "supervisord-2")
        rows = status.describe(self.folders)
        self.assertEqual(
            [("libvirtd", name) for name in layout.HYPERVISORS],
            [row[:2] for row in rows],
        )
        for row in rows:
            self.assertEqual(len(status.COLUMNS), len(row))
            self.assertRegex(row[4], r"^2023-11-1\d \d\d:\d\d:\d\d$")

    def test_stopped(self):
        for folders in (self.folders, layout.Layout(self.folder / "none")):
            self.assertEqual(
                [("container", "", "stopped", "", "", "")],
                status.describe(folders),
            )

    def test_kernel_modules(self):
        self.folders.modules.write_text("ext4\n")
        modules = self.folder / "modules"
        modules.write_text("ext4 1 0 - Live\ntun 1 0 - Live\n")
        with mock.patch.object(container, "_MODULES", modules):
            rows = status.describe(self.folders)
        self.assertEqual(
            [("kernel module", "", "loaded: tun", "", "", "")], rows[1:]
        )

    def test_a_full_disk(self):
        free = shutil.disk_usage(self.folder).free + preflight.GIB
        with mock.patch.object(preflight, "DISK_OF_RUNNING", free):
            self.assertRegex(
                self.describe()["disk"][2], "^only .* GiB are free$"
            )
