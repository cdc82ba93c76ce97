from rally_vmperf.cloud import database_files
from tests.unit.cloud import base

TABLES = ["nova.instances", "keystone.user"]


class DamageTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.data = self.place.data / "mysql"
        for name in ("mysql", "nova", "keystone"):
            (self.data / name).mkdir()
        for name in ("ib_logfile0", "aria_log_control"):
            (self.data / name).touch()
        self.write("ibdata1", database_files.SMALLEST_SHARED)
        for table in TABLES:
            self.write(self.file(table), database_files.SMALLEST)

    def file(self, table):
        return f"{table.replace('.', '/')}.ibd"

    def write(self, name, size):
        with (self.data / name).open("wb") as stream:
            stream.truncate(size)

    def damage(self):
        return database_files.damage(self.data, TABLES)

    def test_whole(self):
        """Pages of zeroes may be on their way from the redo log."""
        self.assertIsNone(self.damage())

    def test_gone(self):
        for name, trouble in (
            ("ibdata1", "MariaDB's ibdata1 is gone"),
            ("ib_logfile0", "MariaDB's ib_logfile0 is gone"),
            ("nova/instances.ibd", "database nova: table instances is gone"),
        ):
            with self.subTest(name):
                (self.data / name).rename(self.folder / "kept")
                self.assertEqual(trouble, self.damage())
                (self.folder / "kept").rename(self.data / name)

    def test_cut_short(self):
        self.write("keystone/user.ibd", 100)
        self.assertEqual(
            "database keystone: table user cannot be read", self.damage()
        )

    def test_the_shared_file_cut_short(self):
        self.write("ibdata1", 1024)
        self.assertEqual("MariaDB's ibdata1 cannot be read", self.damage())

    def test_an_empty_folder(self):
        self.assertEqual(
            "MariaDB's ibdata1 is gone",
            database_files.damage(self.folder, TABLES),
        )
