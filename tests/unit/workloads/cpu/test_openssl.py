# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.cpu import openssl
from tests.unit.workloads import golden

GOLDEN = golden.text("openssl-3.0.19.txt")
VERSIONS = ("1.1.1w", "3.0.19", "3.5.7")


@ddt.ddt
class CryptographyTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = openssl.Openssl()

    @ddt.data(
        (
            {},
            "openssl speed -elapsed -multi 1 -seconds 10 -bytes 16384 "
            "-evp aes-256-gcm",
        ),
        (
            {
                "threads": 4,
                "time": 3,
                "block_size": 64,
                "algorithm": "sha512",
            },
            "openssl speed -elapsed -multi 4 -seconds 3 -bytes 64 -evp sha512",
        ),
    )
    @ddt.unpack
    def test_command_line(self, arguments, line):
        (command,) = self.workload.commands(
            self.workload.complete(arguments), base.Endpoints()
        )
        self.assertEqual(line, " ".join(command.argv))

    @ddt.data(
        ({"algorithm": "md5"}, "algorithm: 'md5' is not one of .*sha256"),
        ({"threads": 0}, "threads: 0 is less .*1 to 1024"),
        ({"time": 0}, "time: 0 is less .*1 to 3600"),
        ({"block_size": 15}, "block_size: 15 is less .*16 to 1048576"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload openssl: {message}"
        ):
            self.workload.complete(arguments)

    @ddt.data(
        ("OpenSSL 1.1.1w  11 Sep 2023", False),
        ("OpenSSL 3.0.19 27 Jan 2026", False),
        ("OpenSSL 1.0.2k-fips  26 Jan 2017", True),
    )
    @ddt.unpack
    def test_too_old(self, version_line, refused):
        (tool,) = self.workload.tools({})
        self.assertEqual(
            refused, bool(tools.version_problem(tool, version_line))
        )


@ddt.ddt
class RateTestCase(unittest.TestCase):
    @ddt.data(
        ("1.1.1w", 2149955036.51),
        ("3.0.19", 1704362957.31),
        ("3.5.7", 2398797824.0),
    )
    @ddt.unpack
    def test_sum_of_the_processes(self, version, expected):
        text = golden.text(f"openssl-{version}.txt")
        rate = openssl.parse_rate(text, "aes-256-gcm", 2, 16384)
        self.assertAlmostEqual(expected, rate, places=2)

    @ddt.data(*VERSIONS)
    def test_cut_short(self, version):
        """Nothing but the line's end may be missing."""
        whole = golden.text(f"openssl-{version}.txt").rstrip()
        for length in range(len(whole)):
            with self.assertRaises(base.WorkloadError):
                openssl.parse_rate(whole[:length], "aes-256-gcm", 2, 16384)

    @ddt.data(
        (
            "aes-256-gcm",
            1,
            16384,
            "printed the block size 2 times instead of ",
        ),
        ("aes-256-gcm", 3, 16384, "for each of 3 processes; look at"),
        ("aes-256-gcm", 2, 8192, "used blocks of 16384 B in process 0"),
        ("sha256", 2, 16384, "ran AES-256-GCM in process 0"),
    )
    @ddt.unpack
    def test_arguments_that_differ_from_the_run(self, *run_arguments):
        *arguments, message = run_arguments
        with self.assertRaisesRegex(base.WorkloadError, message):
            openssl.parse_rate(GOLDEN, *arguments)

    @ddt.data(
        ("+F:25:AES-256-GCM:", "+F:25:AES-128-GCM:", "ran AES-128-GCM in"),
        ("+F:25:AES-256-GCM:", "+F:25:AES-256-GCM:x", "printed 0 rates"),
        ("\nAES-256-GCM  ", "\nAES-128-GCM  ", "ended with 'AES-128-GCM"),
        ("k\n", "M\n", "ended with 'AES-256-GCM"),
        (" from 1", " from 0", "printed the block size 2 times"),
        ("Got: +F", "Got: F", "printed 0 rates instead of once for each of 2"),
    )
    @ddt.unpack
    def test_incoherent_outputs(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(
            base.WorkloadError, f"^openssl.*{message}.*look at"
        ):
            openssl.parse_rate(
                GOLDEN.replace(old, new), "aes-256-gcm", 2, 16384
            )
