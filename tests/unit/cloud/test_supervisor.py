import os

from rally_vmperf.cloud import commands
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import procfs
from rally_vmperf.cloud import services
from rally_vmperf.cloud import supervisor
from tests.unit.cloud import base

SLEEP = ["/bin/sleep", "60"]


class SupervisorTestCase(base.CloudTestCase):
    """With real processes, which need no privileges."""

    def setUp(self):
        super().setUp()
        self.keeper = supervisor.Supervisor(self.place)
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
        self.assertEqual(str(self.place.root), seen[commands.MARK])
        self.assertTrue(seen["PATH"].startswith(str(self.place.shims)))

    def test_stopped_with_what_it_started(self):
        self.ensure(["/bin/sh", "-c", "sleep 61 & sleep 62"])
        table = procfs.ProcessTable()
        pid = self.keeper.running("a").identity.pid
        self.keeper.stop("a")
        self.assertIsNone(self.keeper.running("a"))
        self.assertIsNone(self.keeper.records.read("a"))
        left = [p for p in table.pids() if table.session(p) == pid]
        self.assertEqual([], [p for p in left if table.identify(p)])

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
    def test_a_broken_record_is_none(self):
        (self.place.run / "a.json").write_text("{")
        keeper = supervisor.Supervisor(self.place, self.processes)
        self.assertIsNone(keeper.running("a"))
        self.assertEqual([], keeper.records.all())
