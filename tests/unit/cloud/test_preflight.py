import dataclasses
import platform
from unittest import mock

import ddt

from rally_vmperf.cloud import preflight
from rally_vmperf.cloud.container import container
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout
from tests.unit.cloud import base

GIB = preflight.GIB
GOOD = preflight.Facts(
    user=0, system="debian 12", memory=8 * GIB, disk=50 * GIB
)


@ddt.ddt
class PreflightTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.other = self.folder / "other"
        self.other.mkdir()
        self.enterContext(
            mock.patch.object(layout, "DEFAULT_ROOT", self.other)
        )

    @ddt.data(
        {},
        {"system": "debian 13"},
        {"memory": 6 * GIB, "disk": 10 * GIB},
        # Packages and image have their space already.
        {"provided": True, "disk": GIB},
    )
    def test_accepted(self, change):
        preflight.check(dataclasses.replace(GOOD, **change))

    @ddt.data(
        ({"user": 1000}, "user 1000", "sudo"),
        ({"system": "debian 11"}, "'debian 11'", "'debian 12', 'debian 13'"),
        ({"system": "ubuntu 24.04"}, "'ubuntu 24.04'", "use a host or a"),
        ({"memory": 5 * GIB}, "5.0 GiB", "with 6 GiB"),
        ({"disk": 9 * GIB}, "9.0 GiB", "--root"),
        ({"disk": GIB // 2, "provided": True}, "0.5 GiB", "free some"),
        ({"other": True}, "link vmperf-cloud0", "cloud down --root DIRECTORY"),
    )
    @ddt.unpack
    def test_rejected(self, change, value, way_out):
        with self.assertRaises(errors.CloudError) as caught:
            preflight.check(dataclasses.replace(GOOD, **change))
        reason = str(caught.exception)
        self.assertIn(value, reason)
        self.assertIn(way_out, reason)
        self.assertNotIn("\n", reason)

    @ddt.data(
        # Debian's unstable release has no version.
        ({"ID": "debian"}, "debian"),
        (
            {"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_ID": "24.04"},
            "ubuntu 24.04",
        ),
    )
    @ddt.unpack
    def test_system(self, release, system):
        """The release is part of it, and ancestors do not count."""
        with mock.patch.object(
            platform,
            "freedesktop_os_release",
            autospec=True,
            return_value=release,
        ):
            self.assertEqual(system, preflight.gather(self.folders).system)

    def test_provided(self):
        self.folders.package_root.mkdir()
        self.assertFalse(preflight.gather(self.folders).provided)
        self.folders.image.touch()
        self.assertTrue(preflight.gather(self.folders).provided)

    def test_another_cloud(self):
        with mock.patch.object(layout, "LINK", "no-such-link"):
            self.assertFalse(preflight.gather(self.folders).other)
        with mock.patch.object(layout, "LINK", "lo"):
            self.assertTrue(preflight.gather(self.folders).other)
            # What is left of ours, which was killed.
            (self.folders.root / container.PID_FILE).touch()
            self.assertFalse(preflight.gather(self.folders).other)

    def test_a_directory_that_does_not_exist(self):
        folders = layout.Layout(self.folder / "a" / "b")
        self.assertGreater(preflight.gather(folders).disk, 0)

    def test_an_earlier_form(self):
        """In its directory, or where clouds usually are."""
        self.assertIsNone(preflight.gather(self.folders).earlier)
        for root in (self.other, self.folders.root):
            path = root / "packages.json"
            path.touch()
            facts = preflight.gather(self.folders)
            self.assertEqual(path, facts.earlier)
            with self.assertRaisesRegex(
                errors.CloudError,
                f"^{path} belongs to a cloud of an earlier version.*: "
                f"rally-vmperf cloud down --purge, then delete {root}$",
            ):
                preflight.check(dataclasses.replace(GOOD, earlier=path))
            path.unlink()
