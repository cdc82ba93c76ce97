# SPDX-License-Identifier: Apache-2.0
"""Tests for the command that removes what killed runs left."""

import asyncio
import dataclasses
import datetime
import io
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

from cliff import app

from rally_vmperf import errors
from rally_vmperf.cmd import cleanup
from rally_vmperf.guests import cloud
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from tests import skips
from tests.unit.guests import testing
from tests.unit.guests.cleanup import test_ledger
from tests.unit.machines import folders
from tests.unit.machines import sshd

USER = {"auth_url": "http://keystone/v3", "tenant_name": "member"}
NAME = "c_rally_dddddddd_00000000"


def run_command(*arguments, stderr=None):
    """Return the exit code and the rows of the command."""
    shell = mock.Mock(spec=app.App, stderr=stderr or io.StringIO())
    shell.LOG = logging.getLogger(__name__)
    with tempfile.TemporaryFile("w+") as output:
        shell.stdout = output
        command = cleanup.Cleanup(shell, None)
        parser = command.get_parser("cleanup")
        code = command.run(parser.parse_args(["-f", "json", *arguments]))
        output.seek(0)
        return code, json.load(output)


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
        self.tasks = [ownership.OwningTask(uuid="task-d", ended=False)]
        for target, new in {
            "cmd.rally_api.load_database": mock.Mock(),
            "opts.read": lambda path: mock.Mock(journal_dir=folder.name),
            "cmd.rally_api.get_platform": lambda env: {"users": [USER]},
            "cmd.rally_api.list_tasks": lambda: self.tasks,
            "cmd.rally_api.mark_crashed": self.crash,
            "guests.cloud.connect": lambda credential: self.cloud,
        }.items():
            patch = mock.patch(f"rally_vmperf.{target}", new)
            patch.start()
            self.addCleanup(patch.stop)

    def owners(self):
        return [ledger_entry.owner for ledger_entry in self.ledger.entries()]

    def test_dry_run(self):
        warned = io.StringIO()
        code, (row,) = run_command(stderr=warned)
        self.assertIn("cleanup --host USER@ADDRESS", warned.getvalue())
        self.assertEqual(1, code)
        self.assertEqual("task-d", row["Task"])
        self.assertEqual("killed", row["Run"])
        self.assertEqual("to be removed with --yes", row["Outcome"])
        self.assertEqual(1, len(self.cloud.network.all_ips))
        self.assertEqual(["aaaaaaaa-1", "dddddddd-1"], self.owners())
        self.crash.assert_not_called()

    def test_yes(self):
        code, (row,) = run_command("--yes")
        self.assertEqual((0, "removed"), (code, row["Outcome"]))
        self.assertEqual({}, self.cloud.network.all_ips)
        self.assertEqual(["aaaaaaaa-1"], self.owners())
        self.crash.assert_called_once_with("task-d")

    def let_run_elsewhere(self):
        """Have the run in another PID namespace, for two days."""
        started = datetime.datetime.now(datetime.UTC)
        started -= datetime.timedelta(days=2, hours=1)
        self.ledger.write(
            test_ledger.entry(
                "dddddddd-1",
                "task-d",
                process=test_ledger.elsewhere(),
                started_at=started.isoformat(),
            )
        )

    def test_a_run_in_another_namespace_is_kept(self):
        self.let_run_elsewhere()
        code, (row,) = run_command("--yes")
        self.assertEqual((0, "unknown"), (code, row["Run"]))
        self.assertEqual(
            "kept, 2 days old; if its run has ended, add --all",
            row["Outcome"],
        )
        self.assertEqual(1, len(self.cloud.network.all_ips))
        self.assertEqual(["aaaaaaaa-1", "dddddddd-1"], self.owners())
        self.crash.assert_not_called()

    def test_all_includes_a_run_in_another_namespace(self):
        self.let_run_elsewhere()
        code, (row,) = run_command("--yes", "--all")
        self.assertEqual((0, "removed"), (code, row["Outcome"]))
        self.assertEqual({}, self.cloud.network.all_ips)
        self.assertEqual(["aaaaaaaa-1"], self.owners())
        self.crash.assert_called_once_with("task-d")

    def test_a_run_that_nobody_knows(self):
        self.ledger.drop("dddddddd-1")
        code, (row,) = run_command("--yes")
        self.assertEqual((0, "unknown"), (code, row["Run"]))
        self.assertEqual(
            "kept; if its run has ended, add --all", row["Outcome"]
        )

    def test_again(self):
        run_command("--yes")
        warned = io.StringIO()
        self.assertEqual((0, []), run_command(stderr=warned))
        self.assertEqual("", warned.getvalue())

    def test_a_list_of_another_shape(self):
        """The others are removed, and the exit code is 1."""

        def refuse(called, done):
            if called == "servers":
                raise cloud.InvalidResponse("servers=None")

        self.cloud.interrupt = refuse
        warned = io.StringIO()
        with mock.patch("rally_vmperf.guests.cleanup.removal.TIMEOUT", 0.01):
            code, (row,) = run_command("--yes", stderr=warned)
        self.assertEqual((1, "removed"), (code, row["Outcome"]))
        first, *_ = warned.getvalue().splitlines()
        self.assertEqual("cannot list servers: servers=None", first)
        self.assertEqual({}, self.cloud.network.all_ips)
        self.assertEqual(["aaaaaaaa-1", "dddddddd-1"], self.owners())
        self.crash.assert_not_called()

    def test_other_tasks_stay(self):
        code, rows = run_command("--yes", "--task", "task-a")
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
        run_command(*arguments)
        (project,) = (
            query["project_id"]
            for called, query in self.cloud.queries
            if called == "ports"
        )
        return project

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
        project = self.cloud.add(projects, name="theirs")
        self.cloud.add(projects, name="of nobody")
        self.assertEqual(["p1", project.id], self.looked_into())

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
            errors.VMPerfError, "^cleanup: --project x: requires an env"
        ):
            run_command("--project", "x")

    def test_entries_of_another_cloud_stay(self):
        with mock.patch.dict(USER, auth_url="http://other/v3"):
            run_command("--yes")
        self.assertEqual(["aaaaaaaa-1", "dddddddd-1"], self.owners())

    def test_not_removed(self):
        self.cloud.network.delete_ip = mock.Mock()
        with mock.patch("rally_vmperf.guests.cleanup.removal.TIMEOUT", 0.01):
            code, (row,) = run_command("--yes")
        self.assertEqual(1, code)
        self.assertEqual("not removed: still there", row["Outcome"])
        self.assertEqual(["aaaaaaaa-1", "dddddddd-1"], self.owners())

    def test_a_migration_that_does_not_end(self):
        """The outcome states why the server is not deleted."""
        self.cloud.compute.create_server(name=NAME, networks=[{"uuid": "n1"}])
        (server,) = self.cloud.compute.all_servers.values()

        def migrate(called, is_done):
            if called == "servers" and is_done:
                server.task_state = "migrating"

        self.cloud.interrupt = migrate
        with mock.patch("rally_vmperf.guests.cleanup.removal.TIMEOUT", 0.01):
            code, (row, _) = run_command("--yes")
        self.assertEqual(1, code)
        self.assertEqual("server", row["Kind"])
        self.assertEqual(
            "not removed: Nova migrates it; wait, or abort the migration",
            row["Outcome"],
        )


class MachineTest(unittest.TestCase):
    """The remains of a killed run on a host are listed, then removed."""

    def setUp(self):
        super().setUp()
        self.parent = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )

    def run_command(self, *arguments):
        """Return the exit code and the rows of the test's directory."""
        return run_command("--work-dir", str(self.parent), *arguments)

    def check_removal(self, *machine):
        """List, then remove, what a killed run left."""
        folder = folders.leave_run(self, self.parent)
        code, rows = self.run_command(*machine)
        self.assertEqual(1, code)
        (directory,) = [row for row in rows if row["Kind"] == "directory"]
        self.assertEqual(
            (folder, "killed", 3, "to be removed with --yes"),
            (
                directory["Name"],
                directory["Run"],
                directory["Size in MiB"],
                directory["Outcome"],
            ),
        )
        jobs = [row["Name"] for row in rows if row["Kind"] == "job"]
        self.assertIn("sleep", jobs)
        code, rows = self.run_command("--yes", *machine)
        self.assertEqual(0, code)
        (outcome,) = {row["Outcome"] for row in rows}
        self.assertEqual("removed", outcome)
        self.assertEqual([], list(self.parent.iterdir()))
        self.assertEqual([], self.run_command(*machine)[1])

    def test_this_machine(self):
        self.check_removal("--local")

    def test_over_ssh(self):
        server = sshd.Sshd()
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(loop.call_soon_threadsafe, loop.stop)
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(20)
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        key, known_hosts = folder / "key", folder / "known_hosts"
        key.write_text(server.client_pair.private)
        key.chmod(0o600)
        known_hosts.write_text(
            f"[127.0.0.1]:{server.port} {server.host_pair.public}\n"
        )
        self.check_removal(
            *("--host", f"root@127.0.0.1:{server.port}"),
            *("--key-file", str(key), "--known-hosts", str(known_hosts)),
        )
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(20)

    def test_a_running_run(self):
        _, folder = folders.start_run(self, self.parent)
        code, rows = self.run_command("--local", "--yes", "--all")
        self.assertEqual(0, code)
        self.assertEqual(
            {("running", "kept")},
            {(row["Run"], row["Outcome"]) for row in rows},
        )
        self.assertTrue(pathlib.Path(folder).exists())

    def let_run_in(self, marker, process):
        """Have a work directory of a run that this process controls."""
        marker.write_text(f"{marker.parent.name}\n{process}\n")

    @skips.requires("unshare", root=True)
    def test_a_run_in_another_namespace(self):
        """Its process has the number of none here, and is not killed."""
        inside = ["unshare", "--pid", "--fork", "--mount-proc"]
        tried = subprocess.run([*inside, "true"], capture_output=True)
        if tried.returncode:
            self.skipTest(f"no namespaces: {tried.stderr}")
        program = (
            "import asyncio, sys\n"
            "from rally_vmperf.machines import local, workfolder\n"
            "made = workfolder.create(local.Local('h'), sys.argv[1])\n"
            "print(asyncio.run(made).path)\n"
        )
        made = subprocess.run(
            [*inside, sys.executable, "-c", program, str(self.parent)],
            capture_output=True,
            text=True,
            check=True,
            cwd=pathlib.Path(__file__).parents[3],
        ).stdout.strip()
        code, (row,) = self.run_command("--local", "--yes")
        self.assertEqual((0, "unknown"), (code, row["Run"]))
        self.assertTrue(pathlib.Path(made).exists())
        code, _ = self.run_command("--local", "--yes", "--all")
        self.assertFalse(pathlib.Path(made).exists())

    def test_a_run_of_another_controller(self):
        """It is removed with --all only."""
        folder = pathlib.Path(folders.leave_run(self, self.parent))
        marker = folder / ".made-by-rally-vmperf"
        self.let_run_in(marker, test_ledger.elsewhere())
        hour_ago = time.time() - 3700
        os.utime(marker, (hour_ago, hour_ago))
        code, rows = self.run_command("--local", "--yes")
        self.assertEqual(0, code)
        reason = "kept, 1 hour old; if its run has ended, add --all"
        self.assertEqual(
            {("unknown", reason)},
            {(row["Run"], row["Outcome"]) for row in rows},
        )
        code, _ = self.run_command("--local", "--yes", "--all")
        self.assertEqual(0, code)
        self.assertFalse(folder.exists())

    @skips.requires(root=True)
    def test_a_server(self):
        folder = folders.leave_run(self, self.parent)
        server = subprocess.Popen(
            ["sleep", "600"], cwd=f"{folder}/fio", user=2_100_005_201
        )
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        _, rows = self.run_command("--local")
        kinds = {row["ID"]: row["Kind"] for row in rows}
        self.assertEqual("server", kinds[server.pid])
        self.run_command("--local", "--yes")
        self.assertEqual(-signal.SIGTERM, server.wait(20))

    def test_options_of_the_cloud(self):
        with self.assertRaisesRegex(errors.VMPerfError, "^--task: requires"):
            run_command("--local", "--task", "x")
