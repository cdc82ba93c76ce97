"""Tests of the ways to bare metal."""

import argparse
import unittest
from unittest import mock

import ddt

from rally_vmperf.cmd import bare_metal


@ddt.ddt
class HopsTest(unittest.TestCase):
    @ddt.data(
        ("rally@192.0.2.1", ("192.0.2.1", 22, "rally")),
        (
            "rally@bastion.example.org:2222",
            ("bastion.example.org", 2222, "rally"),
        ),
        ("bastion", ("bastion", 22, "me")),
        ("rally@[2001:db8::1]:2222", ("2001:db8::1", 2222, "rally")),
        ("[2001:db8::1]", ("2001:db8::1", 22, "me")),
    )
    @ddt.unpack
    def test_one(self, text, expected):
        with mock.patch("getpass.getuser", autospec=True, return_value="me"):
            (hop,) = bare_metal.hops(text)
        self.assertEqual(
            dict(zip(("address", "port", "user"), expected, strict=True)), hop
        )

    def test_several_keep_their_order(self):
        found = bare_metal.hops("a@one,b@two:23")
        self.assertEqual(["one", "two"], [hop["address"] for hop in found])

    @ddt.data("", "a@", "a@b,", "a@b:", "a@b:0", "a@b:70000", "a b", "a@b@c")
    def test_refused(self, text):
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "user@host"):
            bare_metal.hops(text)

    def test_an_address_of_ipv6_needs_brackets(self):
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "brackets"):
            bare_metal.hops("rally@2001:db8::1")
