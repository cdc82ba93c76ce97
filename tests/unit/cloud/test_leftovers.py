from rally_vmperf.cloud import commands
from rally_vmperf.cloud import leftovers
from rally_vmperf.cloud import procfs
from rally_vmperf.cloud import records
from tests.unit.cloud import base


class LeftoversTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.log = self.place.log / "glance.log"
        self.mark = {commands.MARK: str(self.place.root)}
        identity = procfs.Identity(10, 100, self.processes.boot_id())
        self.record = records.Record("glance", identity, 0, "digest")

    def of(self, record=None):
        return leftovers.of("glance", record, self.place, self.processes)

    def test_by_the_log(self):
        self.proc.add(11, argv=["glance-api"], output=self.log)
        self.proc.add(12, argv=["x"], output=self.place.log / "nova-api.log")
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
