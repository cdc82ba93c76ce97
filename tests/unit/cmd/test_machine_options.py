# SPDX-License-Identifier: Apache-2.0
"""Tests of the options for a machine."""

import argparse
import unittest

import ddt

from rally_vmperf.cmd import machine_options


@ddt.ddt
class HopsTest(unittest.TestCase):
    @ddt.data(
        ("rally@192.0.2.1", ("192.0.2.1", None, "rally")),
        (
            "rally@bastion.example.org:2222",
            ("bastion.example.org", 2222, "rally"),
        ),
        ("bastion", ("bastion", None, None)),
        ("rally@[2001:db8::1]:2222", ("2001:db8::1", 2222, "rally")),
        ("[2001:db8::1]", ("2001:db8::1", None, None)),
    )
    @ddt.unpack
    def test_one(self, text, expected):
        """Parts that are not given are left to ~/.ssh/config."""
        (hop,) = machine_options.parse_jump_hosts(text)
        self.assertEqual(expected, (hop.address, hop.port, hop.user))

    def test_several_keep_their_order(self):
        hops = machine_options.parse_jump_hosts("a@one,b@two:23")
        self.assertEqual(["one", "two"], [hop.address for hop in hops])

    @ddt.data("", "a@", "a@b,", "a@b:", "a@b:0", "a@b:70000", "a b", "a@b@c")
    def test_refused(self, text):
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "user@host"):
            machine_options.parse_jump_hosts(text)

    def test_an_address_of_ipv6_needs_brackets(self):
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "brackets"):
            machine_options.parse_jump_hosts("rally@2001:db8::1")
