# SPDX-License-Identifier: Apache-2.0
"""Tests of the page of an audit."""

import types
import unittest
from unittest import mock

from rally_vmperf.audit import page
from tests.unit.audit import made


class TestStrip(unittest.TestCase):
    """A strip of hosts, whose names are those of a cloud."""

    def test_hostile_name(self):
        """It is text without control and direction characters."""
        change = types.SimpleNamespace(
            host="h\x1b[2J\u202e<script>",
            status="worse",
            margin=5.0,
            decision=types.SimpleNamespace(loss=9.0),
        )
        strip = page.Strip(figure=made.figure(), changes=(change,))
        with mock.patch(
            "rally_vmperf.audit.host_table.describe_loss",
            autospec=True,
            return_value="9 % worse",
        ):
            html = page._draw_strip(strip, 10.0)
        self.assertIn("h\N{REPLACEMENT CHARACTER}[2J", html)
        self.assertIn("&lt;script&gt;", html)
        self.assertNotRegex(html, "[\x00-\x08\x1b\u202e]|<script")
