# SPDX-License-Identifier: Apache-2.0
"""Tests of what leaves a command: one line that names the object."""

import argparse
import os
import pathlib
import stat
import tempfile
import unittest
from unittest import mock

import ddt
import sqlalchemy.exc

from rally_vmperf import errors
from rally_vmperf.cmd import base
from tests import skips
from tests.unit.cmd import command_lines
from tests.unit.records import full_disk

#: Commands with one argument that is replaced.
COMMANDS = (
    *(("judge",), ("report",), ("audit",), ("plan",)),
    *(("run",), ("baseline", "show"), ("baseline", "compare", "metal")),
    *(("baseline", "import", "metal"), ("baseline", "delete")),
    ("compare", "no.jsonl"),
    ("judge", "--raw", "--bare-metal", "dd:x", "--guest"),
)
WORDS = (
    *("/", "..", ":", "=", "dd:out.txt", "dd:=", "mbw:version=1.4="),
    *("last:0", "last:x", "no-host", "no.json", "no.jsonl", "no.yaml"),
    *("\x1b[2Jx", "\N{GRINNING FACE}", "a\nb", "x" * 300, "/dev/null"),
    "12345678-1234-1234-1234-123456789012",
)


class _Failing(base.Command):
    """A command that fails as it is requested."""

    def add_arguments(self, parser):
        parser.add_argument("names", nargs="*")
        parser.add_argument("--error")

    def take_action(self, parsed):
        raise parsed.error


class FileTestCase(unittest.TestCase):
    """A file is complete, or as it was."""

    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = pathlib.Path(folder, "report.html")

    def test_full_disk(self):
        """The earlier file remains, and there is no new one."""
        full_disk.limit(self, 1000)
        message = f"report {self.path}: .*; select another path with --output"
        for content in (None, "before"):
            if content is not None:
                self.path.write_text(content)
            with self.assertRaisesRegex(errors.VMPerfError, message):
                base.write_file(self.path, ["x" * 2000], "report", "--output")
            listed = [path.read_text() for path in self.path.parent.iterdir()]
            self.assertEqual([content] if content else [], listed)

    def test_permissions(self):
        """They are those of any new file, or remain."""
        mask = os.umask(0o027)
        self.addCleanup(os.umask, mask)
        base.write_file(self.path, ["a", "b"], "report")
        self.assertEqual("ab", self.path.read_text())
        self.assertEqual(0o640, stat.S_IMODE(self.path.stat().st_mode))
        self.path.chmod(0o604)
        base.write_file(self.path, ["c"], "report")
        self.assertEqual("c", self.path.read_text())
        self.assertEqual(0o604, stat.S_IMODE(self.path.stat().st_mode))

    def test_links_and_devices(self):
        """They are written to, and not replaced."""
        link = self.path.with_name("link")
        link.symlink_to(self.path)
        for path in (link, "/dev/null"):
            base.write_file(path, ["text"], "report")
        self.assertEqual("text", self.path.read_text())
        self.assertTrue(link.is_symlink())
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_missing_directory(self):
        path = self.path.with_name("new") / "report.html"
        with self.assertRaisesRegex(errors.VMPerfError, "No such file"):
            base.write_file(path, ["text"], "report")
        self.assertFalse(path.parent.exists())


@ddt.ddt
class ErrorTestCase(unittest.TestCase):
    def run_command(self, error):
        """Return the message of a command that fails with an error."""
        command = _Failing(mock.Mock(), None, "judge")
        parsed = argparse.Namespace(names=["a", "b"], error=error)
        with self.assertRaises(errors.VMPerfError) as caught:
            command.run(parsed)
        return str(caught.exception)

    @ddt.data(
        (ValueError("no limit"), "judge a b: no limit"),
        (
            IndexError("list index out of range"),
            "judge a b: unexpected IndexError: list index out of range; to "
            "see its origin: add --debug before the command",
        ),
        (
            KeyError("x\ny"),
            "judge a b: unexpected KeyError: 'x\\ny'; to see its origin: "
            "add --debug before the command",
        ),
        (OSError(5, "I/O error"), "judge a b: I/O error"),
        (OSError(2, "No such file", "f"), "f: No such file"),
        (
            sqlalchemy.exc.OperationalError(
                "SELECT 1\nFROM tasks", {}, Exception("no such table: tasks")
            ),
            "judge a b: Rally's database cannot be read: no such table: "
            "tasks; to create it: rally-vmperf init",
        ),
    )
    @ddt.unpack
    def test_message(self, error, message):
        self.assertEqual(message, self.run_command(error))

    def test_own_errors_are_not_changed(self):
        error = errors.VMPerfError("x: must be y")
        self.assertEqual("x: must be y", self.run_command(error))

    @ddt.data("0", "11", "1.5", "x", "9" * 20)
    def test_numbers_outside_of_bounds(self, text):
        with self.assertRaisesRegex(
            argparse.ArgumentTypeError, "must be an integer from 1 to 10$"
        ):
            base.create_number_parser(1, 10)(text)


@ddt.ddt
class FuzzTestCase(command_lines.CommandLineTestCase):
    """Whatever is given, the message is one line and names its object."""

    @ddt.data(*COMMANDS)
    def test_fuzz(self, command):
        results = self.run_lines([*command, word] for word in WORDS)
        for word, (code, text) in zip(WORDS, results, strict=True):
            with self.subTest(word):
                self.assertNotEqual(0, code, text)
                if code == 2:
                    # argparse prints the usage before its line.
                    text = text.splitlines()[-1] + "\n"
                self.assertRegex(text, r"\Arally-vmperf[^\n]*\n\Z")
                self.assertTrue(text[:-1].isprintable(), text)
                self.assertNotRegex(text, "unexpected|Traceback|sqlalche")
                objects = {word, repr(word)[1:-1], word[:40], "''"}
                objects |= {word.strip("\x1b"), word.replace("\n", "; ")}
                objects |= {*command[1:], "rally.sqlite", "database"} - {""}
                objects -= {"", "baseline", "show", "import", "delete"}
                self.assertTrue(
                    any(name in text for name in objects), (word, text)
                )

    @skips.requires(root=True)
    def test_output_that_is_a_directory(self):
        paths = ("/", str(self.folder))
        results = self.run_lines(
            ["image", "build", "--output", path] for path in paths
        )
        for path, (code, text) in zip(paths, results, strict=True):
            self.assertEqual(1, code)
            self.assertIn(f"--output={path}: must be a file, such as", text)
