import pathlib

from rally_vmperf.cloud import ports
from tests.unit.cloud import base

DATA = pathlib.Path(__file__).parent / "data"


class PortsTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        (self.proc.root / "net").mkdir()
        self.table = (DATA / "proc-net-tcp.txt").read_text()
        (self.proc.root / "net/tcp").write_text(self.table)

    def holders(self, address):
        return ports.holders(self.processes, address)

    def test_who_listens(self):
        (number,) = ports.listeners(self.proc.root, "172.30.0.1:5000")
        self.proc.add(10, argv=["uwsgi"], sockets=(number, "1"))
        self.proc.add(11, argv=["vi"], sockets=("2",))
        self.assertEqual([10], self.holders("172.30.0.1:5000"))

    def test_other_addresses_are_free(self):
        for address in ("172.30.0.1:5001", "172.24.4.1:5000"):
            self.assertEqual([], self.holders(address))

    def test_a_connection_keeps_nobody_off(self):
        here = f"{ports.hexadecimal('172.30.0.1')}:{54568:04X} "
        self.assertIn(here, self.table)
        self.assertEqual([], self.holders("172.30.0.1:54568"))

    def test_one_that_listens_everywhere(self):
        (self.proc.root / "net/tcp6").write_text(
            self.table.splitlines()[0] + "\n"
            f"   0: {'0' * 32}:1389 {'0' * 32}:0000 0A 00000000:00000000"
            " 00:00000000 00000000     0        0 77 1 0000000000000000\n"
        )
        self.proc.add(10, argv=["nginx"], sockets=("77",))
        self.assertEqual([10], self.holders("172.30.0.1:5001"))
