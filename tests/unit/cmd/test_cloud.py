"""Tests of the command that names the place of the test cloud."""

import unittest
from unittest import mock

import ddt

from rally_vmperf import errors
from rally_vmperf.cmd import cloud


@ddt.ddt
class TestCloud(unittest.TestCase):
    """Each use is an error that names the commands."""

    @ddt.data((), ("up",), ("down", "--purge"))
    def test_arguments(self, arguments):
        """Arguments of earlier versions are accepted."""
        command = cloud.Cloud(mock.Mock(), None)
        parsed = command.get_parser("cloud").parse_args(arguments)
        with self.assertRaisesRegex(errors.VMPerfError, "run 'make cloud'"):
            command.take_action(parsed)
