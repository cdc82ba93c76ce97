import json
from unittest import mock

from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import packages
from rally_vmperf.cloud.system import units
from tests.unit.cloud import base

FILES = """\
/lib/systemd/system/mariadb.service
/usr/lib/systemd/system/epmd.socket
/lib/systemd/system/ssh@.service
/lib/systemd/system/mariadb.service.d/x.conf
/lib/systemd/system/sound.target
/etc/init.d/nova-compute
/etc/init.d
/usr/share/doc/mariadb/README
""".splitlines()
UNITS = ["epmd.socket", "mariadb.service", "nova-compute.service",
         "ssh@.service"]  # fmt: skip


class UnitsTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.units = self.folder / "system"
        for module, name, value in (
            (units, "FOLDER", self.units),
            (units, "RUNNING", self.folder / "no-systemd"),
        ):
            patch = mock.patch.object(module, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def bring(self, *names):
        self.folders.packages.write_text(json.dumps({"brought": names}))

    def mask(self):
        with mock.patch.object(
            units.commands, "run", autospec=True, return_value="\n".join(FILES)
        ) as asked:
            units.mask(self.folders)
        return asked

    def masked(self):
        return sorted(path.name for path in self.units.iterdir())

    def test_of_files(self):
        self.assertEqual(UNITS, units.units(FILES))

    def test_only_of_packages_that_came_for_the_cloud(self):
        self.mask().assert_not_called()
        self.assertFalse(self.units.exists())
        self.bring("mariadb-server", "systemd", "dbus")
        command = self.mask().call_args[0][0]
        self.assertEqual(["dpkg-query", "-L", "mariadb-server"], command)
        self.assertEqual(UNITS, self.masked())
        for name in UNITS:
            self.assertEqual(units.NOWHERE, (self.units / name).readlink())

    def test_undone(self):
        self.bring("mariadb-server")
        self.mask()
        # somebody has given it another meaning meanwhile
        (self.units / "epmd.socket").unlink()
        (self.units / "epmd.socket").write_text("[Socket]")
        units.unmask(self.folders)
        self.assertEqual(["epmd.socket"], self.masked())
        units.unmask(self.folders)
        self.mask()
        self.assertEqual(UNITS, self.masked())

    def test_what_the_owner_decided_stays(self):
        self.units.mkdir()
        (self.units / "ssh@.service").symlink_to("/lib/elsewhere")
        (self.units / "mariadb.service").symlink_to("/dev/null")
        self.bring("mariadb-server")
        self.mask()
        units.unmask(self.folders)
        self.assertEqual(["mariadb.service", "ssh@.service"], self.masked())


class RecordedTestCase(base.CloudTestCase):
    def installed(self, *names):
        return mock.patch.object(
            packages, "installed", autospec=True, return_value=[*names]
        )

    def brought(self):
        return json.loads(self.folders.packages.read_text())

    def test_what_came(self):
        with self.installed("a"):
            recording = packages.recorded(self.folders.packages)
            recording.__enter__()
        with self.installed("a", "b"):
            recording.__exit__(None, None, None)
        self.assertEqual({"brought": ["b"]}, self.brought())

    def test_what_came_before_an_interruption(self):
        with self.installed("a"):
            killed = packages.recorded(self.folders.packages)
            killed.__enter__()
        with (
            self.installed("a", "b"),
            self.assertRaises(errors.CloudError),
            packages.recorded(self.folders.packages),
        ):
            raise errors.CloudError("apt failed")
        self.assertEqual({"brought": ["b"]}, self.brought())
        del killed

    def test_nobody_wants_to_know(self):
        with packages.recorded(None):
            self.assertFalse(self.folders.packages.exists())
