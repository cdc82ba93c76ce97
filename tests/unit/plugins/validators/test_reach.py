# SPDX-License-Identifier: Apache-2.0
"""Tests of what is refused of the ways to guests and peer."""

import pathlib
import tempfile
import unittest
from unittest import mock

import ddt
from rally.common import validation

from rally_vmperf.machines import base
from rally_vmperf.machines.remote import hostkey
from rally_vmperf.plugins import scenarios
from rally_vmperf.plugins import validators

HOP = {"address": "192.0.2.1", "user": "rally"}


@ddt.ddt
class TestReach(unittest.TestCase):
    """Options that cannot work are rejected before anything boots."""

    def setUp(self):
        """Have a key and a password."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.key = pathlib.Path(folder.name, "key")
        self.password = pathlib.Path(folder.name, "password")
        self.key.touch()
        self.password.write_text("secret\n")

    def validate(self, guests=None, peer=None):
        """Run the validator as Rally does."""
        config = {
            "args": {"workloads": [{"name": "mbw"}], "peer": peer},
            "contexts": {"vmperf_guests@openstack": guests or {}},
            "sla": {},
            "runner_type": "serial",
            "runner": {},
        }
        validators.Reach().validate(
            {}, config, scenarios.SCENARIOS["VMPerf.overhead"], None
        )

    def refused(self, pattern, **config):
        with self.assertRaisesRegex(
            validation.ValidationError, pattern
        ) as caught:
            self.validate(**config)
        return str(caught.exception)

    def test_nothing_special(self):
        self.validate()
        validators.Reach().validate({}, None, None, None)

    def test_all_there(self):
        hop = {**HOP, "key_file": str(self.key), "known_hosts": str(self.key)}
        for jump in (hop, [hop, HOP]):
            self.validate(
                guests={
                    "jump": jump,
                    "login": {"password_file": str(self.password)},
                    "host_key": {"public_key": hostkey.generate("x").public},
                },
                peer={"address": "p", "key_file": str(self.key), "jump": jump},
            )
        self.validate(guests={"host_key": {"console": True}})

    def test_empty_options(self):
        """They are not given."""
        self.validate(guests={"jump": [], "login": {}, "host_key": None})

    @ddt.data(
        ({"jump": {"user": "j"}}, "jump: 'address' is a .* keys address, p"),
        ({"jump": {**HOP, "prt": 1}}, "'prt' was unexpected.*: keys address"),
        ({"jump": [HOP, {}]}, "jump: 'address' is a required"),
        ({"jump": "rally@192.0.2.1"}, "jump: .* is not of type"),
        ({"jump": HOP, "namespace": "x"}, "jump and namespace are mutually"),
        ({"login": {"password": "x"}}, "exactly one of key_file, password_f"),
        (
            {"host_key": {"public_key": "x", "console": True}},
            "exactly one of generated, public_key, console",
        ),
        (
            {"host_key": {"console": False}},
            "exactly one of generated, public_key",
        ),
        (
            {"host_key": {"public_key": "rubbish"}},
            "not a valid OpenSSH public key line",
        ),
        ({"namespace": "no-such"}, "namespace 'no-such' is not on this"),
        (
            {"login": {"key_file": "/no/key"}},
            "vmperf_guests login key_file: file '/no/key'",
        ),
        (
            {"login": {"password_file": "/no/pw"}},
            "login password_file: file '/no/pw'",
        ),
        (
            {"jump": [HOP, {**HOP, "known_hosts": "/no/hosts"}]},
            r"vmperf_guests jump\[1\] known_hosts: file '/no/hosts'",
        ),
    )
    @ddt.unpack
    def test_refused_by_name(self, guests, pattern):
        self.refused(pattern, guests=guests)

    @ddt.data(
        ({"key_file": "/no/key"}, "peer key_file: file '/no/key'"),
        ({"known_hosts": "~/no/hosts"}, "peer known_hosts: file '~/no/hosts'"),
        (
            {"jump": {**HOP, "key_file": "/no"}},
            "peer jump key_file: file '/no'",
        ),
    )
    @ddt.unpack
    def test_files_of_the_peer(self, options, pattern):
        self.refused(pattern, peer={"address": "p", **options})

    def test_sources_that_are_no_networks(self):
        self.validate(guests={"allowed_sources": ["192.0.2.7", "fd00::/64"]})
        self.refused(
            "allowed_sources: 'here' does not appear to be .*; it must be an",
            guests={"allowed_sources": ["here"]},
        )

    def test_an_empty_password(self):
        self.password.write_text("\nsecret\n")
        message = self.refused(
            "its first line is empty",
            guests={"login": {"password_file": str(self.password)}},
        )
        self.assertNotIn("secret", message)

    def test_a_namespace_that_only_root_may_enter(self):
        error = base.MachineError("namespace 'x' can be entered by root alone")
        with mock.patch(
            "rally_vmperf.machines.remote.routes.open_socket",
            autospec=True,
            side_effect=error,
        ):
            self.refused("by root alone", guests={"namespace": "x"})
