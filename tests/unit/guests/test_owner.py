"""Tests for the names of owners."""

import unittest

import ddt

from rally_vmperf.guests import ownership


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
    )
    def test_owns(self, name, expected):
        one = ownership.Owner("c_rally_1234abcd")
        self.assertIs(expected, one.owns(name))

    @ddt.unpack
    @ddt.data(
        ("c_rally_1234abcd_AbCd1234", "1234abcd"),
        ("s_rally_1234abcd_AbCd1234-2", "1234abcd"),
        ("c_rally_1234abcd_AbCd12345", None),
        ("rally_1234abcd_AbCd1234", None),
        ("my c_rally_1234abcd_AbCd1234", None),
        ("", None),
    )
    def test_rally_owner(self, name, expected):
        self.assertEqual(expected, ownership.rally_owner(name))

    @ddt.unpack
    @ddt.data(
        ("c_rally_1234abcd_x", "c_rally_1234abcd"),
        ("own-1234-x", "own-1234"),
    )
    def test_of_names(self, name, prefix):
        found = ownership.of_names("1234abcd-0000-4000", lambda: name)
        self.assertEqual(ownership.Owner(prefix), found)

    def test_of_names_without_owner(self):
        with self.assertRaisesRegex(ValueError, "holds no part of 1234abcd"):
            ownership.of_names("1234abcd", lambda: "guest")
