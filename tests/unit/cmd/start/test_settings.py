# SPDX-License-Identifier: Apache-2.0
"""Tests of the content of vmperf.yaml."""

import errno
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import yaml

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.cmd.start import init
from tests.unit.doc import tasks

HOSTILE = 'a"}\n"*": {"*": 1000}\n\x1b[2J'


class RenderTest(unittest.TestCase):
    """The names and reasons are those of a cloud that is not trusted."""

    def render(self, name, reason="It suits.", baseline="none"):
        """Return the decoded file with one name for everything."""
        return init.render(
            baseline,
            "rally-vmperf baseline record NAME",
            ({"image": name, "user": "debian"}, reason),
            ({"flavors": [name]}, reason),
            ({"network": name}, reason),
        )

    def test_name_with_an_emoji(self):
        """What init writes, plan accepts."""
        name = "image \N{GRINNING FACE} \x85\u2028\\é"
        arguments = documents.parse_yaml(self.render(name), "vmperf.yaml")
        self.assertEqual(name, arguments["image"])

    def test_arguments(self):
        """Limits of the task, one on stolen CPU time, and the promises."""
        arguments = yaml.safe_load(self.render("one"))
        limits = arguments.pop("limits")
        (subtask,) = tasks.render(tasks.MAIN, {})["subtasks"]
        default = subtask["sla"]["vmperf_overhead"]
        steal = {"guest.cpu.steal_percent": 10}
        self.assertEqual(
            {
                "vmperf_overhead": default | {"max": default["max"] | steal},
                "vmperf_promise": {},
            },
            limits,
        )
        tasks.check(tasks.render(tasks.MAIN, {"limits": limits}))
        self.assertEqual(
            {
                "task": "kvm-overhead.yaml",
                "baseline": "none",
                "image": "one",
                "user": "debian",
                "flavors": ["one"],
                "network": "one",
                "repetitions": 6,
            },
            arguments,
        )

    def test_baseline(self):
        """A name that YAML would read as a number remains text."""
        arguments = yaml.safe_load(self.render("one", baseline="2026"))
        self.assertEqual("2026", arguments["baseline"])
        # Bare metal is the measure, and not what the cloud promises.
        self.assertEqual(["vmperf_overhead"], [*arguments["limits"]])

    def test_volume_types(self):
        """They are a comment, whatever their names are."""
        without = self.render("one")
        self.assertNotIn("volume types", without)
        content = init.render(
            "none", "record", *[({"flavors": ["one"]}, "")] * 3, HOSTILE
        )
        self.assertIn("# The volume types of the cloud: a", content)
        self.assertIn(
            "# For workloads with target: volume, add volumes: [{s", content
        )
        self.assertNotIn("*", yaml.safe_load(content)["limits"])

    def test_hostile_names(self):
        """They remain one value, and comments remain one line."""
        text = self.render(HOSTILE, HOSTILE)
        arguments = yaml.safe_load(text)
        self.assertEqual([HOSTILE], arguments["flavors"])
        self.assertNotIn("*", arguments)
        self.assertNotIn("\x1b", text)

    def test_existing_file(self):
        """It is kept, and a new one has the requested mode."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = pathlib.Path(folder, "rally.conf")
        self.assertIs(True, init.write_new(path, "new", 0o600))
        self.assertEqual(0o600, path.stat().st_mode & 0o777)
        self.assertIs(False, init.write_new(path, "other", 0o600))
        self.assertEqual("new", path.read_text())

    def test_full_disk(self):
        """No file remains, which the next init would keep."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = pathlib.Path(folder, "vmperf.yaml")
        full = OSError(errno.ENOSPC, "No space left on device")
        with (
            mock.patch.object(os, "fsync", autospec=True, side_effect=full),
            self.assertRaisesRegex(
                errors.VMPerfError, f"^{path}: No space left on device; free"
            ),
        ):
            init.write_new(path, "new")
        self.assertEqual([], os.listdir(folder))
