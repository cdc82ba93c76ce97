import subprocess
import sys
import unittest

import asyncssh

from rally_vmperf.machines import base
from rally_vmperf.machines import hostkey


class KeysTestCase(unittest.TestCase):
    def test_a_pair_belongs_together_and_is_new(self):
        pair = hostkey.generate("guest g1")
        key = asyncssh.import_private_key(pair.private)
        (pinned,) = hostkey.pinned(pair.public)
        self.assertEqual(key.public_data, pinned.public_data)
        self.assertTrue(pair.public.startswith("ssh-ed25519 "))
        self.assertTrue(pair.public.endswith(" guest g1"))
        self.assertNotEqual(pair, hostkey.generate("guest g1"))

    def test_several_may_be_pinned(self):
        pairs = [hostkey.generate(name) for name in ("a", "b")]
        lines = "\n".join(pair.public for pair in pairs)
        self.assertEqual(2, len(hostkey.pinned(f"{lines}\n")))

    def test_damaged_keys_are_refused_in_one_line(self):
        """The library has several words for that."""
        words = hostkey.generate("x").public.split()
        for damaged in ("AAAA", words[1][:-8], "AAAAB3NzaC1yc2EAAAAB/w=="):
            with self.assertRaisesRegex(base.MachineError, "no OpenSSH"):
                hostkey.pinned(f"{words[0]} {damaged}")

    def test_the_private_key_is_not_shown(self):
        self.assertNotIn("PRIVATE", repr(hostkey.generate("x")))


class LazinessTestCase(unittest.TestCase):
    def test_jobs_and_local_machines_need_no_ssh_library(self):
        program = (
            "import sys\n"
            "from rally_vmperf.machines import fingerprint, job, local\n"
            "from rally_vmperf.machines import provision, shape, workfolder\n"
            "sys.exit('asyncssh' in sys.modules)\n"
        )
        done = subprocess.run([sys.executable, "-c", program], check=False)
        self.assertEqual(0, done.returncode)
