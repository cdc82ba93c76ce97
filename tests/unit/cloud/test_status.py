from rally_vmperf.cloud import status
from rally_vmperf.cloud.services import schema
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.state import credentials
from tests.unit.cloud import base


class DescribeTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.keeper = supervisor.Supervisor(self.folders, self.processes)
        self.known = [
            services.Service(name=name, argv=[name], address=f"at {name}")
            for name in ("mariadb", "keystone", "glance")
        ]

    def test_running_dead_and_stopped(self):
        for name, pid in (("mariadb", 10), ("keystone", 11)):
            self.proc.add(pid, argv=[name])
            identity = self.processes.identify(pid)
            self.keeper.records.write(name, identity, "digest")
        # keystone has ended, and its number is another's now
        self.proc.add(11, argv=["vi"], start_time=200)
        lines = status.describe(self.known, self.keeper)
        self.assertEqual(
            [
                ("mariadb", "running", 10, "at mariadb"),
                ("keystone", "dead", None, "at keystone"),
                ("glance", "stopped", None, "at glance"),
            ],
            [(ln.service, ln.state, ln.pid, ln.address) for ln in lines],
        )
        # neither was started with what it would be started with now
        self.assertEqual(
            ["was started with what has changed since", "has ended", ""],
            [line.trouble for line in lines],
        )
        self.assertRegex(lines[0].since, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")

    def test_cells_match_the_columns(self):
        line = status.describe(self.known, self.keeper)[0]
        self.assertEqual(len(status.COLUMNS), len(line.cells()))

    def test_of_an_empty_state_root(self):
        lines = status.of_cloud(self.folders)
        self.assertIn("nova-compute", [line.service for line in lines])
        self.assertEqual({"stopped"}, {line.state for line in lines})

    def test_damaged_parts(self):
        credentials.load(self.folders.etc / "secrets.json")
        schema.mark(self.folders, "nova").touch()
        (self.folders.run / "mariadb").rmdir()
        troubles = [ln.cells() for ln in status.of_cloud(self.folders)]
        self.assertIn(
            ("files", "damaged", "", "", "", "folder run/mariadb is gone"),
            troubles,
        )
