"""Tests of what `pip install` gives to an operator."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

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
