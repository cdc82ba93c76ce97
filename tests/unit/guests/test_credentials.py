# SPDX-License-Identifier: Apache-2.0
"""Tests for whose the guests are."""

import unittest

import ddt

from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors

MEMBER, ADMIN = {"username": "member"}, {"username": "admin"}
BOTH = {"admin": {"credential": ADMIN}, "users": [{"credential": MEMBER}]}


@ddt.ddt
class OfGuestsTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        (BOTH, {}, MEMBER),
        (BOTH, {"availability_zone": "nova"}, MEMBER),
        (BOTH, {"server_group": "affinity"}, MEMBER),
        (BOTH, {"host": "h1"}, ADMIN),
        (BOTH, {"aggregate": "ssd"}, ADMIN),
        (BOTH, {"hosts": ["h1", "h2"]}, ADMIN),
        ({"users": BOTH["users"]}, {"aggregate": "ssd"}, MEMBER),
        ({"admin": BOTH["admin"]}, {}, ADMIN),
    )
    def test_choice(self, context, options, expected):
        guest_credential = credentials.get_guest_credential(context, options)
        self.assertEqual(expected, guest_credential)

    def test_no_user(self):
        with self.assertRaisesRegex(errors.GuestError, "neither users nor"):
            credentials.get_guest_credential({}, {})
