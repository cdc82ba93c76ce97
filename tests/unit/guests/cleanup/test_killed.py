# SPDX-License-Identifier: Apache-2.0
"""Tests of the messages about runs that were killed."""

import shlex
import unittest

import ddt

from rally_vmperf.cmd import cleanup
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import killed
from tests.unit.guests.cleanup import test_ledger

CONF = "/srv/my cloud/rally.conf"


@ddt.ddt
class RemedyTest(unittest.TestCase):
    @ddt.data(
        ((), "", "rally-vmperf cleanup --yes"),
        ((), "task-1", "rally-vmperf cleanup --task task-1 --yes"),
        (
            ("/etc/a.conf",),
            "task-1",
            "rally-vmperf cleanup --task task-1 --yes "
            "--config-file /etc/a.conf",
        ),
        (
            (CONF,),
            "",
            f"rally-vmperf cleanup --yes --config-file '{CONF}'",
        ),
    )
    @ddt.unpack
    def test_remedy(self, config_files, task, command):
        self.assertEqual(
            command, killed.format_cleanup_command(config_files, task)
        )

    def test_the_command_takes_it(self):
        arguments = shlex.split(
            killed.format_cleanup_command([CONF], "task-1")
        )[2:]
        parsed = (
            cleanup.Cleanup(None, None).get_parser("x").parse_args(arguments)
        )
        self.assertEqual((CONF, "task-1"), (parsed.config_file, parsed.task))

    def test_line(self):
        server = inventory.Resource(
            "server", "id-1", "c_rally_1234abcd_1", None
        )
        line = killed.describe_resources(test_ledger.entry(), [server], [CONF])
        self.assertIn("(task task-1, started 2026-01-01 12:03 UTC)", line)
        self.assertTrue(line.endswith(killed.format_cleanup_command([CONF])))
