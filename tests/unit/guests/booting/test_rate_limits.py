"""Tests for the policies that limit the rates of guests."""

import dataclasses
import unittest

import ddt

from rally_vmperf.guests.booting import rate_limits
from tests.unit.guests import made
from tests.unit.guests import testing


def flavor(**specs):
    """Return a flavor with quotas."""
    return dataclasses.replace(
        made.guest().flavor,
        extra_specs={f"quota:{key}": value for key, value in specs.items()},
    )


@ddt.ddt
class FlavorTest(unittest.TestCase):
    """Quotas of a flavor."""

    @ddt.unpack
    @ddt.data(
        ("disk_read_bytes_sec", "1000000", ("disk", "B/s", 1e6)),
        ("disk_total_iops_sec", "500", ("disk", "ops/s", 500.0)),
        ("vif_outbound_average", "1250", ("network", "bit/s", 1e7)),
        ("vif_outbound_peak", "1250", None),
        ("disk_read_bytes_sec_max", "1250", None),
        ("disk_read_bytes_sec", "0", None),
        ("disk_read_bytes_sec", "many", None),
        ("cpu_quota", "5000", None),
    )
    def test_rates(self, key, value, expected):
        findings, caps = rate_limits.find_flavor_limits(flavor(**{key: value}))
        self.assertEqual(
            [expected] if expected else [],
            [(cap.part, cap.unit, cap.rate) for cap in caps],
        )
        (limit,) = findings
        self.assertEqual("rate_limited_by_policy", limit.kind)
        self.assertEqual(f"quota:{key}={value}", limit.detail)

    def test_without(self):
        self.assertEqual(([], []), rate_limits.find_flavor_limits(flavor()))


class VolumeTypeTest(unittest.TestCase):
    """QoS specifications of volumes, which administrators see."""

    def setUp(self):
        self.cloud = testing.FakeCloud()
        self.cloud.block_storage.answers = {
            "/types": {
                "volume_types": [
                    {"name": "ssd", "qos_specs_id": "q1"},
                    {"name": "hdd", "qos_specs_id": None},
                ]
            },
            "/qos-specs/q1": {
                "qos_specs": {"specs": {"total_iops_sec": "2000"}}
            },
        }

    def test_with(self):
        findings, (cap,) = rate_limits.find_volume_type_limits(
            self.cloud, "ssd"
        )
        self.assertEqual(("ops/s", 2000.0), (cap.unit, cap.rate))
        self.assertEqual("total_iops_sec=2000", findings[0].detail)

    def test_without(self):
        for name in ("hdd", "other"):
            self.assertEqual(
                ([], []), rate_limits.find_volume_type_limits(self.cloud, name)
            )

    def test_without_an_administrator(self):
        guest_limits = rate_limits.find_guest_limits(
            self.cloud,
            None,
            flavors=[],
            volume_types=["ssd"],
            port_policies=[],
            progress=self.fail,
        )
        self.assertEqual(([], []), guest_limits)
        self.assertEqual([], self.cloud.calls)
