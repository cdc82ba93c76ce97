# SPDX-License-Identifier: Apache-2.0
"""Tests for the policies that limit the rates of guests."""

import dataclasses
import unittest
from unittest import mock

import ddt

from rally_vmperf.guests import models
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
        ("disk_read_bytes_sec", "many", None),
        # Half of the default period of libvirt, 100 ms.
        ("cpu_quota", "50000", ("cpu", "%", 50.0)),
        ("cpu_period", "50000", None),
    )
    def test_rates(self, key, value, expected):
        findings, caps = rate_limits.find_flavor_limits(flavor(**{key: value}))
        self.assertEqual(
            [expected] if expected else [],
            [(cap.part, cap.unit, cap.rate) for cap in caps],
        )
        limit, *_ = findings
        self.assertEqual("rate_limited_by_policy", limit.kind)
        self.assertEqual(f"quota:{key}={value}", limit.detail)

    @ddt.unpack
    @ddt.data(
        ({"vif_outbound_peak": "1250"}, ["vif_outbound_peak=1250"]),
        ({"disk_read_bytes_sec": "1.0"}, ["disk_read_bytes_sec=1.0"]),
        (
            {"cpu_limit": "1000", "cpu_reservation": "500"},
            ["cpu_limit=1000", "cpu_reservation=500"],
        ),
        # They promise nothing.
        (
            {
                "cpu_period": "50000",
                "cpu_shares": "1024",
                "cpu_shares_level": "high",
                "memory_limit": "0",
            },
            [],
        ),
        ({"cpu_quota": "-1"}, []),
        # They belong to a limit.
        (
            {
                "vif_outbound_average": "1000",
                "vif_outbound_peak": "2000",
                "vif_outbound_burst": "500",
                "cpu_quota": "50000",
                "cpu_period": "100000",
            },
            [],
        ),
    )
    def test_promises_without_a_rate(self, quotas, expected):
        """No promise disappears that is not compared."""
        findings, _ = rate_limits.find_flavor_limits(flavor(**quotas))
        self.assertEqual(
            [f"quota:{text}" for text in expected],
            [
                found.detail.partition(": ")[0]
                for found in findings
                if found.kind == "promise_not_checked"
            ],
        )

    @ddt.data(
        {"disk_read_bytes_sec": "0"},
        {"cpu_quota": "-1", "memory_limit": "0"},
    )
    def test_unlimited(self, quotas):
        """An option without a limit limits no rate."""
        self.assertEqual(
            ([], []), rate_limits.find_flavor_limits(flavor(**quotas))
        )

    def test_hidden_extra_specs(self):
        """They can have limits, which nobody knows."""
        hidden = dataclasses.replace(flavor(), has_hidden_extra_specs=True)
        (not_checked,), caps = rate_limits.find_flavor_limits(hidden)
        self.assertEqual([], caps)
        self.assertEqual("promise_not_checked", not_checked.kind)
        self.assertIn("hides its extra specs", not_checked.detail)

    def test_without(self):
        self.assertEqual(([], []), rate_limits.find_flavor_limits(flavor()))

    @ddt.data(
        "disk_read_iops_sec_max",
        "disk_read_iops_sec_max_length",
        "disk_size_iops_sec",
        "disk_io_limit",
    )
    def test_disk_options_that_nova_ignores(self, key):
        """They change no limit: QEMU has neither burst nor size then."""
        quotas = flavor(disk_read_iops_sec="1000", **{key: "4096"})
        findings, (cap,) = rate_limits.find_flavor_limits(quotas)
        self.assertEqual(
            (1000, 0, 0), (cap.rate, cap.burst, cap.request_bytes)
        )
        limit, ignored = findings
        self.assertEqual("quota:disk_read_iops_sec=1000", limit.detail)
        self.assertEqual("promise_not_checked", ignored.kind)
        self.assertIn(f"quota:{key}=4096: Nova ignores it", ignored.detail)

    @ddt.unpack
    @ddt.data(
        ("disk_read_bytes_sec", "read"),
        ("disk_write_iops_sec", "write"),
        ("disk_total_bytes_sec", "total"),
        ("vif_inbound_average", "ingress"),
        ("vif_outbound_average", "egress"),
    )
    def test_directions(self, key, direction):
        _, (cap,) = rate_limits.find_flavor_limits(flavor(**{key: "1000"}))
        self.assertEqual(direction, cap.direction)
        self.assertFalse(cap.is_guarantee)
        self.assertEqual(direction == "egress", cap.burst > 0)

    @ddt.unpack
    @ddt.data(
        # Kilobytes per second, and kibibytes.
        (
            {
                "vif_outbound_average": "1000",
                "vif_outbound_peak": "2000",
                "vif_outbound_burst": "500",
            },
            8e6,
            500 * 8192,
        ),
        # "police rate 2000kbps burst 2000kb", or that of Open vSwitch.
        ({"vif_outbound_average": "2000"}, 16e6, 2000 * 8192),
        ({"vif_outbound_average": "500"}, 4e6, 8e6),
        ({"vif_inbound_average": "2000"}, 16e6, 0),
    )
    def test_bursts(self, quotas, rate, burst):
        _, (cap,) = rate_limits.find_flavor_limits(flavor(**quotas))
        self.assertEqual((rate, burst), (cap.rate, cap.burst))

    def test_cpu_period(self):
        quotas = flavor(cpu_quota="10000", cpu_period="20000")
        _, (cap,) = rate_limits.find_flavor_limits(quotas)
        self.assertEqual(50, cap.rate)


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

    def read(self, size_gib, **specs):
        """Return the caps of a volume by unit and direction."""
        self.answer(specs)
        _, caps = rate_limits.find_volume_type_limits(
            self.cloud, "ssd", size_gib
        )
        return {
            (cap.unit, cap.direction): (cap.rate, cap.burst) for cap in caps
        }

    def answer(self, specs, **properties):
        """Let Cinder return QoS specifications."""
        self.cloud.block_storage.answers["/qos-specs/q1"] = {
            "qos_specs": {
                "specs": {key: str(value) for key, value in specs.items()},
                **properties,
            }
        }

    def find_not_checked(self):
        """Return the details of the promises that are not checked."""
        findings, _ = rate_limits.find_volume_type_limits(
            self.cloud, "ssd", 10
        )
        return [
            found.detail
            for found in findings
            if found.kind == "promise_not_checked"
        ]

    def test_promises_without_a_rate(self):
        """Neither those of the storage nor mistakes disappear."""
        self.answer(
            {
                "maxIOPS": "1000",
                "total_iops_sec": "1000.0",
                "read_bytes_sec": "5000",
                "read_bytes_sec_max": "6000",
                "read_bytes_sec_max_length": "60",
                "size_iops_sec": "4096",
                "write_iops_sec_per_gb": "3",
                "write_iops_sec_per_gb_min": "100",
            }
        )
        self.assertEqual(
            [
                "maxIOPS=1000",
                "read_bytes_sec_max_length=60",
                "total_iops_sec=1000.0",
            ],
            [text.partition(": ")[0] for text in self.find_not_checked()],
        )

    def test_limits_that_nova_does_not_apply(self):
        """They are those of the storage, which may apply them."""
        specs = {"read_iops_sec": "1000", "total_bytes_sec": "0"}
        for consumer, expected in (("back-end", 1), ("both", 0)):
            self.answer(specs, consumer=consumer)
            _, caps = rate_limits.find_volume_type_limits(self.cloud, "ssd")
            self.assertEqual(1 - expected, len(caps))
            not_checked = self.find_not_checked()
            self.assertEqual(expected, len(not_checked))
        self.answer(specs, consumer="back-end")
        (detail,) = self.find_not_checked()
        self.assertIn("read_iops_sec=1000: Nova does not apply it", detail)

    def test_limits_by_size(self):
        # The sizes, specifications and results of Cinder's own tests.
        specs = {
            "write_iops_sec_per_gb_min": 800,
            "write_iops_sec_per_gb": 30,
            "total_iops_sec_per_gb_min": 900_000,
            "total_iops_sec_per_gb": 300_000,
            "total_iops_sec_max": 15_000_000,
            "read_bytes_sec_per_gb": 10,
        }
        for size, writes, total, reads in (
            (1, 800, 900_000, 10),
            (100, 3000, 15_000_000, 1000),
        ):
            self.assertEqual(
                {
                    ("ops/s", "write"): (writes, 0),
                    ("ops/s", "total"): (total, 0),
                    ("B/s", "read"): (reads, 0),
                },
                self.read(size, **specs),
            )

    def test_burst(self):
        """Nova hands over no length, so that a burst lasts a second."""
        for length in ({}, {"read_iops_sec_max_length": 60}):
            caps = self.read(
                10, read_iops_sec=100, read_iops_sec_max=400, **length
            )
            self.assertEqual({("ops/s", "read"): (100, 400)}, caps)

    def test_size_of_operations(self):
        """It concerns limits on operations only."""
        self.cloud.block_storage.answers["/qos-specs/q1"] = {
            "qos_specs": {
                "specs": {
                    "total_iops_sec": "2000",
                    "total_bytes_sec": "9000000",
                    "size_iops_sec": "4096",
                }
            }
        }
        _, caps = rate_limits.find_volume_type_limits(self.cloud, "ssd")
        self.assertEqual(
            {"ops/s": 4096, "B/s": 0},
            {cap.unit: cap.request_bytes for cap in caps},
        )


class GuestLimitsTest(unittest.TestCase):
    """The policies of booted guests, and those that a login cannot read."""

    def setUp(self):
        self.cloud = testing.FakeCloud()

    def find(self, *guests, admin=None, policies=()):
        """Return the findings and the caps of guests by volume."""
        return rate_limits.find_guest_limits(
            self.cloud,
            admin,
            guests=guests,
            port_policies=dict(policies),
            progress=self.fail,
        )

    def test_guests_of_a_flavor(self):
        limited = flavor(disk_read_iops_sec="1000")
        other = dataclasses.replace(made.guest().flavor, id="other")
        _, caps = self.find(
            dataclasses.replace(made.guest("g1"), flavor=limited),
            dataclasses.replace(made.guest("g2"), flavor=other),
            dataclasses.replace(made.guest("g3"), flavor=limited),
        )
        ((cap,),) = caps.values()
        self.assertEqual(("g1", "g3"), cap.guests)

    def test_guests_that_boot_from_a_volume(self):
        """Nova limits their vCPUs and interfaces by the flavor, not disks."""
        limited = flavor(disk_read_iops_sec="1000", cpu_quota="50000")
        local = dataclasses.replace(made.guest("g1"), flavor=limited)
        volume = models.Disk(source="volume", size_gib=10)
        from_volume = dataclasses.replace(
            made.guest("g2"), flavor=limited, disk=volume
        )
        findings, caps = self.find(local, from_volume)
        self.assertEqual(
            [("disk", ("g1",)), ("cpu", ("g1",)), ("cpu", ("g2",))],
            [(cap.part, cap.guests) for cap in caps[0]],
        )
        (not_checked,) = (
            found for found in findings if found.kind == "promise_not_checked"
        )
        self.assertEqual(f"flavor {limited.name}", not_checked.subject)
        self.assertIn("quota:disk_read_iops_sec: Nova", not_checked.detail)

    def test_data_volumes(self):
        """Limits per GB follow from the size of each volume."""
        self.cloud.block_storage.answers = {
            "/types": {
                "volume_types": [{"name": "ssd", "qos_specs_id": "q1"}]
            },
            "/qos-specs/q1": {
                "qos_specs": {"specs": {"total_iops_sec_per_gb": "30"}}
            },
        }
        guests = [
            made.guest(
                name,
                volumes=tuple(
                    models.Volume(id=name, size_gib=size, type=kind)
                    for size, kind in volumes
                ),
            )
            for name, volumes in (
                ("g1", [(10, "ssd"), (20, "ssd")]),
                ("g2", [(10, "ssd")]),
                ("g3", [(10, "hdd")]),
            )
        ]
        findings, caps = self.find(*guests, admin=self.cloud)
        self.assertEqual({0, 1, 2}, caps.keys())
        self.assertEqual(
            [(300, ("g1", "g2")), (600, ("g1",))],
            [(cap.rate, cap.guests) for cap in (*caps[1], *caps[2])],
        )
        self.assertEqual(
            ["rate_limited_by_policy"], [found.kind for found in findings]
        )

    def test_data_volumes_without_an_administrator(self):
        volume = models.Volume(id="v1", size_gib=10, type="ssd")
        (hidden,), _ = self.find(made.guest(volumes=(volume, volume)))
        self.assertEqual("promise_not_checked", hidden.kind)

    def test_without_an_administrator(self):
        disk = models.Disk(source="volume", size_gib=10, type="ssd")
        findings, caps = self.find(
            dataclasses.replace(made.guest(), disk=disk)
        )
        self.assertEqual({0: []}, caps)
        (hidden,) = findings
        self.assertEqual("promise_not_checked", hidden.kind)
        self.assertEqual("volume type ssd", hidden.subject)
        self.assertIn("administrators only", hidden.detail)
        self.assertEqual([], self.cloud.calls)


@ddt.ddt
class PortTest(unittest.TestCase):
    """QoS policies of ports."""

    def find(self, *rules):
        """Return the findings and the caps of a policy."""
        self.cloud = testing.FakeCloud()
        policy = mock.Mock(rules=rules)
        policy.name = "gold"
        self.cloud.network.get_qos_policy = mock.Mock(return_value=policy)
        return rate_limits.find_port_limits(self.cloud, "p1")

    @ddt.unpack
    @ddt.data(
        ({"max_kbps": 1000}, (1e6, 1e6, "egress", False)),
        (
            {"max_kbps": 1000, "max_burst_kbps": 0, "direction": "ingress"},
            (1e6, 1e6, "ingress", False),
        ),
        (
            {"max_kbps": 1000, "max_burst_kbps": 300, "direction": "egress"},
            (1e6, 3e5, "egress", False),
        ),
        ({"min_kbps": 500, "direction": "egress"}, (5e5, 0, "egress", True)),
    )
    def test_rules(self, rule, expected):
        findings, (cap,) = self.find(rule)
        self.assertEqual(
            expected, (cap.rate, cap.burst, cap.direction, cap.is_guarantee)
        )
        # A guarantee limits nothing.
        self.assertEqual(not cap.is_guarantee, bool(findings))

    def test_packet_rates(self):
        (unchecked,), caps = self.find(
            {"max_kpps": 100, "direction": "ingress"}
        )
        self.assertEqual([], caps)
        self.assertEqual("promise_not_checked", unchecked.kind)
        self.assertIn("ingress max_kpps=100", unchecked.detail)
