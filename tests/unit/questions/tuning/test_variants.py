# SPDX-License-Identifier: Apache-2.0
"""Tests of the groups of guests that variants are."""

import unittest

from rally_vmperf.guests import request
from rally_vmperf.questions.tuning import variants

GUEST = {
    "image": {"name": "i"},
    "flavor": {"name": "f"},
    "count": 2,
    "user": "debian",
    "network": {"name": "lan"},
    "extra_specs": {"hw:cpu_policy": "shared"},
    "volumes": [{"size_gib": 20}],
}
VARIANTS = [
    {"name": "e1000", "image_properties": {"hw_vif_model": "e1000"}},
    {
        "name": "wide",
        "flavor": {"name": "big"},
        "extra_specs": {"hw:numa_nodes": "2"},
        "network": {"name": "wan"},
        "boot_volume": {"size_gib": 8},
        "volumes": [{"size_gib": 20, "type": "ssd"}],
        "host": "h2",
    },
]


class TestVariants(unittest.TestCase):
    """A variant is the guest of the task with its changes."""

    def options(self, **arguments):
        """Return the options with a group for each variant."""
        return variants.create_guest_options(
            variants.Arguments(
                workloads=[], **{"variants": VARIANTS, **arguments}
            ),
            GUEST,
        )

    def test_groups(self):
        """Extra specs are added to those of the task."""
        self.assertEqual(
            {
                "user": "debian",
                "network": {"name": "lan"},
                "groups": [
                    {
                        "name": "e1000",
                        "image": {"name": "i"},
                        "flavor": {"name": "f"},
                        "count": 2,
                        "extra_specs": {"hw:cpu_policy": "shared"},
                        "image_properties": {"hw_vif_model": "e1000"},
                        "volumes": [{"size_gib": 20}],
                    },
                    {
                        "name": "wide",
                        "image": {"name": "i"},
                        "flavor": {"name": "big"},
                        "count": 2,
                        "extra_specs": {
                            "hw:cpu_policy": "shared",
                            "hw:numa_nodes": "2",
                        },
                        "network": {"name": "wan"},
                        "boot_volume": {"size_gib": 8},
                        "volumes": [{"size_gib": 20, "type": "ssd"}],
                        "host": "h2",
                    },
                ],
            },
            self.options(),
        )

    def test_reference(self):
        """Its group is the first one, whose shape all workloads have."""
        options = self.options(reference="wide")
        self.assertEqual(
            ["wide", "e1000"], [group["name"] for group in options["groups"]]
        )
        self.assertEqual(
            {"wide": ["g1", "g2"], "e1000": ["g3", "g4"]},
            variants.list_guests(options),
        )
        self.assertEqual(
            "e1000",
            variants.Arguments(
                workloads=[], variants=VARIANTS
            ).get_reference(),
        )

    def test_request(self):
        """The request has the network and the host of each group."""
        guest_request = request.parse_config(self.options())
        e1000, wide = guest_request.groups
        self.assertEqual(
            ("lan", None),
            (
                guest_request.for_group(e1000).network.value,
                guest_request.for_group(e1000).host,
            ),
        )
        self.assertEqual(
            ("wan", "h2", 2),
            (
                guest_request.for_group(wide).network.value,
                guest_request.for_group(wide).host,
                guest_request.for_group(wide).count,
            ),
        )
        self.assertIsNone(guest_request.host)

    def test_unknown_properties(self):
        """Only names that Nova reserves are compared with its own."""
        self.assertEqual(
            ["quota:cpu_share", "hw_vif_modell"],
            variants.find_unknown_properties(
                {
                    "name": "v",
                    "extra_specs": {
                        "hw:numa_cpus.1": "0,1",
                        "quota:cpu_share": "5",
                        "aggregate_instance_extra_specs:x": "1",
                    },
                    "image_properties": {
                        "hw_vif_modell": "e1000",
                        "hw_vif_model": "e1000",
                        "vendor": "x",
                    },
                }
            ),
        )
