# SPDX-License-Identifier: Apache-2.0
"""Tests for whose resources are, and who still needs them."""

import unittest

import ddt

from rally_vmperf.guests.cleanup import ownership
from tests.unit.guests.cleanup import test_ledger

DEAD = {"process": test_ledger.dead()}
ELSEWHERE = {"process": test_ledger.elsewhere()}


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
        (ELSEWHERE, False, "unknown"),
        (ELSEWHERE, None, "unknown"),
        (ELSEWHERE, True, "ended"),
    )
    def test_state(self, entry, ended, expected):
        workload = "1234abcd-1"
        entries = [] if entry is None else [test_ledger.entry(**entry)]
        tasks = [
            ownership.OwningTask(
                uuid="task-1", ended=ended, workloads=(workload,)
            )
        ][: ended is not None]
        run = ownership.RunIndex(entries, tasks).run("1234abcd")
        self.assertEqual(expected, run.state)

    def test_one_running_workload_protects_resources_of_validation(self):
        entries = [
            test_ledger.entry("a" * 8, "f" * 8),
            test_ledger.entry("b" * 8, "f" * 8, **DEAD),
        ]
        for order in (entries, entries[::-1]):
            register = ownership.RunIndex(order, [])
            self.assertEqual("running", register.run("f" * 8).state)

    def test_one_unknown_workload_protects_resources_of_validation(self):
        entries = [
            test_ledger.entry("a" * 8, "f" * 8, **ELSEWHERE),
            test_ledger.entry("b" * 8, "f" * 8, **DEAD),
        ]
        for order in (entries, entries[::-1]):
            register = ownership.RunIndex(order, [])
            self.assertEqual("unknown", register.run("f" * 8).state)
            self.assertEqual("killed", register.run("b" * 8).state)


@ddt.ddt
class OwnerTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ("c_rally_1234abcd_AbCd1234", True),
        ("c_rally_1234abcd_AbCd1234-1", False),
        ("c_rally_1234abcd", False),
        ("c_rally_1234abcde_AbCd1234", False),
        ("xc_rally_1234abcd_AbCd1234", False),
        ("c_rally_99999999_AbCd1234", False),
        (None, False),
        (7, False),
        (["c_rally_1234abcd_AbCd1234"], False),
    )
    def test_owns(self, name, expected):
        owner = ownership.Owner("c_rally_1234abcd")
        self.assertIs(expected, owner.owns(name))

    @ddt.unpack
    @ddt.data(
        ("c_rally_1234abcd_AbCd1234", "1234abcd"),
        ("s_rally_1234abcd_AbCd1234-2", "1234abcd"),
        ("c_rally_1234abcd_AbCd12345", None),
        ("rally_1234abcd_AbCd1234", None),
        ("my c_rally_1234abcd_AbCd1234", None),
        ("", None),
        (7, None),
    )
    def test_rally_owner(self, name, expected):
        self.assertEqual(expected, ownership.parse_owner(name))

    @ddt.unpack
    @ddt.data(
        ("c_rally_1234abcd_x", "c_rally_1234abcd"),
        ("own-1234-x", "own-1234"),
    )
    def test_of_names(self, name, prefix):
        owner = ownership.of_names("1234abcd-0000-4000", lambda: name)
        self.assertEqual(ownership.Owner(prefix), owner)

    def test_of_names_without_owner(self):
        with self.assertRaisesRegex(
            ValueError, "must contain a part of 1234abcd"
        ):
            ownership.of_names("1234abcd", lambda: "guest")
