import os
import signal
import socket
import time

from rally_vmperf.cloud.services import service_health
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import procfs
from tests.unit.cloud import base

SLEEP = ["/bin/sleep", "60"]


class SupervisorTestCase(base.CloudTestCase):
    """With real processes, which need no privileges."""

    def setUp(self):
        super().setUp()
        self.keeper = supervisor.Supervisor(self.folders)
        self.addCleanup(self.keeper.stop, "a")

    def ensure(self, argv=SLEEP, **more):
        self.keeper.ensure(services.Service(name="a", argv=argv, **more))
        return self.keeper.running("a")

    def test_started_once(self):
        self.assertEqual(self.ensure(), self.ensure())

    def test_restarted_for_another_command_line(self):
        first = self.ensure()
        second = self.ensure(["/bin/sleep", "61"])
        self.assertNotEqual(first.identity, second.identity)
        self.assertFalse(procfs.ProcessTable().alive(first.identity))

    def test_its_environment_is_clean_and_marked(self):
        os.environ["PIP_INDEX_URL"] = "http://example.invalid"
        self.addCleanup(os.environ.pop, "PIP_INDEX_URL")
        pid = self.ensure(environment={"OWN": "1"}).identity.pid
        seen = procfs.ProcessTable().environment(pid)
        self.assertNotIn("PIP_INDEX_URL", seen)
        self.assertEqual("1", seen["OWN"])
        self.assertEqual(str(self.folders.root), seen[commands.MARK])
        self.assertTrue(seen["PATH"].startswith(str(self.folders.shims)))

    def test_stopped_with_what_it_started(self):
        self.ensure(["/bin/sh", "-c", "sleep 61 & sleep 62"])
        table = procfs.ProcessTable()
        pid = self.keeper.running("a").identity.pid
        self.keeper.stop("a")
        self.assertIsNone(self.keeper.running("a"))
        self.assertIsNone(self.keeper.records.read("a"))
        left = [p for p in table.pids() if table.session(p) == pid]
        self.assertEqual([], [p for p in left if table.identify(p)])

    def test_why_it_is_restarted(self):
        service = services.Service(name="a", argv=SLEEP)
        self.assertEqual(service_health.NEW, self.keeper.ensure(service))
        self.assertIsNone(self.keeper.ensure(service))
        pid = self.keeper.running("a").identity.pid
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self.assertEqual("has ended", self.keeper.ensure(service))
        os.kill(self.keeper.running("a").identity.pid, signal.SIGSTOP)
        while self.keeper.trouble(service, "") != ("is stopped by a signal"):
            time.sleep(0.01)
        self.keeper.ensure(service)
        self.assertIsNone(self.keeper.ensure(service))

    def test_what_a_killed_one_left_is_ended(self):
        self.ensure(["/bin/sh", "-c", "sleep 61 & sleep 62"])
        pid = self.keeper.running("a").identity.pid
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self.keeper.stop("a")
        table = procfs.ProcessTable()
        left = [p for p in table.pids() if table.session(p) == pid]
        self.assertEqual([], [p for p in left if table.identify(p)])

    def test_one_that_is_not_on_record_is_ended(self):
        first = self.ensure()
        self.keeper.records.forget("a")
        self.assertNotEqual(first.identity, self.ensure().identity)
        self.assertFalse(procfs.ProcessTable().alive(first.identity))

    def test_an_address_of_a_foreign_process(self):
        with socket.create_server(("127.0.0.1", 0)) as foreign:
            address = f"127.0.0.1:{foreign.getsockname()[1]}"
            with self.assertRaisesRegex(
                errors.AddressError, f"{address}: process {os.getpid()} "
            ):
                self.ensure(listens=[address])

    def test_stop_what_does_not_run(self):
        self.keeper.stop("a")

    def test_its_last_words(self):
        with self.assertRaisesRegex(
            errors.CloudError, r"^a ended: no such port \(more in .*a\.log\)$"
        ):
            self.ensure(
                ["/bin/sh", "-c", "echo no such port"],
                ready={"unix": "/nonexistent"},
            )

    def test_a_program_that_is_not_there(self):
        with self.assertRaisesRegex(errors.CloudError, "no program /no/such"):
            self.ensure(["/no/such"])

    def test_not_ready_in_time(self):
        with self.assertRaisesRegex(errors.CloudError, "/nonexistent does"):
            self.ensure(ready={"unix": "/nonexistent"}, patience=0)


class RecordsTestCase(base.CloudTestCase):
    def test_only_a_run_that_has_answered_is_asked_at_once(self):
        keeper = supervisor.Supervisor(self.folders, self.processes)
        silent = services.Service(
            name="a", argv=["a"], ready={"unix": "/nonexistent"}
        )
        for start_time in (100, 200):
            self.proc.add(10, argv=["a"], start_time=start_time)
            identity = self.processes.identify(10)
            record = keeper.records.write("a", identity, "digest")
            self.assertIsNone(keeper.trouble(silent, "digest", 0))
            keeper.records.note_ready(record)
            self.assertIn("does not", keeper.trouble(silent, "digest", 0))
        keeper.records.forget("a")
        self.assertFalse(keeper.records.was_ready(record))

    def test_a_broken_record_is_none(self):
        keeper = supervisor.Supervisor(self.folders, self.processes)
        for text in ("", "{", "[]", "{}", '{"identity": {"pid": 1}}'):
            with self.subTest(text):
                (self.folders.run / "a.json").write_text(text)
                self.assertIsNone(keeper.running("a"))
                self.assertEqual([], keeper.records.all())
