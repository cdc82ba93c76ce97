"""The gate for Rally starts with the cloud that a variable describes."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml
from rally_openstack.environment.platforms import existing

from tests.unit.doc import gitlab
from tests.unit.doc import pages

FILE = "rally.gitlab-ci.yaml"
PAGE = "doc/source/gate.rst"
PASSWORD = 'se"cret: #'
AUTH = {
    "username": "vmperf",
    "password": PASSWORD,
    "project_name": "vmperf",
    "user_domain_name": "Default",
    "project_domain_name": "Default",
}
CLOUDS = {
    "clouds": {
        "other": {},
        "mine": {
            "region_name": "RegionOne",
            "cacert": "/ca.pem",
            "interface": "public",
            "auth": {"auth_url": "http://127.0.0.1:9/v3", **AUTH},
        },
    }
}
BIN = str(pathlib.Path(sys.executable).parent)


class GateTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.job = gitlab.read_job(FILE)
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        clouds = self.folder / "clouds.yaml"
        clouds.write_text(yaml.safe_dump(CLOUDS))
        self.variables = {
            "HOME": str(self.folder),
            "CI_PROJECT_DIR": str(self.folder / "project"),
            "CLOUDS_YAML": str(clouds),
            "OS_CLOUD": "mine",
        }

    def run_script(self, lines):
        """Run command lines with the variables of a pipeline."""
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", "\n".join(lines)],
            cwd=self.folder,
            env={
                **self.variables,
                "PATH": f"{BIN}:{os.environ['PATH']}",
                "PYTHONPATH": str(pages.ROOT),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def test_environment(self):
        """Rally gets the cloud, and no line of the log has the password."""
        install, *commands, _, _ = self.job["script"]
        self.assertEqual('pip install "$VMPERF_PACKAGE"', install)
        done = self.run_script(commands)
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertNotIn("cret", done.stdout)
        rally = self.folder / ".rally"
        self.assertEqual(0o600, (rally / "cloud.json").stat().st_mode & 0o777)
        spec = yaml.safe_load((rally / "cloud.json").read_text())
        self.assertEqual(
            {
                "auth_url": "http://127.0.0.1:9/v3",
                "region_name": "RegionOne",
                "https_cacert": "/ca.pem",
                "users": [AUTH],
            },
            spec["existing@openstack"],
        )
        self.assertLessEqual(
            set(spec["existing@openstack"]),
            set(existing.OpenStack.CONFIG_SCHEMA["properties"]),
        )

    def test_without_the_cloud(self):
        """The job ends where its variable names no entry."""
        self.variables["OS_CLOUD"] = "absent"
        done = self.run_script(self.job["script"][1:-2])
        self.assertEqual(1, done.returncode)
        self.assertIn("KeyError: 'absent'", done.stdout)
        self.assertFalse((self.folder / ".rally/rally.sqlite").exists())

    def test_plan_comes_before_the_task(self):
        """Both get the same arguments."""
        *_, plan, start = self.job["script"]
        self.assertEqual(
            plan.removeprefix("rally-vmperf plan"),
            start.removeprefix("rally task start"),
        )

    def test_reports_are_artifacts(self):
        written = [
            re.search(r"-o (\S+)$", line)[1]
            for line in self.job["after_script"]
        ]
        page, junit = written
        self.assertEqual(junit, self.job["artifacts"]["reports"]["junit"])
        self.assertIn(page, self.job["artifacts"]["paths"])

    def test_page(self):
        """It shows the file and describes its variables."""
        page = pages.text(PAGE)
        self.assertIn(f"../../etc/{FILE}", page)
        script = "\n".join(self.job["script"])
        given = {"CI_PROJECT_DIR", "HOME", *self.job["variables"]}
        for name in set(re.findall(r"\$([A-Z_]+)", script)) - given:
            self.assertIn(f"\n``{name}``\n", page)
