# SPDX-License-Identifier: Apache-2.0
"""Tests of the text of values on pages."""

import unittest

import ddt

from rally_vmperf.report import text


@ddt.ddt
class FlattenTestCase(unittest.TestCase):
    """JSON values are one short line."""

    @ddt.data(
        (None, "unknown"),
        (True, "yes"),
        ([1, [2.5, False]], "1, 2.5, no"),
        ({"a": {"b": ["x"]}, "c": ""}, "a=b=x, c="),
    )
    @ddt.unpack
    def test_value(self, value, expected):
        self.assertEqual(expected, text.flatten(value))

    def test_long_value_is_cut(self):
        line = text.flatten(["word"] * 500)
        self.assertEqual(text.MAX_CELL_CHARACTERS, len(line))
        self.assertTrue(line.endswith("…"))


class MarkupTestCase(unittest.TestCase):
    """Names wrap, and are escaped."""

    def test_name_can_wrap_after_its_dots(self):
        self.assertEqual(
            "cpu.<wbr>&lt;b&gt;.<wbr>rate", text.breakable("cpu.<b>.rate")
        )

    def test_time_is_in_utc(self):
        self.assertEqual(
            "2026-03-04 05:06:07 UTC",
            text.format_time("2026-03-04T05:06:07+00:00"),
        )
