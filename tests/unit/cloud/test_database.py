import pathlib
import unittest

import ddt

from rally_vmperf.cloud import database
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import services
from tests.unit.cloud import base

MARIADB = services.Service(name="mariadb", argv=["mariadbd"])
DATA = pathlib.Path(__file__).parent / "data"


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
        log = self.place.log / "mariadb.log"
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
