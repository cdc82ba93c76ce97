# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import pwd
from unittest import mock

import ddt

from rally_vmperf import removal
from rally_vmperf.image import commands
from tests.cloud import bringup
from tests.cloud import teardown
from tests.cloud.state import state_root
from tests.cloud.system import layout
from tests.unit.cloud import base


@ddt.ddt
class NameTestCase(base.CloudTestCase):
    def refused(self, root, reason):
        with self.assertRaisesRegex(commands.HostError, reason) as caught:
            state_root.check_name(pathlib.Path(root))
        self.assertNotIn("\n", str(caught.exception))
        self.assertIn("--root", str(caught.exception))

    @ddt.data(
        "/", "//", "/.", "/var/lib/..", "/etc", "/etc/vmperf", "/usr",
        "/usr/local/cloud", "/var", "/var/lib", "/var/log", "/home", "/tmp",
        "/home/somebody", "/root", "/root/../root", "/proc/self",
        "/opt",
        "/run/cloud", "/dev/shm", "/boot/x", "/bin", "/sbin/x", "/lib",
        "/var/run", "/sys/fs", "/srv", "/mnt", "/var/tmp", "/var/cache",
    )  # fmt: skip
    def test_refused(self, root):
        self.refused(root, "a cloud must not use")

    @ddt.data("/", "/etc", "/usr/lib", "/home", "/var/lib")
    def test_by_a_link(self, target):
        link = self.folder / "link"
        link.symlink_to(target)
        self.refused(link, "a cloud must not use")
        self.refused(link / "." / "sub" / "..", "a cloud must not use")

    def test_homes_wherever_they_are(self):
        home = self.folder / "home-of-a-user"
        home.mkdir()
        user = mock.Mock(spec=pwd.struct_passwd, pw_dir=str(home))
        with mock.patch("pwd.getpwall", autospec=True, return_value=[user]):
            self.refused(home, "home directory of a user")
            self.refused(home / "x" / "..", "home directory of a user")
            state_root.check_name(home / "cloud")
        with mock.patch.dict(os.environ, {"HOME": str(home)}):
            self.refused(home, "home directory of a user")

    @ddt.data("/var/lib/some-cloud", "/srv/cloud", "/home/x/cloud")
    def test_accepted(self, root):
        self.assertEqual(
            pathlib.Path(root), state_root.check_name(pathlib.Path(root))
        )


@ddt.ddt
class ClaimTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.folders = layout.Layout(self.folder / "new" / "root")

    def fill(self, *names):
        self.folders.root.mkdir(parents=True)
        for name in names:
            (self.folders.root / name).touch()

    @ddt.data(
        None, (), ("vmperf-guest.qcow2",),
        ("vmperf-guest.qcow2", "vmperf-guest.log", "vmperf-guest.manifest"),
        ("root.tar.zst",),
    )  # fmt: skip
    def test_claimed(self, names):
        if names is not None:
            self.fill(*names)
        with self.assertRaises(commands.HostError):
            state_root.require(self.folders)
        state_root.claim(self.folders)
        state_root.require(self.folders)
        (self.folders.root / "data").mkdir()
        state_root.claim(self.folders)

    @ddt.data("letter.txt", ".profile", "etc", "vmperf-guest.qcow2.old")
    def test_refused(self, name):
        self.fill(name, "vmperf-guest.qcow2")
        for refuse in (state_root.claim, state_root.require):
            with self.assertRaisesRegex(
                commands.HostError, "no cloud was made in it; name another"
            ) as caught:
                refuse(self.folders)
            self.assertNotIn("\n", str(caught.exception))

    def test_a_file(self):
        self.folders.root.parent.mkdir()
        self.folders.root.touch()
        with self.assertRaisesRegex(commands.HostError, "is not a folder"):
            state_root.claim(self.folders)


class CommandsTestCase(base.CloudTestCase):
    """``up`` and ``down`` change nothing in a folder of others."""

    def setUp(self):
        super().setUp()
        (self.folders.root / removal.MARKER).unlink()
        self.before = self.listing()

    def listing(self):
        return {
            (path, path.lstat().st_mode, path.lstat().st_mtime_ns)
            for path in (self.folders.root, *self.folders.root.rglob("*"))
        }

    def test_down(self):
        for purge in (False, True):
            with self.assertRaisesRegex(commands.HostError, "no cloud was"):
                teardown.down(self.folders, self.progress, purge=purge)
        self.assertEqual(self.before, self.listing())

    def test_up(self):
        with (
            mock.patch.object(bringup, "preflight", autospec=True),
            self.assertRaisesRegex(commands.HostError, "no cloud was made"),
        ):
            bringup.up(self.folders, self.progress)
        self.assertEqual(self.before, self.listing())
