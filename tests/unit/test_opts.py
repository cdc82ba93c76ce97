# SPDX-License-Identifier: Apache-2.0
"""Tests for our options as Rally's configuration file has them."""

import io
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt
from oslo_config import cfg
from oslo_config import generator
from rally import api

from rally_vmperf import opts
from rally_vmperf import resources


class TestRead(unittest.TestCase):
    """They are read without Rally, from the file that Rally reads."""

    def setUp(self):
        """Make a folder for files."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def conf(self, text, name="rally.conf"):
        """Write a configuration file."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

    def test_named_file(self):
        """An option that it does not set keeps its default."""
        read = opts.read(
            self.conf("[vmperf]\njournal_dir = /j\n[database]\nx = y\n")
        )
        self.assertEqual("/j", read.journal_dir)
        self.assertEqual(opts.OPTIONS[0].default, read.baseline_dir)

    def test_first_file_found(self):
        """As Rally takes the first of the same folders."""
        self.assertEqual(api.API.CONFIG_SEARCH_PATHS, list(opts.SEARCH_PATHS))
        for name in ("a", "b"):
            text = f"[vmperf]\nbaseline_dir = /{name}\n"
            self.conf(text, f"{name}/rally.conf")
        folders = tuple(str(self.folder / name) for name in "xab")
        with mock.patch.object(opts, "SEARCH_PATHS", folders):
            self.assertEqual("/a", opts.read(None).baseline_dir)

    def test_no_file(self):
        """Then all have their defaults."""
        with mock.patch.object(opts, "SEARCH_PATHS", ()):
            read = opts.read(None)
        self.assertEqual(opts.OPTIONS[1].default, read.journal_dir)

    def test_unreadable(self):
        """One line names the file and the way out."""
        for path in (self.conf("nonsense"), str(self.folder / "absent")):
            with self.assertRaises(ValueError) as caught:
                opts.read(path)
            text = str(caught.exception)
            self.assertIn(path, text)
            self.assertIn("--config-file", text)
            self.assertNotIn("\n", text)

    def test_what_is_no_text_file(self):
        """It is named, and a pipe is not waited for."""
        pipe = str(self.folder / "pipe")
        os.mkfifo(pipe)
        text = self.conf("")
        pathlib.Path(text).write_bytes(b"[vmperf]\n# \xff\n")
        for path, reason in (
            (pipe, "is not a regular file"),
            ("/dev/zero", "is not a regular file"),
            (text, "byte 11 is not UTF-8"),
        ):
            with self.assertRaisesRegex(
                ValueError,
                f"^configuration file {path}: {reason}; .*--config-file$",
            ):
                opts.read(path)

    def test_the_empty_file(self):
        read = opts.read(os.devnull)
        self.assertEqual(opts.OPTIONS[1].default, read.journal_dir)


@ddt.ddt
class TestSample(unittest.TestCase):
    """The samples are what oslo-config-generator makes of the options."""

    @ddt.data(
        ("rally_vmperf", "vmperf.conf.sample"),
        ("rally_vmperf.tempest", "tempest-vmperf.conf.sample"),
    )
    @ddt.unpack
    def test_file(self, namespace, name):
        """Made anew by the command that the documentation names."""
        conf = cfg.ConfigOpts()
        generator.register_cli_opts(conf)
        conf(["--namespace", namespace])
        text = io.StringIO()
        generator.generate(conf, text)
        sample = resources.path("etc", name)
        self.assertEqual(text.getvalue(), sample.read_text())
