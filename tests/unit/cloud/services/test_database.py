import pathlib
import unittest

import ddt

from rally_vmperf.cloud.services import database
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.system import errors
from tests.unit.cloud import base

MARIADB = services.Service(name="mariadb", argv=["mariadbd"])
DATA = pathlib.Path(__file__).parents[1] / "data"


class FakeKeeper:
    """Starts MariaDB, which says something and ends.

    :param log: where it says it
    :param said: what it says
    """

    def __init__(self, log, said):
        self._log = log
        self._said = said

    def log(self, name):
        """Return the log."""
        return self._log

    def running(self, name):
        """Tell that it does not run."""

    def ensure(self, service):
        """Fail to start it."""
        with self._log.open("a") as stream:
            stream.write(self._said)
        raise errors.CloudError("mariadb ended")


@ddt.ddt
class BlamedTestCase(unittest.TestCase):
    @ddt.data(
        "[ERROR] InnoDB: Unable to lock ./ibdata1 error: 11",
        '[ERROR] mariadbd: Error writing file (Errcode: 28 "No space left on',
        "[ERROR] InnoDB: Cannot allocate memory for the buffer pool",
        "[ERROR] Can't start server: can't create PID file",
    )
    def test_what_is_not_the_files_fault(self, said):
        self.assertIsNone(database.blamed(f"{said}\n[ERROR] Aborting\n"))

    def test_no_complaint(self):
        self.assertIsNone(database.blamed("[Note] ready for connections\n"))


class StartTestCase(base.CloudTestCase):
    def start(self, said):
        log = self.folders.log / "mariadb.log"
        log.write_text("[ERROR] InnoDB: of an earlier start\n")
        database.start(FakeKeeper(log, said), MARIADB)

    def test_broken_files(self):
        said = (DATA / "mariadbd-10.11-truncated.txt").read_text()
        with self.assertRaisesRegex(
            errors.DamageError, "^MariaDB does not start with its files: Inno"
        ):
            self.start(said)

    def test_what_earlier_starts_said_does_not_count(self):
        with self.assertRaises(errors.CloudError) as failed:
            self.start("killed\n")
        self.assertNotIsInstance(failed.exception, errors.DamageError)


TABLES = ["nova.instances", "keystone.user"]


class DamageTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.data = self.folders.data / "mysql"
        for name in ("mysql", "nova", "keystone"):
            (self.data / name).mkdir()
        for name in ("ib_logfile0", "aria_log_control"):
            (self.data / name).touch()
        self.write("ibdata1", database.SMALLEST_SHARED)
        for table in TABLES:
            self.write(self.file(table), database.SMALLEST)

    def file(self, table):
        return f"{table.replace('.', '/')}.ibd"

    def write(self, name, size):
        with (self.data / name).open("wb") as stream:
            stream.truncate(size)

    def damage(self):
        return database.damage(self.data, TABLES)

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
            database.damage(self.folder, TABLES),
        )
