# SPDX-License-Identifier: Apache-2.0
"""The exit codes of ``rally task start`` are those that the pages name."""

import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest
from unittest import mock

import ddt
from rally import exceptions
from rally import plugins
from rally.cli import main
from rally.cli.commands import task
from rally.common.plugin import discover

from tests.unit.doc import pages

#: The code of a run that has not passed.
NOT_PASSED = 2
#: The errors whose codes the pages name.
NAMED = (
    exceptions.ValidationError,
    exceptions.InvalidTaskException,
    exceptions.InvalidTaskConfig,
    task.FailedToLoadTask,
)
PAGES = ("README.rst", "doc/source/verdict.rst", "doc/source/reference.rst")


def list_errors():
    """Return all errors of Rally, its plugins and this package."""
    plugins.load()
    return list(discover.itersubclasses(exceptions.RallyException))


@ddt.ddt
class ExitCodesTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.task = pathlib.Path(folder, "task.yaml")
        self.task.write_text("{}")
        # Rally reads and writes a file in the home of the user.
        self.enterContext(mock.patch.dict(os.environ, HOME=folder))
        self.api = self.enterContext(
            mock.patch.object(main.rally_api, "API", autospec=True)
        ).return_value
        self.api.task = mock.MagicMock()
        self.api.task.render_template.return_value = "{}"
        self.api.task.create.return_value = {"uuid": "1"}

    def start(self, *arguments):
        """Return the exit code of ``rally task start`` as a shell has it."""
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            self.assertRaises(SystemExit) as ended,
        ):
            main.main(["task", "start", *arguments])
        return (ended.exception.code or 0) % 256

    def start_task(self, *arguments):
        """Start the task in an environment."""
        return self.start(str(self.task), "--env", "1", *arguments)

    def test_no_error_has_the_code_of_a_verdict(self):
        """An error that ends the command is neither 0 nor 2."""
        errors = list_errors()
        self.assertLess(len(NAMED), len(errors))
        for kind in errors:
            # The constructors of some errors require arguments.
            self.api.task.start.side_effect = kind.__new__(kind)
            with self.subTest(kind=kind):
                self.assertNotIn(self.start_task(), (0, NOT_PASSED))

    @ddt.data(ValueError, TypeError, OSError)
    def test_other_errors(self, kind):
        self.api.task.start.side_effect = kind("no")
        self.assertEqual(1, self.start_task())

    @ddt.data((True, 0), (False, NOT_PASSED))
    @ddt.unpack
    def test_a_task_that_ran(self, passed, code):
        self.api.task.get.return_value = {
            "uuid": "1",
            "status": "finished",
            "subtasks": [],
            "pass_sla": passed,
        }
        self.assertEqual(code, self.start_task())

    def test_a_file_that_does_not_exist(self):
        self.task.unlink()
        self.assertEqual(117, self.start_task())

    @ddt.data("--task-args=[", "--task-args-file=/nonexistent")
    def test_arguments_that_are_not_valid(self, option):
        self.assertEqual(117, self.start_task(option))

    def test_commands_that_rally_rejects(self):
        """They have the code of a verdict, which a page says."""
        self.assertEqual(NOT_PASSED, self.start_task("--unknown"))
        self.assertEqual(NOT_PASSED, self.start(str(self.task)))
        main.rally_api.API.side_effect = exceptions.RallyException("no")
        self.assertEqual(NOT_PASSED, self.start_task())
        page = " ".join(pages.text("doc/source/verdict.rst").split())
        self.assertIn("Rally also ends with 2 before the task", page)

    @ddt.data(*PAGES)
    def test_pages(self, name):
        """They say the same, and name no other code of an error."""
        page = " ".join(pages.text(name).split())
        for phrase in ("the task did not run", "rally-vmperf plan"):
            self.assertIn(phrase, page)
        listed = set(re.findall(r"\b1[0-9]{2}\b(?= \(the )", page))
        codes = {str(kind.error_code) for kind in NAMED}
        self.assertIn(listed, (set(), codes))
