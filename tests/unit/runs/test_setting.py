# SPDX-License-Identifier: Apache-2.0
"""Tests of the setting of a run."""

import unittest

from rally_vmperf.execution import assignment
from rally_vmperf.guests import models
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.runs import setting
from tests.unit.guests import made


class GuestTest(unittest.TestCase):
    def test_guest_without_data_volumes(self):
        facts = setting._encode_guest(made.guest())
        self.assertNotIn("volumes", facts)
        self.assertNotIn("has_hidden_extra_specs", facts["flavor"])

    def test_data_volumes(self):
        """Equal ones are counted, and their identifiers omitted."""
        volumes = tuple(
            models.Volume(
                id=name, size_gib=size, type=kind, requested_type=kind
            )
            for name, size, kind in (
                ("v1", 20, "ssd"),
                ("v2", 20, "ssd"),
                ("v3", 5, None),
            )
        )
        facts = setting._encode_guest(made.guest(volumes=volumes))
        self.assertEqual(
            [
                {"size_gib": 20, "type": "ssd", "count": 2},
                {"size_gib": 5, "count": 1},
            ],
            facts["volumes"],
        )
        self.assertEqual({"volume_type": "ssd"}, facts["settings"])


class FindingsTest(unittest.TestCase):
    def test_limit_of_some_volumes(self):
        """It is in the record, as a promise that is not checked."""
        booted = models.BootedGuests(
            guests=(made.guest(),),
            client_key="",
            volume_caps={
                1: (rate_caps.disk(9, "ops/s", "ssd"),),
                2: (),
            },
        )
        fio = assignment.create_assignment(
            {"name": "fio", "arguments": {"target": "volumes"}}
        )
        built = setting.build_setting(booted, [fio])
        self.assertEqual(
            [("promise_not_checked", "ssd")],
            [(found.kind, found.subject) for found in built.findings],
        )
        self.assertEqual((), built.rate_limits)
