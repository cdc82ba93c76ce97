# SPDX-License-Identifier: Apache-2.0
"""Tests of what `pip install` gives to an operator."""

import ast
import configparser
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest
import zipfile
from importlib import metadata

import packaging.requirements
import packaging.utils
import packaging.version
import yaml

TOP = pathlib.Path(__file__).parent.parent.parent

#: Files of these folders are data that the installed package needs.
SHIPPED = ("rally_vmperf/", "etc/", "tasks/", "scenarios/")


class TestWheel(unittest.TestCase):
    """The wheel holds every file that the code reads."""

    def test_every_tracked_data_file_is_in_it(self):
        """A file that is forgotten would be missing only when installed."""
        tracked = subprocess.run(
            ["git", "ls-files"],
            cwd=TOP,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(
                [
                    *(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps"),
                    *("--no-build-isolation", "-w", folder, str(TOP)),
                ],
                check=True,
                capture_output=True,
            )
            (wheel,) = pathlib.Path(folder).glob("*.whl")
            names = zipfile.ZipFile(wheel).namelist()
        packaged = {name.split("/share/rally-vmperf/")[-1] for name in names}
        shipped = {name for name in tracked if name.startswith(SHIPPED)}
        message = (
            "these files are not in the wheel: add a pattern for them to "
            "options.data_files in setup.cfg, or move them to rally_vmperf"
        )
        self.assertEqual(set(), shipped - packaged, message)


#: Package -> the first release without what is known of those before.
MENDED = {
    "asyncssh": "2.14.2",  # CVE-2023-46445, -46446, -48795
    "jinja2": "3.1.6",  # CVE-2024-56201, -56326, CVE-2025-27516
    "psutil": "5.6.7",  # CVE-2019-18874
    "pyyaml": "5.4",  # CVE-2020-14343
    "scipy": "1.10.0",  # CVE-2023-25399
}
OWN = "requirements.txt"
OTHERS = ("test-requirements.txt", "doc/requirements.txt")


def requirements(name):
    """Return package -> the releases that a file lets through."""
    lines = (TOP / name).read_text().splitlines()
    required = [
        packaging.requirements.Requirement(line.removesuffix("\\"))
        for line in lines
        if line and not line.strip().startswith(("#", "-"))
    ]
    return {
        packaging.utils.canonicalize_name(
            requirement.name
        ): requirement.specifier
        for requirement in required
    }


def lowest(specifier):
    """Return the oldest release of those that are let through."""
    return max(
        packaging.version.Version(bound.version)
        for bound in specifier
        if bound.operator in (">=", "==", "~=")
    )


class TestDependencies(unittest.TestCase):
    """No release with known holes, and what the tests ran with is let in."""

    def test_lower_bounds(self):
        """The oldest release that pip may install has the fixes."""
        own_requirements = requirements(OWN)
        for name, version in MENDED.items():
            mended = packaging.version.Version(version)
            self.assertGreaterEqual(
                lowest(own_requirements[name]), mended, name
            )

    def test_each_has_a_lower_bound(self):
        """Otherwise pip keeps whatever release is there."""
        for name, specifier in requirements(OWN).items():
            operators = {bound.operator for bound in specifier}
            message = f"{name} in {OWN}: add the oldest release that works"
            self.assertTrue(operators & {">=", "==", "~="}, message)

    def test_constraints(self):
        """They name a release of each, which the requirements let through."""
        pinned = {
            name: lowest(specifier)
            for name, specifier in requirements("constraints.txt").items()
        }
        for file in (OWN, *OTHERS):
            for name, specifier in requirements(file).items():
                message = f"{name} in {file}: run make lock"
                self.assertIn(name, pinned, message)
                self.assertTrue(specifier.contains(pinned[name]), message)

    def test_constraints_of_the_cloud(self):
        """They are a part of those of all, and contain what it imports."""
        cloud = requirements("constraints-cloud.txt")
        pinned = requirements("constraints.txt")
        self.assertEqual(
            cloud,
            {name: pinned.get(name) for name in cloud},
            "run make lock, which writes both files",
        )
        heavy = {
            "numpy",
            "pydantic",
            "pydantic-core",
            "rally",
            "rally-openstack",
            "scipy",
        }
        self.assertEqual(
            set(),
            heavy & cloud.keys(),
            "the cloud does not import them: omit them in `make lock`",
        )
        self.assertEqual(
            set(),
            requirements(OWN).keys() - heavy - cloud.keys(),
            "run make lock; if the cloud does not import them, add them to "
            "heavy in tests/unit/test_packaging.py and to the pattern of "
            "`make lock` in the Makefile",
        )

    def test_each_release_has_hashes(self):
        """A package of the index that was replaced is not installed."""
        for file in ("constraints.txt", "constraints-cloud.txt"):
            text = (TOP / file).read_text().replace("\\\n", "")
            for line in text.splitlines():
                self.assertRegex(
                    line, r"^\S+==\S+ .*--hash=sha256:[0-9a-f]{64}"
                )
        makefile = (TOP / "Makefile").read_text().replace("\\\n", "")
        for line in makefile.splitlines():
            if "pip install" in line and "build/lock" not in line:
                self.assertRegex(line, "--require-hashes|--no-deps")

    def test_each_is_imported(self):
        """A requirement that nothing imports is removed."""
        imported = {
            module.partition(".")[0]
            for path in (TOP / "rally_vmperf").rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text()))
            for module in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom) and not node.level
                else []
            )
        }
        distributions = {
            packaging.utils.canonicalize_name(name)
            for module, names in metadata.packages_distributions().items()
            if module in imported
            for name in names
        }
        required = requirements(OWN).keys()
        # Tempest and its log are an extra; testtools is a part of Tempest.
        optional = {"rally-vmperf", "tempest", "testtools", "oslo-log"}
        self.assertEqual(
            set(),
            required - distributions,
            f"no module imports them: remove them from {OWN}",
        )
        self.assertEqual(
            set(),
            distributions - required - optional,
            f"add them with their oldest release to {OWN}, state the reason "
            "in doc/source/contributor/index.rst, and run make lock",
        )


class TestTox(unittest.TestCase):
    """Tox's environments run what make runs, in an environment of theirs."""

    def commands(self, section):
        """Return the programs that make would start for an environment.

        A module of Python is one of them.
        """
        conf = configparser.ConfigParser()
        conf.read(TOP / "tox.ini")
        line = conf[section]["commands"].replace("{env_dir}", "/tox")
        process = subprocess.run(
            [*shlex.split(line), "--dry-run"],
            cwd=TOP,
            capture_output=True,
            text=True,
            check=True,
        )
        return {
            line.removeprefix("/tox/bin/")
            .removeprefix("python -m ")
            .split()[0]
            for line in process.stdout.splitlines()
            if line.startswith("/tox/bin/")
        } | ({"venv"} if "-m venv" in process.stdout else set())

    def test_what_is_run(self):
        """The environment is taken as it is, none is made."""
        # It installs no packages, and therefore does not require root.
        self.assertEqual({"stestr", "tests.skips"}, self.commands("testenv"))
        self.assertEqual(
            {"ruff", "flake8", "mypy", "tests.lengths"},
            self.commands("testenv:pep8"),
        )
        self.assertEqual({"sphinx-build"}, self.commands("testenv:docs"))
        self.assertEqual({"tests.cloud"}, self.commands("testenv:functional"))


class TestHooks(unittest.TestCase):
    """Hooks of pre-commit start programs that `make unit` installs."""

    def test_programs(self):
        """Each entry runs, and finds its modules of tests."""
        content = yaml.safe_load((TOP / ".pre-commit-config.yaml").read_text())
        folder = pathlib.Path(sys.executable).parent
        (repo,) = content["repos"]
        self.assertEqual("local", repo["repo"])
        for hook in repo["hooks"]:
            program, *arguments = hook["entry"].split()
            name = pathlib.Path(program).name
            self.assertEqual(f".venv/bin/{name}", program)
            self.assertTrue((folder / name).exists(), program)
            for word in arguments:
                if word.startswith("tests.unit."):
                    path = TOP.joinpath(*word.split(".")).with_suffix(".py")
                    self.assertTrue(path.exists(), word)
