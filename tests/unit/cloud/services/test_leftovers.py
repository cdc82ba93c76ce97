import pathlib
from unittest import mock

import psutil

from rally_vmperf.cloud.services import leftovers
from rally_vmperf.cloud.state import records
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import procfs
from tests.unit.cloud import base


class LeftoversTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.log = self.folders.log / "glance.log"
        self.mark = {commands.MARK: str(self.folders.root)}
        identity = procfs.Identity(10, 100, self.processes.boot_id())
        self.record = records.Record("glance", identity, 0, "digest")

    def of(self, record=None):
        return leftovers.of("glance", record, self.folders, self.processes)

    def test_by_the_log(self):
        self.proc.add(11, argv=["glance-api"], output=self.log)
        self.proc.add(12, argv=["x"], output=self.folders.log / "nova-api.log")
        self.assertEqual([11], self.of())

    def test_by_a_log_that_was_deleted(self):
        self.proc.add(11, argv=["a"], output=f"{self.log} (deleted)")
        self.assertEqual([11], self.of())

    def test_by_the_session(self):
        self.proc.add(11, argv=["privsep"], session=10, environment=self.mark)
        self.assertEqual([11], self.of(self.record))
        self.assertEqual([], self.of())

    def test_a_session_of_the_same_number_is_not_ours(self):
        self.proc.add(10, argv=["bash"], start_time=900)
        self.proc.add(11, argv=["vi"], session=10)
        self.assertEqual([], self.of(self.record))

    def test_what_guests_need_stays(self):
        for pid, program in enumerate(
            ("dnsmasq", "haproxy", "/usr/bin/qemu-system-x86_64"), start=11
        ):
            self.proc.add(pid, argv=[program], output=self.log)
        self.assertEqual([], self.of())


DATA = pathlib.Path(__file__).parents[1] / "data"


class PortsTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        (self.proc.root / "net").mkdir()
        self.table = (DATA / "proc-net-tcp.txt").read_text()
        (self.proc.root / "net/tcp").write_text(self.table)
        patch = mock.patch.object(psutil, "PROCFS_PATH", str(self.proc.root))
        patch.start()
        self.addCleanup(patch.stop)

    def test_who_listens(self):
        self.proc.add(10, argv=["uwsgi"], sockets=("1232200", "1"))
        self.proc.add(11, argv=["vi"], sockets=("2",))
        self.assertEqual([10], leftovers.holders("172.30.0.1:5000"))

    def test_other_addresses_are_free(self):
        for address in ("172.30.0.1:5001", "172.24.4.1:5000"):
            self.assertEqual([], leftovers.holders(address))

    def test_a_connection_keeps_nobody_off(self):
        self.assertIn("01001EAC:D528 ", self.table)
        self.assertEqual([], leftovers.holders("172.30.0.1:54568"))

    def test_one_that_listens_everywhere(self):
        (self.proc.root / "net/tcp6").write_text(
            self.table.splitlines()[0] + "\n"
            f"   0: {'0' * 32}:1389 {'0' * 32}:0000 0A 00000000:00000000"
            " 00:00000000 00000000     0        0 77 1 0000000000000000\n"
        )
        self.proc.add(10, argv=["nginx"], sockets=("77",))
        self.assertEqual([10], leftovers.holders("172.30.0.1:5001"))
