# SPDX-License-Identifier: Apache-2.0
"""Tests for how host keys are known, or learnt from consoles."""

import unittest
from unittest import mock

from rally_vmperf.guests import errors
from rally_vmperf.guests.booting import host_keys
from tests.unit.guests import made
from tests.unit.guests import test_console_keys as texts
from tests.unit.guests import testing


def choose(**host_key):
    (group,) = made.build_request(host_key=host_key or None).groups
    return host_keys.choose_host_key(group.host_key)


class ChooseTest(unittest.TestCase):
    def test_new_key_by_default_and_on_request(self):
        for chosen in (choose(), choose(generated=True)):
            config = chosen.cloud_config
            self.assertEqual(
                chosen.public, config["ssh_keys"]["ed25519_public"]
            )
            self.assertIs(True, config["ssh_deletekeys"])
            self.assertNotIn("PRIVATE", repr(chosen))

    def test_each_guest_has_its_own(self):
        self.assertNotEqual(choose().public, choose().public)

    def test_of_another_type(self):
        """Under the name by which cloud-init knows it."""
        chosen = host_keys.choose_host_key({}, "ecdsa")
        self.assertTrue(chosen.public.startswith("ecdsa-sha2-nistp256 "))
        self.assertEqual(
            {"ecdsa_private", "ecdsa_public"},
            set(chosen.cloud_config["ssh_keys"]),
        )

    def test_the_key_in_the_image_is_kept(self):
        chosen = choose(public_key="ssh-ed25519 AAAA x\n")
        self.assertEqual("ssh-ed25519 AAAA x", chosen.public)
        self.assertEqual({"ssh_deletekeys": False}, chosen.cloud_config)

    def test_the_console_is_read(self):
        chosen = choose(console=True)
        self.assertIsNone(chosen.public)
        self.assertNotIn("ssh_keys", chosen.cloud_config)
        self.assertIs(True, chosen.cloud_config["ssh"]["emit_keys_to_console"])


class LearnTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()
        self.messages = []

    def learn(self, *guests, timeout=300):
        return host_keys.read_host_keys(
            self.cloud, guests, timeout, self.messages.append
        )

    def guest(self, host_key=None):
        return made.guest(host_key=host_key)

    def test_a_key_is_waited_for(self):
        guest = self.guest()

        def boot(seconds):
            self.cloud.compute.console = texts.block(texts.FIRST)

        with mock.patch("time.sleep", boot):
            (guest,) = self.learn(guest)
        self.assertEqual(texts.bare(texts.FIRST), guest.host_key)
        self.assertEqual(
            ["g1 shows its host key on its console"], self.messages
        )

    def test_known_keys_are_not_read(self):
        guest = self.guest(texts.FIRST)
        self.cloud.compute.console = texts.block(texts.SECOND)
        (guest,) = self.learn(guest)
        self.assertEqual(texts.FIRST, guest.host_key)
        self.assertEqual([], self.cloud.calls)

    def test_none_in_time(self):
        with self.assertRaisesRegex(
            errors.GuestError,
            "guest g1 shows no host key on its console after 0 s; .*"
            "host_key: {public_key: .*\nBooting\nlogin:",
        ):
            self.learn(self.guest(), timeout=0)

    def test_the_console_has_the_reason(self):
        self.cloud.compute.console = "Kernel panic - not syncing: VFS"
        with self.assertRaisesRegex(errors.GuestError, "kernel panicked"):
            self.learn(self.guest(), timeout=0)
