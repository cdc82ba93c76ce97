# SPDX-License-Identifier: Apache-2.0
"""Tests for temporary copies of flavors and images."""

import itertools
import unittest
from unittest import mock

import ddt
import requests

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests.booting import boot
from rally_vmperf.guests.planning import plan
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import image as fake_image

SMALL = {"image": {"name": "debian"}, "flavor": {"name": "small"}}
PINNED = {"hw:cpu_policy": "dedicated"}
E1000 = {"hw_vif_model": "e1000"}


def group(name, **options):
    """Return the options of a group of one guest."""
    return {"name": name, **SMALL, **options}


@ddt.ddt
@mock.patch("time.sleep", new=mock.Mock())
class CopiesTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.cloud = testing.FakeCloud()
        self.cloud.placement.all_hosts["h1"]["PCPU"] = (16, 0)

    def boot(self, *groups, admin=True, **options):
        numbers = itertools.count()
        return boot.prepare(
            self.cloud,
            made.build_request(groups=list(groups), **options),
            lambda: f"c_rally_1234abcd_{next(numbers):08}",
            lambda line: None,
            admin=self.cloud if admin else None,
        ).run()

    def test_a_flavor_with_extra_specs(self):
        """It has everything else from the flavor, which is not changed."""
        (original,) = self.cloud.compute.all_flavors
        original.swap, original.ephemeral = 512, 3
        before = dict(vars(original))
        (guest,) = self.boot(group("pinned", extra_specs=PINNED)).guests
        first, copied = self.cloud.compute.all_flavors
        self.assertEqual(before, vars(first))
        specs = {"quota:cpu_quota": "5000", **PINNED}
        self.assertEqual(
            {
                **before,
                "id": copied.id,
                "name": "c_rally_1234abcd_00000000",
                "is_public": False,
                "tenant": "p1",
                "extra_specs": specs,
            },
            vars(copied),
        )
        (server,) = self.cloud.compute.requests
        self.assertEqual(copied.id, server["flavor_id"])
        self.assertEqual(
            (copied.id, "small", specs),
            (guest.flavor.id, guest.flavor.name, guest.flavor.extra_specs),
        )
        self.assertEqual(PINNED, guest.settings)
        self.assertEqual({"nodes": []}, guest.topology)

    def test_an_image_with_properties(self):
        """It has the data and the properties of the image, and is private."""
        (original,) = self.cloud.image.all_images
        original.os_glance_import_task = "t1"
        before = dict(vars(original))
        booted = self.boot(group("e1000", image_properties=E1000), admin=False)
        first, copied = self.cloud.image.all_images
        self.assertEqual(before, vars(first))
        self.assertEqual(
            {
                "id": copied.id,
                "name": "c_rally_1234abcd_00000000",
                "status": "active",
                "visibility": "private",
                "protected": False,
                "tags": [cloud.IMAGE_TAG],
                "hw_rng_model": "virtio",
                "hw_vif_model": "e1000",
                **{
                    key: before[key]
                    for key in (
                        "container_format",
                        "disk_format",
                        "min_disk",
                        "min_ram",
                        "os_hash_algo",
                        "os_hash_value",
                        "size",
                    )
                },
            },
            vars(copied),
        )
        (server,) = self.cloud.compute.requests
        self.assertEqual(copied.id, server["image_id"])
        (guest,) = booted.guests
        self.assertEqual("debian", guest.image.name)

    def test_a_boot_volume_has_the_copied_image(self):
        self.boot(
            group("e1000", image_properties=E1000, boot_volume={"size_gib": 8})
        )
        (created,) = (
            query
            for name, query in self.cloud.queries
            if name == "create_volume"
        )
        self.assertEqual(
            self.cloud.image.all_images[1].id, created["image_id"]
        )

    def test_equal_groups_share_a_copy(self):
        """Values are compared, not their order; other groups have none."""
        both = {"hw:numa_nodes": "1", **PINNED}
        self.boot(
            group("plain"),
            group("a", extra_specs=both, image_properties=E1000),
            group(
                "b",
                extra_specs=dict(reversed(both.items())),
                image_properties=E1000,
            ),
            group("c", extra_specs=PINNED),
        )
        flavors = [
            request["flavor_id"] for request in self.cloud.compute.requests
        ]
        images = [
            request["image_id"] for request in self.cloud.compute.requests
        ]
        self.assertEqual(["f1", flavors[1], flavors[1], flavors[3]], flavors)
        self.assertEqual(["i1", images[1], images[1], "i1"], images)
        self.assertEqual(3, len(self.cloud.compute.all_flavors))
        self.assertEqual(2, len(self.cloud.image.all_images))

    def test_the_plan_has_the_extra_specs(self):
        """Pinned guests require other resources of hosts."""
        planned = plan.create_plan(
            self.cloud, made.build_request(extra_specs=PINNED), self.cloud
        )
        (demand,) = planned.demands
        self.assertEqual(2, demand.per_guest["PCPU"])
        self.assertEqual([], self.cloud.left())

    @ddt.unpack
    @ddt.data(
        (
            {"extra_specs": PINNED},
            {"admin": False},
            "^extra_specs={'hw:cpu_policy': 'dedicated'} of group 'a': only "
            "an administrator .* add an admin to the environment, or set "
            "flavor",
        ),
        (
            {"image_properties": E1000},
            {"max_image_copy_gib": 1e-6},
            "^image_properties of group 'a': image 'debian' has 0.004 MiB of "
            "data: must be > 0 and <= max_image_copy_gib 1e-06; set image to",
        ),
    )
    def test_rejected_before_anything_is_created(self, option, run, message):
        with self.assertRaisesRegex(errors.GuestError, message):
            self.boot(group("a", **option), **run)
        self.assertEqual([], self.cloud.left())

    def test_an_image_without_data(self):
        self.cloud.image.all_images[0].size = 0
        with self.assertRaisesRegex(errors.GuestError, "has 0 MiB of data"):
            self.boot(group("a", image_properties=E1000))

    def test_an_encrypted_image(self):
        """Cinder would delete its key together with the copy."""
        self.cloud.image.all_images[0].cinder_encryption_key_id = "k1"
        with self.assertRaisesRegex(errors.GuestError, "'debian' .*encrypted"):
            self.boot(group("a", image_properties=E1000))
        self.assertEqual([], self.cloud.left())

    def test_a_property_that_glance_does_not_store(self):
        self.cloud.image.ignored = {"hw_vif_model"}
        with self.assertRaisesRegex(
            errors.GuestError,
            "^image c_rally_1234abcd_00000000: hw_vif_model='e1000' was "
            "requested, the cloud stored None; set image to one that",
        ):
            self.boot(group("a", image_properties=E1000))
        self.assertEqual([], self.cloud.compute.requests)

    def test_data_that_does_not_arrive_completely(self):
        self.cloud.image.data = fake_image.DATA[:-1]
        with self.assertRaisesRegex(errors.GuestError, "size=4000 was"):
            self.boot(group("a", image_properties=E1000))

    def test_a_spec_that_nova_does_not_store(self):
        def forget(called, is_done):
            if called == "create_flavor_extra_specs" and is_done:
                self.cloud.compute.all_flavors[1].extra_specs = {}

        self.cloud.interrupt = forget
        with self.assertRaisesRegex(
            errors.GuestError, "the cloud stored None; set flavor to one that"
        ):
            self.boot(group("a", extra_specs=PINNED))

    @ddt.data("get", "post", "put")
    def test_glance_refuses(self, called):
        """The message has Glance's reason and the way without a copy."""
        response = requests.Response()
        response.status_code, response.reason = 403, "Forbidden"
        with (
            mock.patch.object(
                self.cloud.image, called, autospec=True, return_value=response
            ),
            self.assertRaisesRegex(
                errors.GuestError,
                r"create image c_rally.*\(set image to .*Forbidden",
            ),
        ):
            self.boot(group("a", image_properties=E1000))
