"""Tests of what `pip install` gives to an operator."""

import configparser
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest
import zipfile

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
        held = {name.split("/share/rally-vmperf/")[-1] for name in names}
        wanted = {name for name in tracked if name.startswith(SHIPPED)}
        self.assertEqual(set(), wanted - held)


class TestTox(unittest.TestCase):
    """Tox's environments run what make runs, in an environment of theirs."""

    def commands(self, section):
        """Return the programs that make would start for an environment."""
        conf = configparser.ConfigParser()
        conf.read(TOP / "tox.ini")
        line = conf[section]["commands"].replace("{env_dir}", "/tox")
        done = subprocess.run(
            [*shlex.split(line), "--dry-run"],
            cwd=TOP,
            capture_output=True,
            text=True,
            check=True,
        )
        return {
            line.split()[0]
            for line in done.stdout.splitlines()
            if line.startswith("/tox/bin/")
        } | ({"venv"} if "-m venv" in done.stdout else set())

    def test_what_is_run(self):
        """The environment is taken as it is, none is made."""
        bin_ = "/tox/bin/"
        self.assertEqual({bin_ + "stestr"}, self.commands("testenv"))
        self.assertEqual(
            {bin_ + "ruff", bin_ + "flake8", bin_ + "mypy"},
            self.commands("testenv:pep8"),
        )
        self.assertEqual(
            {bin_ + "sphinx-build"}, self.commands("testenv:docs")
        )
        self.assertEqual(
            {bin_ + "rally-vmperf"}, self.commands("testenv:functional")
        )


class TestHooks(unittest.TestCase):
    """Hooks of pre-commit start programs that `make unit` installs."""

    def test_programs(self):
        """Each entry runs, and finds its modules of tests."""
        content = yaml.safe_load((TOP / ".pre-commit-config.yaml").read_text())
        folder = pathlib.Path(sys.executable).parent
        (repo,) = content["repos"]
        self.assertEqual("local", repo["repo"])
        for hook in repo["hooks"]:
            program, *words = hook["entry"].split()
            name = pathlib.Path(program).name
            self.assertEqual(f".venv/bin/{name}", program)
            self.assertTrue((folder / name).exists(), program)
            for word in words:
                if word.startswith("tests.unit."):
                    path = TOP.joinpath(*word.split(".")).with_suffix(".py")
                    self.assertTrue(path.exists(), word)
