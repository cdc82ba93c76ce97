from rally_vmperf.cloud.services import service_health
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.state import records
from tests.unit.cloud import base

SILENT = {"unix": "/nonexistent"}


class ProcessTestCase(base.CloudTestCase):
    def trouble(self, **more):
        service = services.Service(name="a", argv=["a"], **more)
        record = records.Records(self.folders).read("a")
        return service_health.of_process(service, record, self.processes)

    def start(self, **more):
        self.proc.add(10, argv=["a"], **more)
        identity = self.processes.identify(10)
        records.Records(self.folders).write("a", identity, "digest")

    def test_nothing(self):
        self.start()
        self.assertIsNone(self.trouble())

    def test_what_is_no_damage(self):
        self.assertEqual(service_health.NEW, self.trouble())
        self.start()
        self.proc.reboot("another")
        self.assertEqual(service_health.REBOOTED, self.trouble())

    def test_ended(self):
        self.start()
        self.proc.add(10, argv=["vi"], start_time=200)
        self.assertEqual("has ended", self.trouble())

    def test_deaf(self):
        self.start(state="T")
        self.assertEqual("is stopped by a signal", self.trouble())

    def test_mounts(self):
        wanted = ["/etc/libvirt", "/var/lib/libvirt"]
        self.start(mounts=("/", *wanted))
        self.assertIsNone(self.trouble(mounts=wanted))
        self.start(mounts=("/", "/var/lib/libvirt"))
        self.assertEqual(
            "has lost its mount on /etc/libvirt", self.trouble(mounts=wanted)
        )


class DigestTestCase(base.CloudTestCase):
    def test_changes(self):
        changed = "was started with what has changed since"
        for digest, before, trouble in (
            ("a", "a", None),
            ("a+1:2", "a+1:2", None),
            ("a", "b", changed),
            ("a+1:2", "a", changed),
            ("a+1:3", "a+1:2", "depends on what has ended since"),
            ("a+none", "a+1:2", "depends on what has ended since"),
        ):
            with self.subTest(digest=digest, before=before):
                self.assertEqual(
                    trouble, service_health.of_digest(digest, before)
                )


class AnswersTestCase(base.CloudTestCase):
    def test_silence(self):
        service = services.Service(name="a", argv=["a"], ready=SILENT)
        self.assertEqual(
            "does not answer at /nonexistent",
            service_health.of_answers(service, patience=0),
        )

    def test_without_a_probe(self):
        service = services.Service(name="a", argv=["a"])
        self.assertIsNone(service_health.of_answers(service, patience=0))
