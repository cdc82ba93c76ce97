# SPDX-License-Identifier: Apache-2.0
"""Tests of the jobs that run Rally in a pipeline."""

import re
import unittest

import jsonschema
import yaml

from tests.unit.doc import commands
from tests.unit.doc import gitlab
from tests.unit.doc import pages

PAGE = "doc/source/gate.rst"
FOLDER = pages.ROOT / "etc"
FILES = sorted(path.name for path in FOLDER.glob("gate.*"))
#: The commands that each job executes, without paths of files.
COMMANDS = [
    ["rally-vmperf", "init"],
    ["rally-vmperf", "run", "-o", "vmperf.html"],
    ["rally-vmperf", "report", "--format", "junit", "-o", "vmperf.xml"],
]
#: The variables with which the jobs choose directories.
DIRECTORIES = {"OS_VMPERF__BASELINE_DIR", "OS_VMPERF__JOURNAL_DIR"}
_TEXT = {"type": "string", "minLength": 1}
_TASK = {
    "type": "object",
    "required": ["name"],
    "minProperties": 2,
    "additionalProperties": False,
    "properties": {
        "name": _TEXT,
        "command": _TEXT,
        "args": {"type": "object", "required": ["chdir"]},
        "copy": {"type": "object", "required": ["mode"]},
        "file": {"type": "object", "required": ["state"]},
        "loop": {"type": "array"},
        "no_log": {"const": True},
    },
}
_BLOCK = {
    "type": "object",
    "required": ["block", "always"],
    "additionalProperties": False,
    "properties": {
        "block": {"type": "array", "items": _TASK},
        "always": {"type": "array", "items": _TASK},
    },
}
#: What the example uses of plays of Ansible.
PLAYBOOK = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["hosts", "environment", "tasks"],
        "additionalProperties": False,
        "properties": {
            "hosts": _TEXT,
            "environment": _TEXT,
            "tasks": {
                "type": "array",
                "items": {"anyOf": [_TASK, _BLOCK]},
            },
        },
    },
}


def read_plays(name):
    """Return the tasks of a playbook, which must be valid."""
    plays = yaml.safe_load((FOLDER / name).read_text())
    jsonschema.validate(plays, PLAYBOOK)
    (play,) = plays
    return play["tasks"]


def list_commands(lines):
    """Return the commands of the package as words, without directories."""
    return [
        line.replace("{{ logs }}/", "").split()
        for line in lines
        if line.startswith("rally-vmperf ")
    ]


class GateTest(unittest.TestCase):
    """Three jobs execute the same commands."""

    def test_releases(self):
        """Every job installs the tested releases before the package."""
        for name in (
            *("gate.gitlab-ci.yaml", "gate.jenkinsfile"),
            *("gate.zuul-run.yaml", "tempest.gitlab-ci.yaml"),
        ):
            with self.subTest(name):
                content = (FOLDER / name).read_text()
                releases, *others = re.findall("pip install (.+)", content)
                self.assertRegex(releases, "^--require-hashes -r .*(?i:const)")
                self.assertRegex(others[0], "^--no-deps .*(?i:package)")

    def test_gitlab(self):
        """The files that the commands write are artifacts."""
        job = gitlab.read_job("gate.gitlab-ci.yaml")
        *install, init, run = job["script"]
        script = [init, run]
        self.assertEqual(
            [
                'pip install --require-hashes -r "$VMPERF_CONSTRAINTS"',
                'pip install --no-deps "$VMPERF_PACKAGE"',
            ],
            install,
        )
        after = job["after_script"]
        self.assertEqual(COMMANDS, list_commands([*script, *after]))
        self.assertEqual(DIRECTORIES, set(job["variables"]))
        artifacts = job["artifacts"]
        self.assertEqual(["vmperf.html", "journal/"], artifacts["paths"])
        self.assertEqual("vmperf.xml", artifacts["reports"]["junit"])

    def test_jenkins(self):
        """The test cases are written also after a failure."""
        content = (FOLDER / "gate.jenkinsfile").read_text()
        stages, _, always = content.partition("always {")
        listed = [
            list_commands(re.findall(r"^ +sh '(.+)'$", section, re.MULTILINE))
            for section in (stages, always)
        ]
        self.assertEqual([COMMANDS[:2], COMMANDS[2:]], listed)
        self.assertEqual(content.count("{"), content.count("}"))
        for name in DIRECTORIES:
            self.assertIn(f"{name} = ", stages)
        self.assertIn("junit 'vmperf.xml'", always)
        self.assertIn("cleanup {\n            sh 'rm -rf \"$HOME\"'", always)

    def test_zuul(self):
        """No log has the login, which is removed after the run."""
        semaphore, job = (
            next(iter(item.values()))
            for item in yaml.safe_load((FOLDER / "gate.zuul.yaml").read_text())
        )
        self.assertEqual([semaphore["name"]], job["semaphores"])
        self.assertEqual(1, semaphore["max"])
        environment = job["vars"]["gate_environment"]
        self.assertLess(DIRECTORIES, set(environment))
        tasks = read_plays("gate.zuul-run.yaml")
        (block,) = read_plays("gate.zuul-post.yaml")
        after = block["block"]
        self.assertEqual(
            COMMANDS,
            list_commands(task.get("command", "") for task in tasks + after),
        )
        (login,) = (task for task in tasks if "copy" in task)
        self.assertEqual("0600", login["copy"]["mode"])
        self.assertTrue(login["no_log"])
        self.assertEqual(
            environment["OS_CLIENT_CONFIG_FILE"], login["copy"]["dest"]
        )
        # Also after a failure.
        self.assertEqual(
            [".rally", "clouds.yaml"],
            sorted(*[task["loop"] for task in block["always"]]),
        )

    def test_commands(self):
        """The program accepts the options of each command."""
        for _, *command in COMMANDS:
            name, options = commands.find(command)
            with self.subTest(name):
                commands.parser(name).parse_args(options)

    def test_page(self):
        """It shows each file, and describes the variables of the user."""
        page = pages.text(PAGE)
        for name in FILES:
            self.assertIn(f"../../etc/{name}", page)
        content = "".join((FOLDER / name).read_text() for name in FILES)
        variables = {"CI_PROJECT_DIR", *DIRECTORIES, "WORKSPACE"}
        used = set(re.findall(r"\b([A-Z]{2,}(?:_[A-Z]+)+)\b", content))
        for name in used - variables:
            self.assertIn(name, page)
