# SPDX-License-Identifier: Apache-2.0
"""Tests of the command that prepares the first run."""

import json
import os
import pathlib
import sqlite3
import stat
import subprocess
import sys
import tempfile
import unittest

import yaml

from tests.unit.guests.setup import test_login

PASSWORD = test_login.AUTH["password"]
TOP = pathlib.Path(__file__).parents[4]


class InitTest(unittest.TestCase):
    """Configuration, database, environment and vmperf.yaml."""

    def setUp(self):
        """Have a home directory without Rally's files."""
        super().setUp()
        self.home = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )

    def prepare(self, *arguments, **changed_login):
        """Run the command; return its exit code and its output.

        :param changed_login: Other options of the login.
        """
        process = subprocess.run(
            [
                *(sys.executable, "-m", "tests.unit.cmd.start.prepared"),
                str(self.home),
                *("--debug", "init", "--directory", str(self.home / "work")),
                *arguments,
            ],
            cwd=TOP,
            env={**os.environ, "PREPARED_LOGIN": json.dumps(changed_login)},
            capture_output=True,
            text=True,
            check=False,
        )
        return process.returncode, process.stdout + process.stderr

    def test_whole(self):
        """Everything exists, and only the owner can read the password."""
        code, output = self.prepare()
        self.assertIn("user 'vmperf' of project 'demo'", output)
        self.assertIn("Rally environment 'mine': created, and in use", output)
        self.assertIn("missing: network:", output)
        self.assertEqual(1, code, output)
        # The output has the command lines of all processes, too.
        self.assertIn("'first program'", output)
        self.assertIn(f"prepared\0{self.home}\0", output)
        self.assertNotIn(PASSWORD, output)
        with_password = [
            path
            for path in self.home.rglob("*")
            if path.is_file() and PASSWORD.encode() in path.read_bytes()
        ]
        self.assertEqual([self.home / ".rally/rally.sqlite"], with_password)
        for name in ("rally.sqlite", "rally.conf"):
            mode = (self.home / ".rally" / name).stat().st_mode
            self.assertEqual(0o600, stat.S_IMODE(mode), name)
        arguments = yaml.safe_load(
            (self.home / "work/vmperf.yaml").read_text()
        )
        self.assertEqual("none", arguments["baseline"])
        limits = arguments["limits"]["vmperf_overhead"]
        self.assertEqual(10, limits["max"]["guest.cpu.steal_percent"])

    def test_again(self):
        """Nothing is overwritten, and a missing part is added."""
        self.prepare("--baseline", "compute1")
        path = self.home / "work/vmperf.yaml"
        self.assertIn('baseline: "compute1"\n', path.read_text())
        path.write_text("task: mine.yaml\n")
        code, output = self.prepare()
        self.assertIn("vmperf.yaml: exists, kept", output)
        # Only the plan knows whether these arguments suit the cloud.
        self.assertNotIn("missing:", output)
        self.assertEqual(0, code, output)
        self.assertIn("environment 'mine': exists, and in use", output)
        self.assertIn("rally.conf exists, used", output)
        self.assertEqual("task: mine.yaml\n", path.read_text())

    def test_changed_login(self):
        """A new password of the same user is stored, and tasks are kept."""
        self.prepare()
        code, output = self.prepare(password="another-password")
        self.assertEqual(0, code, output)
        self.assertIn("environment 'mine': has a new login", output)
        database = sqlite3.connect(self.home / ".rally/rally.sqlite")
        ((stored,),) = database.execute("select platform_data from platforms")
        (user,) = json.loads(stored)["users"]
        self.assertEqual("another-password", user["password"])
        _, output = self.prepare(password="another-password")
        self.assertIn("environment 'mine': exists", output)
        code, output = self.prepare(username="somebody")
        self.assertEqual(1, code)
        self.assertIn("exists in Rally with another login", output)

    def test_database_that_others_can_read(self):
        """The password is not stored in it."""
        folder = self.home / ".rally"
        folder.mkdir()
        database = folder / "rally.sqlite"
        database.touch(0o644)
        database.chmod(0o644)
        (folder / "rally.conf").write_text(
            f"[database]\nconnection = sqlite:///{database}\n"
        )
        code, output = self.prepare()
        self.assertEqual(1, code)
        self.assertIn(f"chmod 600 {database}", output)
        self.assertNotIn(PASSWORD.encode(), database.read_bytes())
