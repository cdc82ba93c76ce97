# SPDX-License-Identifier: Apache-2.0
"""Errors of the package, and others, in Rally's log."""

import io
import logging
import unittest
from unittest import mock

import ddt
from oslo_config import cfg
from oslo_log import formatters
from oslo_log import log
from rally.common import logging as rally_logging

from rally_vmperf.guests import errors

# Rally loads the package that the entry point names.
__import__("rally_vmperf.plugins")


@ddt.ddt
class TestOneLine(unittest.TestCase):
    """Rally's own loggers, with the formatter that Rally uses."""

    def logged(self, name, error, debug=False):
        """Return what is printed of an error that is caught."""
        printed = io.StringIO()
        handler = logging.StreamHandler(printed)
        conf = cfg.ConfigOpts()
        log.register_options(conf)
        conf([])
        handler.setFormatter(formatters.ContextFormatter(config=conf))
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        self.addCleanup(logger.removeHandler, handler)
        with (
            mock.patch.object(
                rally_logging, "is_debug", autospec=True, return_value=debug
            ),
            mock.patch.object(logger, "propagate", False),
        ):
            try:
                raise error
            except Exception:
                rally_logging.getLogger(name).exception("Unexpected")
        return printed.getvalue()

    @ddt.data("rally.task.engine", "rally.task.context")
    def test_ours(self, name):
        """The cause stands once, in the one line."""
        output = self.logged(name, errors.GuestError("no host; ask for less"))
        self.assertEqual(1, output.count("no host; ask for less"))
        self.assertEqual(1, len(output.splitlines()))

    def test_console(self):
        """The quote in the error follows its first line."""
        output = self.logged(
            "rally.task.engine", errors.GuestError("no answer; console:\nsda")
        )
        self.assertNotIn("Traceback", output)
        self.assertTrue(output.endswith("no answer; console:\nsda\n"), output)

    @ddt.data(
        (ValueError("a bug"), False), (errors.GuestError("no host"), True)
    )
    @ddt.unpack
    def test_traceback(self, error, debug):
        """It stays for errors of other packages, and with --debug."""
        output = self.logged("rally.task.engine", error, debug)
        self.assertIn("Traceback", output)
        self.assertIn(str(error), output)
