from rally_vmperf.cloud.state import ownership
from rally_vmperf.cloud.state import records
from rally_vmperf.cloud.system import commands
from tests.unit.cloud import base


class OwnershipTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.proc.add(10, argv=["/usr/sbin/libvirtd"])
        records.Records(self.folders).write(
            "libvirtd", self.processes.identify(10), "digest"
        )

    def owner(self):
        return ownership.Ownership(self.folders, self.processes)

    def test_ours(self):
        disk = f"file={self.folders.data}/nova/instances/1/disk"
        mark = {commands.MARK: str(self.folders.root)}
        self.proc.add(11, argv=["worker"], session=10)
        self.proc.add(12, argv=["dnsmasq"], environment=mark)
        self.proc.add(13, argv=["/usr/bin/qemu-system-x86_64", disk])
        self.assertEqual([10, 11, 12, 13], self.owner().all())

    def test_what_wrote_over_its_environment_is_ours_by_its_log(self):
        log = self.folders.log / "neutron-server.log"
        self.proc.add(11, argv=["neutron-server: worker"], output=log)
        self.proc.add(12, argv=["make"], output=self.folders.log / "up.log")
        self.proc.add(13, argv=["x"], output=self.folder / "neutron-x.log")
        self.assertEqual([10, 11], self.owner().all())

    def test_not_ours(self):
        mark = {commands.MARK: "/somewhere/else"}
        self.proc.add(12, argv=["dnsmasq"], environment=mark)
        self.proc.add(13, argv=["qemu-system-x86_64", "/home/x/disk"])
        self.proc.add(14, argv=["vi", f"{self.folders.data}/nova/instances/1"])
        self.assertEqual([10], self.owner().all())

    def test_a_record_of_a_dead_service_owns_nothing(self):
        self.proc.add(10, argv=["vi"], start_time=101)
        self.assertEqual([], self.owner().all())

    def test_rivals(self):
        self.proc.add(20, argv=["/usr/bin/python3", "/usr/bin/nova-api"])
        self.proc.add(21, argv=["/usr/sbin/virtqemud"])
        self.proc.add(22, argv=["vi", "nova-api"])
        self.proc.add(23, argv=["python3", "neutron-l3-agent"], session=10)
        self.proc.add(24, argv=[])
        self.assertEqual(
            [(20, "nova-api"), (21, "virtqemud")], self.owner().rivals()
        )
