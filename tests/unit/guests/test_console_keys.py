# SPDX-License-Identifier: Apache-2.0
"""Tests for host keys in consoles."""

import base64
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.guests import console
from rally_vmperf.machines.remote import hostkey

PAIRS = [hostkey.generate(name) for name in ("root@one", "root@two")]
FIRST, SECOND = (pair.public for pair in PAIRS)


def block(*lines):
    """Return lines as cloud-init prints keys, amid a boot."""
    shown = [
        "-----BEGIN SSH HOST KEY KEYS-----",
        *lines,
        "-----END SSH HOST KEY KEYS-----",
    ]
    return "\n".join(["[  OK  ] Started x.", *shown, "", "debian login: "])


class LongConsoleTestCase(unittest.TestCase):
    """The searched text is bounded, and the time is linear."""

    def test_lines_and_all_of_it_are_cut(self):
        text = console.clean_text(("x" * 5000 + "\n") * 5000)
        self.assertLessEqual(len(text), 1 << 18)
        self.assertEqual({2000}, set(map(len, text.splitlines()[1:])))

    def test_a_megabyte_of_beginnings(self):
        """Their square is 10 to the 9: one pass is not noticed."""
        begin = "-----BEGIN SSH HOST KEY KEYS-----\n"
        shown = begin * 30_000
        self.assertEqual([], console.read_keys(shown))
        self.assertEqual(
            [bare(FIRST)], console.read_keys(shown + block(FIRST))
        )
        for line in ("Failed to start ", "cloud-init[1]: ", "\x1b[", "\x1b"):
            console.find_hints(console.clean_text(line * 100_000))
            self.assertEqual([], console.find_hints(line * 100_000))


def bare(line):
    return " ".join(line.split()[:2])


@ddt.ddt
class ReadTest(unittest.TestCase):
    def test_all_of_a_block_without_comments(self):
        text = block(FIRST, "[   40.1] random: crng init done", SECOND)
        self.assertEqual([bare(FIRST), bare(SECOND)], console.read_keys(text))

    def test_keys_that_are_read_can_be_pinned(self):
        (line,) = console.read_keys(block(FIRST))
        (key,) = hostkey.parse_host_keys(line)
        self.assertEqual(
            hostkey.parse_host_keys(FIRST)[0].public_data, key.public_data
        )

    def test_the_last_boot_counts(self):
        text = block(FIRST) + block(SECOND)
        self.assertEqual([bare(SECOND)], console.read_keys(text))

    @ddt.data(
        "",
        FIRST,
        block(),
        block(FIRST).partition("-----END")[0],
        block("ssh-ed25519 AAAAshort"),
        block("ssh-ed25519 " + "AAAA" * 17),
        block("ssh-rsa " + FIRST.split()[1]),
        block("ssh-dss " + "A" * 99),
        block(FIRST.replace(" AAAA", " AAAA;")),
    )
    def test_no_keys(self, text):
        self.assertEqual([], console.read_keys(text))

    @hypothesis.given(
        strategies.binary(max_size=400), strategies.integers(0, 2)
    )
    def test_invented_output_is_a_key_or_omitted(self, tail, which):
        """Each returned key can be pinned."""
        begin = base64.b64decode(FIRST.split()[1])[: (4, 20, 40)[which]]
        forged = base64.b64encode(begin + tail).decode()
        for line in console.read_keys(block(f"ssh-ed25519 {forged}")):
            hostkey.parse_host_keys(line)

    def test_not_more_than_a_few(self):
        lines = [hostkey.generate("x").public for _ in range(20)]
        self.assertEqual(8, len(console.read_keys(block(*lines))))

    @ddt.data(
        (block(FIRST, SECOND), False),
        (block(SECOND), True),
        ("debian login:", False),
    )
    @ddt.unpack
    def test_differ(self, text, expected):
        self.assertIs(expected, console.has_other_keys(text, FIRST))
