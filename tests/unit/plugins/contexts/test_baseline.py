# SPDX-License-Identifier: Apache-2.0
"""Tests of the context that loads a baseline."""

import tempfile
import unittest
from unittest import mock

import ddt
import jsonschema

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.plugins import contexts
from tests.unit import made


@ddt.ddt
class TestBaseline(unittest.TestCase):
    """The option is a name, a mapping, or none."""

    def set_up(self, option):
        """Return Rally's context after the set-up with an option."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        store.Store(folder).save(made.baseline(name="metal"))
        options = mock.Mock(baseline_dir=folder)
        self.enterContext(
            mock.patch.object(contexts, "CONF", mock.Mock(vmperf=options))
        )
        self.enterContext(
            mock.patch("rally_vmperf.termination.as_interrupt", autospec=True)
        )
        rally = {"config": {"vmperf_baseline": option}, "task": {}}
        contexts.Baseline(rally).setup()
        return rally

    @ddt.data("metal", {"name": "metal"})
    def test_name(self, option):
        found = self.set_up(option)["vmperf_baseline"]["document"]
        self.assertEqual("metal", found.name)

    @ddt.data("none", "", {}, None)
    def test_none(self, option):
        """Guests are measured alone."""
        self.assertNotIn("vmperf_baseline", self.set_up(option))

    def test_unknown_name(self):
        with self.assertRaisesRegex(document.BaselineError, "'mteal'"):
            self.set_up("mteal")

    @ddt.data(
        ("none", True),
        ("", True),
        ({}, True),
        ("r740", True),
        ({"class": "r740"}, True),
        ({"name": "a", "class": "b"}, False),
        ({"nmae": "a"}, False),
        ("../a", False),
        (2024, False),
    )
    @ddt.unpack
    def test_schema(self, option, valid):
        rule = jsonschema.Draft7Validator(contexts.Baseline.CONFIG_SCHEMA)
        self.assertEqual(valid, rule.is_valid(option))
