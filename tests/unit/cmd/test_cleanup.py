"""Tests for the command that removes what killed runs left."""

import dataclasses
import json
import logging
import pathlib
import tempfile
import unittest
from unittest import mock

from cliff import app

from rally_vmperf.cmd import cleanup
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from tests.unit.guests import testing
from tests.unit.guests.cleanup import test_ledger

USER = {"auth_url": "http://keystone/v3", "tenant_name": "member"}
NAME = "c_rally_dddddddd_00000000"


@mock.patch("time.sleep", new=mock.Mock())
class CleanupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.ledger = ledger.Ledger(pathlib.Path(folder.name))
        self.ledger.write(
            test_ledger.entry(
                "dddddddd-1", "task-d", process=test_ledger.dead()
            )
        )
        self.ledger.write(test_ledger.entry("aaaaaaaa-1", "task-a"))
        self.cloud = testing.FakeCloud()
        self.cloud.network.create_ip(description=NAME)
        self.crash = mock.Mock()
        self.tasks = [ownership.Task(uuid="task-d", ended=False)]
        for target, new in {
            "cmd.rally_api.load": mock.Mock(),
            "opts.read": lambda path: mock.Mock(journal_dir=folder.name),
            "cmd.rally_api.get_platform": lambda env: {"users": [USER]},
            "cmd.rally_api.list_tasks": lambda: self.tasks,
            "cmd.rally_api.mark_crashed": self.crash,
            "guests.cloud.connect": lambda credential: self.cloud,
        }.items():
            patch = mock.patch(f"rally_vmperf.{target}", new)
            patch.start()
            self.addCleanup(patch.stop)

    def run_command(self, *arguments):
        shell = mock.Mock(spec=app.App)
        shell.LOG = logging.getLogger(__name__)
        with tempfile.TemporaryFile("w+") as output:
            shell.stdout = output
            command = cleanup.Cleanup(shell, None)
            parser = command.get_parser("cleanup")
            code = command.run(parser.parse_args(["-f", "json", *arguments]))
            output.seek(0)
            return code, json.load(output)

    def owners(self):
        return [one.owner for one in self.ledger.entries()]

    def test_dry_run(self):
        code, (row,) = self.run_command()
        self.assertEqual(1, code)
        self.assertEqual("task-d", row["Task"])
        self.assertEqual("killed", row["Run"])
        self.assertEqual("to be removed with --yes", row["Outcome"])
        self.assertEqual(1, len(self.cloud.network.all_ips))
        self.assertEqual(["aaaaaaaa-1", "dddddddd-1"], self.owners())
        self.crash.assert_not_called()

    def test_yes(self):
        code, (row,) = self.run_command("--yes")
        self.assertEqual((0, "removed"), (code, row["Outcome"]))
        self.assertEqual({}, self.cloud.network.all_ips)
        self.assertEqual(["aaaaaaaa-1"], self.owners())
        self.crash.assert_called_once_with("task-d")

    def test_again(self):
        self.run_command("--yes")
        self.assertEqual((0, []), self.run_command())

    def test_other_tasks_stay(self):
        code, rows = self.run_command("--yes", "--task", "task-a")
        self.assertEqual((0, []), (code, rows))
        self.assertEqual(["aaaaaaaa-1", "dddddddd-1"], self.owners())

    def as_admin(self):
        admin = {**USER, "tenant_name": "admin"}
        patch = mock.patch(
            "rally_vmperf.cmd.rally_api.get_platform",
            mock.Mock(return_value={"admin": admin, "users": []}),
        )
        patch.start()
        self.addCleanup(patch.stop)

    def looked_into(self, *arguments):
        """Return the projects that the listing asks Neutron for."""
        self.run_command(*arguments)
        (found,) = (
            query["project_id"]
            for called, query in self.cloud.queries
            if called == "ports"
        )
        return found

    def test_an_admin_looks_into_the_ledgers_projects(self):
        self.as_admin()
        self.ledger.write(
            dataclasses.replace(
                test_ledger.entry("bbbbbbbb-1", "task-b"),
                auth_url=USER["auth_url"],
                project="theirs",
            )
        )
        projects = self.cloud.identity.all_projects
        theirs = self.cloud.add(projects, name="theirs")
        self.cloud.add(projects, name="of nobody")
        self.assertEqual(["p1", theirs.id], self.looked_into())

    def test_an_admin_looks_into_the_projects_it_is_told(self):
        self.as_admin()
        named = self.cloud.add(
            self.cloud.identity.all_projects, name="of nobody"
        )
        self.assertEqual(
            ["p1", named.id, "of nobody", "gone"],
            self.looked_into("--project", "of nobody", "--project", "gone"),
        )

    def test_who_is_no_admin_looks_into_no_other_project(self):
        with self.assertRaisesRegex(
            ValueError, "--project x: requires an env"
        ):
            self.run_command("--project", "x")

    def test_entries_of_another_cloud_stay(self):
        with mock.patch.dict(USER, auth_url="http://other/v3"):
            self.run_command("--yes")
        self.assertEqual(["aaaaaaaa-1", "dddddddd-1"], self.owners())

    def test_not_removed(self):
        self.cloud.network.delete_ip = mock.Mock()
        with mock.patch("rally_vmperf.guests.cleanup.removal.TIMEOUT", 0.01):
            code, (row,) = self.run_command("--yes")
        self.assertEqual(1, code)
        self.assertEqual("not removed: still there", row["Outcome"])
        self.assertEqual(["aaaaaaaa-1", "dddddddd-1"], self.owners())
