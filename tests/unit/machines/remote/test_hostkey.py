# SPDX-License-Identifier: Apache-2.0
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import asyncssh
import ddt

from rally_vmperf.machines import base
from rally_vmperf.machines.remote import hostkey


@ddt.ddt
class KeysTestCase(unittest.TestCase):
    def test_a_pair_belongs_together_and_is_new(self):
        pair = hostkey.generate("guest g1")
        key = asyncssh.import_private_key(pair.private)
        (pinned,) = hostkey.parse_host_keys(pair.public)
        self.assertEqual(key.public_data, pinned.public_data)
        self.assertTrue(pair.public.startswith("ssh-ed25519 "))
        self.assertTrue(pair.public.endswith(" guest g1"))
        self.assertNotEqual(pair, hostkey.generate("guest g1"))

    @ddt.data(
        *(("0\n", None, "ed25519"), ("1\n", None, "ecdsa")),
        *(("1\n", "ed25519", "ed25519"), ("0\n", "ecdsa", "ecdsa")),
        (None, None, "ed25519"),
    )
    @ddt.unpack
    def test_machines_in_fips_mode(self, fips_mode, key_type, expected):
        """ECDSA is used there, unless a type is requested."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "fips_enabled")
            if fips_mode is not None:
                path.write_text(fips_mode)
            with mock.patch.object(hostkey, "_FIPS", path):
                pair = hostkey.generate("g1", key_type)
        self.assertEqual(expected, pair.type)
        names = {"ed25519": "ssh-ed25519 ", "ecdsa": "ecdsa-sha2-nistp256 "}
        self.assertTrue(pair.public.startswith(names[expected]))

    def test_several_may_be_pinned(self):
        pairs = [hostkey.generate(name) for name in ("a", "b")]
        lines = "\n".join(pair.public for pair in pairs)
        self.assertEqual(2, len(hostkey.parse_host_keys(f"{lines}\n")))

    def test_damaged_keys_are_refused_in_one_line(self):
        """The library has several words for that."""
        fields = hostkey.generate("x").public.split()
        for damaged in ("AAAA", fields[1][:-8], "AAAAB3NzaC1yc2EAAAAB/w=="):
            with self.assertRaisesRegex(
                base.MachineError, "not a valid OpenSSH"
            ):
                hostkey.parse_host_keys(f"{fields[0]} {damaged}")

    def test_the_private_key_is_not_shown(self):
        self.assertNotIn("PRIVATE", repr(hostkey.generate("x")))


class LazinessTestCase(unittest.TestCase):
    def test_jobs_and_local_machines_need_no_ssh_library(self):
        program = (
            "import sys\n"
            "from rally_vmperf.machines import fingerprint, job, local\n"
            "from rally_vmperf.machines import shapes, workfolder\n"
            "from rally_vmperf.machines.provisioning import provision\n"
            "sys.exit('asyncssh' in sys.modules)\n"
        )
        process = subprocess.run([sys.executable, "-c", program], check=False)
        self.assertEqual(0, process.returncode)
