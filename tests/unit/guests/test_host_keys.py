"""Tests for how host keys are known."""

import unittest

from rally_vmperf.guests import host_keys
from tests.unit.guests import made


def choose(**host_key):
    (group,) = made.asked(host_key=host_key or None).groups
    return host_keys.choose(group.host_key)


class ChooseTest(unittest.TestCase):
    def test_ours_by_default_and_when_asked(self):
        for chosen in (choose(), choose(given=True)):
            config = chosen.cloud_config
            self.assertEqual(
                chosen.public, config["ssh_keys"]["ed25519_public"]
            )
            self.assertIs(True, config["ssh_deletekeys"])
            self.assertNotIn("PRIVATE", repr(chosen))

    def test_each_guest_has_its_own(self):
        self.assertNotEqual(choose().public, choose().public)

    def test_what_is_in_the_image_is_kept(self):
        chosen = choose(known="ssh-ed25519 AAAA x\n")
        self.assertEqual("ssh-ed25519 AAAA x", chosen.public)
        self.assertEqual({"ssh_deletekeys": False}, chosen.cloud_config)

    def test_the_console_is_asked(self):
        chosen = choose(console=True)
        self.assertIsNone(chosen.public)
        self.assertNotIn("ssh_keys", chosen.cloud_config)
        self.assertIs(True, chosen.cloud_config["ssh"]["emit_keys_to_console"])
