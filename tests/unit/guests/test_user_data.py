# SPDX-License-Identifier: Apache-2.0
"""Tests for user data, parsed back as cloud-init does."""

import base64
import email
import unittest

import asyncssh
import ddt
import yaml

from rally_vmperf.guests import errors
from rally_vmperf.guests.booting import host_keys
from rally_vmperf.machines.remote import hostkey


def parts(encoded):
    message = email.message_from_bytes(base64.b64decode(encoded))
    return [
        (
            document.get_content_type(),
            document.get_payload(decode=True).decode(),
        )
        for document in message.get_payload()
    ]


@ddt.ddt
class ComposeTest(unittest.TestCase):
    def setUp(self):
        self.host = host_keys.choose_host_key({})
        self.client = hostkey.generate("test")

    def compose(self, document=None):
        return host_keys.compose_user_data(
            self.host, self.client.public, document
        )

    def test_host_key_is_the_generated_one(self):
        ((kind, text),) = parts(self.compose())
        document = yaml.safe_load(text)
        self.assertEqual("text/cloud-config", kind)
        self.assertTrue(text.startswith("#cloud-config\n"))
        self.assertIs(True, document["ssh_deletekeys"])
        private = document["ssh_keys"]["ed25519_private"]
        public = asyncssh.import_private_key(private).export_public_key()
        self.assertIn(self.host.public, public.decode())
        self.assertEqual([self.client.public], document["ssh_authorized_keys"])
        self.assertIs(False, document["package_upgrade"])

    @ddt.data("#cloud-config\nbootcmd: [ls]\n", "bootcmd: [ls]\n")
    def test_own_document_comes_first(self, document):
        first, second = parts(self.compose(document))
        self.assertTrue(first[1].startswith("#cloud-config\n"))
        self.assertEqual({"bootcmd": ["ls"]}, yaml.safe_load(first[1]))
        self.assertIn("ssh_keys", yaml.safe_load(second[1]))

    def test_unicode_survives(self):
        first, _ = parts(self.compose("hostname: größe\n"))
        self.assertEqual({"hostname": "größe"}, yaml.safe_load(first[1]))

    @ddt.unpack
    @ddt.data(
        ("a: [", "not valid YAML"),
        ("just words", "a str is not a valid cloud-config document"),
        ("a: " + "x" * 50000, "must be at most 65535"),
    )
    def test_refused(self, document, message):
        with self.assertRaisesRegex(errors.GuestError, message):
            self.compose(document)

    def test_private_key_stays_out_of_representations(self):
        self.assertNotIn("PRIVATE", repr(self.host))
