"""Tests for the wait for keys on consoles."""

import unittest
from unittest import mock

from rally_vmperf.guests import errors
from rally_vmperf.guests import host_keys
from tests.unit.guests import made
from tests.unit.guests import test_console_keys as texts
from tests.unit.guests import testing


class HostKeysTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()
        self.told = []

    def learn(self, *guests, timeout=300):
        return host_keys.learn(self.cloud, guests, timeout, self.told.append)

    def guest(self, host_key=None):
        return made.guest(host_key=host_key)

    def test_a_key_is_waited_for(self):
        guest = self.guest()

        def boot(seconds):
            self.cloud.compute.console = texts.block(texts.FIRST)

        with mock.patch("time.sleep", boot):
            (guest,) = self.learn(guest)
        self.assertEqual(texts.bare(texts.FIRST), guest.host_key)
        self.assertEqual(["g1 shows its host key on its console"], self.told)

    def test_what_is_known_is_not_asked_for(self):
        guest = self.guest(texts.FIRST)
        self.cloud.compute.console = texts.block(texts.SECOND)
        (guest,) = self.learn(guest)
        self.assertEqual(texts.FIRST, guest.host_key)
        self.assertEqual([], self.cloud.calls)

    def test_none_in_time(self):
        with self.assertRaisesRegex(
            errors.GuestError,
            "guest g1 shows no host key on its console after 0 s; .*"
            "host_key: {known: .*\nBooting\nlogin:",
        ):
            self.learn(self.guest(), timeout=0)

    def test_the_console_says_why(self):
        self.cloud.compute.console = "Kernel panic - not syncing: VFS"
        with self.assertRaisesRegex(errors.GuestError, "kernel panicked"):
            self.learn(self.guest(), timeout=0)
