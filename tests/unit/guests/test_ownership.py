"""Tests for who still needs what."""

import unittest

import ddt

from rally_vmperf.guests import ownership
from tests.unit.guests import test_ledger

DEAD = {"process": test_ledger.dead()}


@ddt.ddt
class RegisterTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        (None, None, "unknown"),
        (None, True, "ended"),
        (None, False, "unknown"),
        ({}, False, "running"),
        ({}, True, "running"),
        (DEAD, False, "killed"),
        (DEAD, None, "killed"),
    )
    def test_state(self, entry, ended, expected):
        workload = "1234abcd-1"
        entries = [] if entry is None else [test_ledger.entry(**entry)]
        tasks = [
            ownership.Task(uuid="task-1", ended=ended, workloads=(workload,))
        ][: ended is not None]
        found = ownership.Register(entries, tasks).run("1234abcd")
        self.assertEqual(expected, found.state)

    def test_one_running_workload_protects_what_validation_made(self):
        entries = [
            test_ledger.entry("a" * 8, "f" * 8),
            test_ledger.entry("b" * 8, "f" * 8, **DEAD),
        ]
        for order in (entries, entries[::-1]):
            register = ownership.Register(order, [])
            self.assertEqual("running", register.run("f" * 8).state)
