# SPDX-License-Identifier: Apache-2.0
"""Tests for signs on consoles, with consoles of real guests."""

import pathlib
import unittest

import ddt

from rally_vmperf.guests import console
from tests.unit.guests import test_console_keys as texts

DATA = pathlib.Path(__file__).parent / "data"


def golden(name):
    return console.clean_text((DATA / name).read_text())


@ddt.ddt
class HintsTest(unittest.TestCase):
    @ddt.data(
        (
            "linux-6.1-panic.txt",
            [console.NO_ROOT, console.PANIC],
        ),
        ("initramfs-tools-0.142-no-root.txt", [console.NO_ROOT]),
        ("debian-12-no-metadata.txt", [console.NO_SSH_SERVER]),
        ("debian-12-cloud-init-22.4-keys.txt", []),
    )
    @ddt.unpack
    def test_real_consoles(self, name, expected):
        self.assertEqual(expected, console.find_hints(golden(name)))

    @ddt.data(
        ("No bootable device.", console.NO_BOOT),
        ("BdsDxe: No bootable option or device was found.", "not bootable"),
        ("error: no such partition.\ngrub rescue>", console.NO_BOOT),
        ("BUG: unable to handle page fault for address: 8", console.OOPS),
        ("Oops: 0002 [#1] SMP PTI", console.OOPS),
        ("Internal error: Oops: 0000000096000044 [#1] SMP", console.OOPS),
        ("kernel BUG at mm/slub.c:379!", console.OOPS),
        ("Out of memory: Killed process 511 (apt)", console.NO_MEMORY),
        ("tee: x: No space left on device", console.NO_SPACE),
        ("You are in emergency mode. After logging", console.EMERGENCY),
        ("No DHCPOFFERS received.", console.NO_ADDRESS),
        ("udhcpc: no lease, failing", console.NO_ADDRESS),
        (
            "Failed to start systemd-networkd-wait-online.service - Wait for "
            "Network to be Configured.",
            console.NO_ADDRESS,
        ),
        (
            "Cloud-init v. 22.4.2 finished at Fri, 21 Nov 2025 09:00:00 "
            "+0000. Datasource DataSourceNone.  Up 130.98 seconds",
            console.NO_METADATA,
        ),
        (
            "[CRITICAL]: Giving up on md from ['http://169.254.169.254/'] "
            "after 126 seconds",
            console.NO_METADATA,
        ),
        (
            "[FAILED] Failed to start cloud-init.service - Initial cloud-init "
            "job (metadata service crawler).",
            console.CLOUD_INIT,
        ),
        (
            "[   26.8] python3[225]: vmperf-guest: No instance datasource "
            "found: config drive: there is none",
            console.NO_METADATA,
        ),
        (
            "[   26.8] python3[225]: vmperf-guest: user data: not valid YAML",
            console.USER_DATA,
        ),
    )
    @ddt.unpack
    def test_lines(self, line, expected):
        (hint,) = console.find_hints(f"[ OK ]\n{line}\nlogin: ")
        self.assertIn(expected, hint)

    @ddt.data("", "debian login:", "[  OK  ] Started ssh.service - OpenBSD")
    def test_nothing_wrong(self, text):
        self.assertEqual([], console.find_hints(text, texts.FIRST))

    def test_a_real_console_shows_its_key(self):
        text = golden("debian-12-cloud-init-22.4-keys.txt")
        (key,) = console.read_keys(text)
        self.assertTrue(key.startswith("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AA"))
        self.assertEqual([], console.find_hints(text, key))
        self.assertEqual(
            [console.OTHER_KEY], console.find_hints(text, texts.FIRST)
        )

    def test_another_host_key(self):
        text = texts.block(texts.SECOND)
        self.assertEqual(
            [console.OTHER_KEY], console.find_hints(text, texts.FIRST)
        )
        self.assertEqual([], console.find_hints(text, texts.SECOND))
        self.assertEqual([], console.find_hints(text))
