# SPDX-License-Identifier: Apache-2.0
import asyncio
import unittest

import hypothesis
from hypothesis import strategies as st

from rally_vmperf.machines import streams


class Chunks:
    def __init__(self, chunks):
        self.chunks = [chunk for chunk in chunks if chunk]

    async def read(self, n=-1):
        return self.chunks.pop(0) if self.chunks else b""


class Sink:
    def write(self, data):
        raise BrokenPipeError

    async def drain(self):
        """Never reached."""

    def write_eof(self):
        """Never reached."""


class ExchangeTestCase(unittest.TestCase):
    def exchange(self, stdout, limit):
        return asyncio.run(
            streams.exchange(Sink(), Chunks(stdout), Chunks([]), b"x", limit)
        )

    @hypothesis.given(st.text(), st.integers(1, 7))
    def test_characters_are_not_torn(self, text, size):
        raw = text.encode("utf-8", "surrogatepass")
        chunks = [raw[i : i + size] for i in range(0, len(raw), size)]
        printed, _ = self.exchange(chunks, len(raw))
        self.assertEqual(raw.decode("utf-8", "replace"), printed)

    def test_the_limit_is_exact(self):
        self.assertEqual(("abc", ""), self.exchange([b"ab", b"c"], 3))
        with self.assertRaises(streams.Overflow):
            self.exchange([b"ab", b"cd"], 3)

    def test_signals(self):
        self.assertEqual(137, streams.shell_status(-9))
        self.assertEqual(5, streams.shell_status(5))
