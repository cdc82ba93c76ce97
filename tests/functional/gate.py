# SPDX-License-Identifier: Apache-2.0
"""A workspace of Tempest's for the embedded cloud."""

import collections.abc
import configparser
import contextlib
import os
import pathlib
import shutil
import subprocess

import yaml

from tests import patience
from tests import signals
from tests.functional import laboratory


class Workspace:
    """A folder in which ``tempest run`` finds a configuration.

    :param lab: The laboratory whose baselines and journals are used.
    :param name: The name of the folder, which is recreated.
    :param limits: The content of the file of limits.
    :param options: Further options of [vmperf].
    """

    def __init__(self, lab, name, limits, **options):
        self.lab = lab
        self.folder = lab.folder / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.run("init", name, folder=lab.folder)
        self.conf = configparser.RawConfigParser()
        self.conf.read(pathlib.Path(laboratory.CLOUD, "tempest.conf"))
        self.log = self.folder / "tempest.log"
        self.conf["DEFAULT"].update(log_file=str(self.log), debug="true")
        flavor = lab.admin.compute.find_flavor("vmperf.tiny").id
        self.conf["compute"]["flavor_ref"] = flavor
        self.conf["vmperf"] = {
            "baseline_dir": f"{lab.folder}/baselines",
            "journal_dir": str(lab.journal_dir),
            "limits_file": self.file("limits.yaml", limits),
            "repetitions": "3",
            "warmup": "0",
            # Guests under emulation, beside whatever else runs here.
            "ssh_timeout": "600",
        }
        self.change(**options)

    def file(self, name: str, content) -> str:
        """Write a YAML file; return its path as options give it."""
        path = self.folder / name
        path.write_text(yaml.safe_dump(content))
        return str(path)

    def change(self, **options: str) -> None:
        """Configure [vmperf] otherwise from now on."""
        self.conf["vmperf"].update(options)
        with open(self.folder / "etc" / "tempest.conf", "w") as stream:
            self.conf.write(stream)

    def run(self, *arguments: str, folder: pathlib.Path | None = None):
        """Run a command of Tempest's to its end."""
        return subprocess.run(
            [str(laboratory.BIN / "tempest"), *arguments],
            cwd=folder or self.folder,
            env=laboratory.environment(self.lab.folder),
            capture_output=True,
            text=True,
            timeout=patience.seconds(600),
            check=False,
        )

    def shell(self, lines, **variables: str):
        """Run command lines of the documentation here."""
        home = laboratory.environment(self.lab.folder)
        return shell(lines, self.folder, **{**home, **variables})

    @contextlib.contextmanager
    def started(self, *arguments: str) -> collections.abc.Iterator:
        """Run a command in the background, in a session of its own."""
        log = self.folder / "started.log"
        with open(log, "w") as stream:
            process = subprocess.Popen(
                [
                    *signals.DEFAULT,
                    str(laboratory.BIN / "tempest"),
                    *arguments,
                ],
                cwd=self.folder,
                env=laboratory.environment(self.lab.folder),
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            process.log = log
            with process:
                yield process


def shell(lines, folder: pathlib.Path, **variables: str):
    """Run command lines until one fails, with the programs of this tree."""
    path = f"{laboratory.BIN}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-ec", "\n".join(lines)],
        cwd=folder,
        env={**os.environ, **variables, "PATH": path},
        capture_output=True,
        text=True,
        timeout=patience.seconds(900),
        check=False,
    )
