# SPDX-License-Identifier: Apache-2.0
import collections
import os
import platform
import shutil
from unittest import mock

import ddt

from rally_vmperf.image import commands
from tests.cloud import preflight
from tests.cloud.container import container
from tests.cloud.system import layout
from tests.unit.cloud import base

GIB = preflight.GIB
Usage = collections.namedtuple("Usage", "free")


@ddt.ddt
class PreflightTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.other = self.folder / "other"
        self.other.mkdir()
        self.devices = self.folder / "devices"
        self.devices.mkdir()
        for name, value in (
            ("DEFAULT_ROOT", self.other), ("LINK", "vmperf-cloud0"),
        ):  # fmt: skip
            self.enterContext(mock.patch.object(layout, name, value))
        self.enterContext(
            mock.patch.object(preflight, "_DEVICES", self.devices)
        )

    def check(self, folders=None, *, release=None, memory=8, disk=50):
        release = release or {"ID": "debian", "VERSION_ID": "12"}
        sizes = {"SC_PHYS_PAGES": int(memory * GIB) // 4096,
                 "SC_PAGE_SIZE": 4096}  # fmt: skip
        with (
            mock.patch.object(
                platform,
                "freedesktop_os_release",
                autospec=True,
                return_value=release,
            ),
            mock.patch.object(os, "sysconf", sizes.get),
            mock.patch.object(
                shutil, "disk_usage", autospec=True
            ) as disk_usage,
        ):
            disk_usage.return_value = Usage(int(disk * GIB))
            preflight.check(folders or self.folders)

    def check_rejected(self, value, way_out, **facts):
        with self.assertRaises(commands.HostError) as caught:
            self.check(**facts)
        reason = str(caught.exception)
        self.assertIn(value, reason)
        self.assertIn(way_out, reason)
        self.assertNotIn("\n", reason)

    def provide(self):
        self.folders.package_root.mkdir()
        self.folders.image.touch()

    def test_accepted(self):
        self.check()
        self.check(release={"ID": "debian", "VERSION_ID": "13"})
        self.check(memory=6, disk=10)
        self.check(layout.Layout(self.folder / "a" / "b"))
        # Packages and image have their space already.
        self.provide()
        self.check(disk=1)

    @ddt.data(
        ({"ID": "debian", "VERSION_ID": "11"}, "'debian 11'"),
        # Debian's unstable release has no version.
        ({"ID": "debian"}, "'debian'"),
        # Ancestors do not count.
        (
            {"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_ID": "24.04"},
            "'ubuntu 24.04'",
        ),
    )
    @ddt.unpack
    def test_system(self, release, shown):
        self.check_rejected(
            shown, "'debian 12', 'debian 13'; use a host", release=release
        )

    def test_size(self):
        self.check_rejected("5.0 GiB", "with 6 GiB", memory=5)
        self.check_rejected("9.0 GiB", "--root", disk=9)
        self.provide()
        self.check_rejected("0.5 GiB", "free some", disk=0.5)

    def test_another_cloud(self):
        (self.devices / layout.LINK).touch()
        self.check_rejected(
            "link vmperf-cloud0", "tests.cloud down --root DIRECTORY"
        )
        # What is left of ours, which was killed.
        (self.folders.root / container.PID_FILE).touch()
        self.check()

    def test_an_earlier_form(self):
        """In its directory, or where clouds usually are."""
        for root in (self.other, self.folders.root):
            path = root / "packages.json"
            path.touch()
            self.check_rejected(
                f"{path} belongs to a cloud of an earlier version",
                f"rally-vmperf cloud down --purge, then delete {root}",
            )
            path.unlink()
