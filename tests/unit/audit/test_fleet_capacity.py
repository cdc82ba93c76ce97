# SPDX-License-Identifier: Apache-2.0
"""Tests of the capacity of all hosts."""

import unittest

import ddt

from rally_vmperf import errors
from rally_vmperf.audit import fleet_capacity
from tests.unit.audit import made

INVENTORY = {
    "VCPU": {"total": 32, "reserved": 0, "allocation_ratio": 4.0},
    "MEMORY_MB": {"total": 400_000, "reserved": 1024, "allocation_ratio": 1},
    "DISK_GB": {"total": 2000, "reserved": 0, "allocation_ratio": 1.0},
}


def host(name, numbers, cpus=32):
    return made.host(name, capacities=numbers, cpus=cpus)


@ddt.ddt
class TestCapacity(unittest.TestCase):
    """One sentence per flavor, and one in all."""

    def sentences(self, *audited, **options):
        return [
            capacity.sentence()
            for capacity in fleet_capacity.sum_capacities(audited, **options)
        ]

    def test_sentence(self):
        """It has Placement's number next to the measured one."""
        audited = [
            host(f"h{number}", {"m1.large": made.guests(22, high=22)})
            for number in range(12)
        ]
        inventories = {f"h{number}": INVENTORY for number in range(12)}
        self.assertEqual(
            [
                "12 hosts: Placement admits 384 guests of m1.large "
                "(allocation ratio 4.0), 264 keep the limits (2.75 vCPUs per "
                "CPU)"
            ],
            self.sentences(*audited, inventories=inventories),
        )

    def test_without_placement(self):
        """Only the measured number is stated."""
        self.assertEqual(
            [
                "1 host: 2 guests of m1.small keep the limits (0.25 vCPUs "
                "per CPU)"
            ],
            self.sentences(host("a", {"m1.small": made.guests(2, high=2)})),
        )

    def test_lower_bound(self):
        """The largest level passed on one of the hosts."""
        (sentence,) = self.sentences(
            host("a", {"m1.small": made.guests(4, high=4)}),
            host("b", {"m1.small": made.guests(8)}),
        )
        self.assertIn("2 hosts: at least 12 guests of m1.small", sentence)

    @ddt.data(
        # tested, high, low, has a free guest: proven, is a lower bound
        (0, 1, 0, True, 1, False),
        (0, 0, 0, False, 0, False),
        (0, 0, 0, True, 0, False),
        (None, None, 0, True, 1, True),
        (None, None, 0, False, 0, True),
        (None, 5, 2, True, 2, True),
        (3, 3, 3, True, 3, False),
        (3, 5, 3, True, 3, True),
    )
    @ddt.unpack
    def test_numbers_of_a_host(self, tested, high, low, free, proven, bound):
        """A single guest is the reference, and keeps the limits."""
        capacity = made.guests(tested, high, low, has_free_guest=free).found
        self.assertEqual(
            (proven, bound), (capacity.proven, capacity.is_lower_bound)
        )

    def test_in_all(self):
        """A host with several flavors counts with the fewest vCPUs."""
        audited = [
            host(
                "a",
                {
                    "small": made.guests(30, high=30, vcpus=1),
                    "large": made.guests(10, high=10, vcpus=4),
                },
            ),
            host("b", {"large": made.guests(8, high=8, vcpus=4)}),
        ]
        self.assertEqual(
            [
                "1 host: 30 guests of small keep the limits (0.94 vCPUs per "
                "CPU)",
                "2 hosts: 18 guests of large keep the limits (1.12 vCPUs per "
                "CPU)",
                "2 hosts in all: 62 vCPUs keep the limits (0.97 vCPUs per "
                "CPU)",
            ],
            self.sentences(*audited),
        )
        last = self.sentences(
            *audited, inventories={"a": INVENTORY, "b": INVENTORY}
        )[-1]
        self.assertIn("Placement admits 176 vCPUs", last)

    def test_scarcest_resource(self):
        """Placement admits what memory allows, without what is reserved."""
        inventory = {
            **INVENTORY,
            "MEMORY_MB": {
                "total": 9 * 8192,
                "reserved": 8192,
                "allocation_ratio": 1.5,
            },
        }
        (sentence,) = self.sentences(
            host("a", {"m": made.guests(2, high=2)}),
            inventories={"a": inventory},
        )
        self.assertIn("Placement admits 12 guests of m", sentence)

    def test_shared_disks(self):
        """Belong to another provider; a host without CPUs admits none."""
        inventory = {**INVENTORY}
        del inventory["DISK_GB"]
        audited_host = host("a", {"m": made.guests(2, high=2)})
        (sentence,) = self.sentences(
            audited_host, inventories={"a": inventory}
        )
        self.assertIn("admits 32 guests", sentence)
        (sentence,) = self.sentences(audited_host, inventories={"a": {}})
        self.assertIn("admits 0 guests", sentence)

    def test_unknown_inventory(self):
        """If that of one host is unknown, so is the sum."""
        number = {"m": made.guests(2, high=2)}
        (sentence,) = self.sentences(
            host("a", number), host("b", number), inventories={"a": INVENTORY}
        )
        self.assertNotIn("Placement", sentence)

    def test_long_names(self):
        """Placement may have a fully qualified name."""
        (sentence,) = self.sentences(
            host("a", {"m": made.guests(2, high=2)}),
            inventories={"a.example.org": INVENTORY},
        )
        self.assertIn("Placement", sentence)

    def test_allocation_ratios(self):
        """The smallest and the largest are stated."""
        other = {
            **INVENTORY,
            "VCPU": {"total": 32, "reserved": 0, "allocation_ratio": 16.0},
        }
        number = {"m": made.guests(2, high=2)}
        (sentence,) = self.sentences(
            host("a", number),
            host("b", number),
            inventories={"a": INVENTORY, "b": other},
        )
        self.assertIn("(allocation ratio 4.0 to 16.0)", sentence)

    def test_unknown_cpus(self):
        """The share of CPUs is omitted."""
        (sentence,) = self.sentences(
            host("a", {"m": made.guests(1, high=1)}, cpus=None)
        )
        self.assertEqual("1 host: 1 guests of m keeps the limits", sentence)

    @ddt.data(({"": 5}, True), ({"m": 4}, False), ({"m": 5, "": 1}, True))
    @ddt.unpack
    def test_required(self, required, is_too_small):
        """A lower bound that is too small proves nothing, and fails."""
        (capacity,) = fleet_capacity.sum_capacities(
            [host("a", {"m": made.guests(4)})], required=required
        )
        self.assertEqual(is_too_small, capacity.is_too_small)
        self.assertEqual(
            is_too_small, "fewer than the required 5" in capacity.sentence()
        )

    def test_required_but_not_measured(self):
        """It is an error that names the flavors."""
        audited = [host("a", {"m": made.guests(4)})]
        with self.assertRaisesRegex(errors.VMPerfError, r"it has: m\)"):
            fleet_capacity.sum_capacities(audited, required={"x": 1})
        with self.assertRaisesRegex(errors.VMPerfError, "density: true"):
            fleet_capacity.sum_capacities([made.host("a")], required={"": 1})

    def test_no_capacities(self):
        """No sentence."""
        self.assertEqual([], self.sentences(made.host("a")))
