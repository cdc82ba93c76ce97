# SPDX-License-Identifier: Apache-2.0
"""Tests of groups that boot one after another."""

import unittest

import ddt

from rally_vmperf.guests import errors
from rally_vmperf.guests import request
from rally_vmperf.guests.planning import plan
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

GROUP = {"image": {"name": "debian"}, "flavor": {"name": "small"}}
WAY = "the guests of all variants do not fit at once.* are deleted after it: "


@ddt.ddt
class SequenceTest(unittest.TestCase):
    """Each group must fit alone if all do not fit together."""

    def setUp(self):
        """Have a host with eight vCPUs, and a second flavor."""
        super().setUp()
        self.cloud = testing.FakeCloud()
        (small,) = self.cloud.compute.all_flavors
        large = {**vars(small), "id": "f2", "name": "large", "vcpus": 6}
        self.cloud.compute.all_flavors.append(calls.Thing(**large))
        self.cloud.placement.all_hosts["h1"]["VCPU"] = (8, 0)

    def plan(self, sequential=True, admin=True, **flavors):
        """Return the plan of a group of one guest for each flavor."""
        return plan.create_plan(
            self.cloud,
            made.build_request(
                groups=[
                    {**GROUP, "name": name, **options}
                    for name, options in flavors.items()
                ],
                one_host=True,
                sequential=sequential,
            ),
            self.cloud if admin else None,
        )

    def test_groups_that_fit_together(self):
        """They boot at once, and so do those of other scenarios."""
        plan = self.plan(a={}, b={})
        self.assertFalse(plan.sequential)
        plan.requirements.check()
        large = {"flavor": {"name": "large"}}
        plan = self.plan(sequential=False, a={}, b=large)
        self.assertFalse(plan.sequential)
        with self.assertRaisesRegex(errors.GuestError, "^host h1 would be"):
            plan.requirements.check()

    def test_host(self):
        """The rows are those of the largest group; a remark has the reason."""
        plan = self.plan(a={}, b={"flavor": {"name": "large"}})
        self.assertTrue(plan.sequential)
        plan.requirements.check()
        amounts = {
            (row.owner, row.resource): (row.amount, row.free)
            for row in plan.requirements.rows
        }
        self.assertEqual((6, 8), amounts["host h1", "vCPUs"])
        self.assertEqual((6, 20), amounts["quota of project member", "cores"])
        self.assertEqual(
            (1, 10), amounts["quota of project member", "instances"]
        )
        self.assertRegex(
            plan.requirements.remarks[-1],
            f"^{WAY}host h1 would be 100 % full",
        )
        self.assertIn("one variant after another", plan.requirements.title)
        self.assertIn(
            "a: host h1 will be 25 % full; more than 90 % is rejected",
            plan.requirements.remarks,
        )

    def test_quota(self):
        """It decides without an administrator, too."""
        self.cloud.compute.limits.total_cores = 7
        plan = self.plan(admin=False, a={}, b={"flavor": {"name": "large"}})
        self.assertTrue(plan.sequential)
        plan.requirements.check()
        self.assertRegex(
            plan.requirements.remarks[-1],
            f"^{WAY}quota: project member has quota for 7 more cores, 8 are "
            "required$",
        )

    @ddt.data(("VCPU", "no host has room"), ("cores", "quota: project member"))
    @ddt.unpack
    def test_group_that_does_not_fit_alone(self, resource, message):
        """It is rejected with its name."""
        if resource == "cores":
            self.cloud.compute.limits.total_cores = 5
        else:
            self.cloud.placement.all_hosts["h1"]["VCPU"] = (4, 0)
        plan = self.plan(a={}, b={"flavor": {"name": "large"}})
        with self.assertRaisesRegex(
            errors.GuestError,
            f"^variant 'b' does not fit on its own: {message}",
        ):
            plan.requirements.check()

    def test_image_that_no_host_supports(self):
        """The policy of an image applies if the flavor has none."""
        image = {"image_properties": {"hw_cpu_policy": "dedicated"}}
        plan = self.plan(a={}, b=image, c={"flavor": {"name": "large"}})
        plan.requirements.check()
        remarks = "\n".join(plan.requirements.remarks)
        self.assertRegex(remarks, "a guest of group b .2 pinned CPUs")
        self.cloud.image.all_images[0].hw_cpu_policy = "dedicated"
        with self.assertRaisesRegex(
            errors.GuestError, "no host has room for a guest"
        ):
            self.plan(a={}).requirements.check()

    @ddt.data(
        (
            {"extra_specs": {"hw:cpu_policy": "shared"}},
            "dedicated",
            "flavor 'small' and image 'debian' of group 'b': the flavor has "
            "hw:cpu_policy=shared, and the image hw_cpu_policy=dedicated, "
            "which Nova rejects; use the same policy in both",
        ),
        (
            {"extra_specs": {"hw:cpu_policy": "mixed"}},
            None,
            "group 'b': the CPU policy is mixed, and Nova requires a mask of "
            "some of the 2 vCPUs; set hw:cpu_dedicated_mask",
        ),
    )
    @ddt.unpack
    def test_policies_that_nova_rejects(self, group, image_policy, message):
        """They are rejected before a guest boots."""
        self.plan(a={}, b={})
        self.cloud.image.all_images[0].hw_cpu_policy = image_policy
        with self.assertRaisesRegex(errors.GuestError, message):
            self.plan(a={}, b=group)

    def test_mixed_policy(self):
        """Placement is asked for CPUs of both kinds."""
        extra_specs = {"hw:cpu_policy": "mixed", "hw:cpu_dedicated_mask": "^0"}
        plan = self.plan(a={}, b={"extra_specs": extra_specs})
        self.assertRegex(
            "\n".join(plan.requirements.remarks),
            r"a guest of group b \(1 vCPUs, 1 pinned CPUs",
        )

    def test_realtime_mask_of_the_image(self):
        """It precedes that of the flavor."""
        image = self.cloud.image.all_images[0]
        image.hw_cpu_policy = "mixed"
        image.hw_cpu_realtime_mask = "^0"
        (demand,) = self.plan(
            a={
                "extra_specs": {
                    "hw:cpu_realtime": "yes",
                    "hw:cpu_realtime_mask": "7",
                }
            }
        ).demands
        self.assertEqual(
            (1, 1), (demand.per_guest["VCPU"], demand.per_guest["PCPU"])
        )

    def test_group_that_no_host_supports(self):
        """It fails alone and next to other groups."""
        pinned = {"extra_specs": {"hw:cpu_policy": "dedicated"}}
        large = {"flavor": {"name": "large"}}
        plan = self.plan(a={}, b=pinned, c=large)
        plan.requirements.check()
        self.assertRegex(
            "\n".join(plan.requirements.remarks),
            r"no host has room for a guest of group b \(2 pinned CPUs",
        )
        self.plan(a=pinned, b={}, c=large).requirements.check()
        with self.assertRaisesRegex(errors.GuestError, "no host has room"):
            other = {"extra_specs": {**pinned["extra_specs"], "a": "1"}}
            self.plan(a=pinned, b=other).requirements.check()


@ddt.ddt
class ResizeTest(unittest.TestCase):
    """A guest that is resized needs the larger amount of both flavors."""

    def setUp(self):
        """Have a flavor that is larger, and one with a smaller disk."""
        super().setUp()
        self.cloud = testing.FakeCloud()
        (small,) = self.cloud.compute.all_flavors
        for name, changes in (
            ("large", {"vcpus": 6}),
            ("thin", {"disk": small.disk - 1}),
        ):
            flavor = {**vars(small), "id": name, "name": name, **changes}
            self.cloud.compute.all_flavors.append(calls.Thing(**flavor))

    def plan(self, flavor, **options):
        """Return the plan of two guests, of which one is resized."""
        return plan.create_plan(
            self.cloud,
            made.build_request(
                **{**GROUP, "count": 2, **options},
                resize_to=request.ResourceReference(by="name", value=flavor),
            ),
            self.cloud,
        )

    def test_quota(self):
        created = self.plan("large")
        created.requirements.check()
        (small, *_) = self.cloud.compute.all_flavors
        amounts = {
            row.resource: row.amount for row in created.requirements.rows
        }
        self.assertEqual(6 + small.vcpus, amounts["cores"])
        self.assertEqual(2, amounts["instances"])
        self.assertEqual(2, created.demands[0].count)

    @ddt.data(
        ("small", "must be another flavor"),
        ("thin", "disk of .* GiB: must be >= "),
        ("huge", "'huge'"),
    )
    @ddt.unpack
    def test_rejected(self, flavor, message):
        with self.assertRaisesRegex(errors.GuestError, message):
            self.plan(flavor)

    def test_volume(self):
        """The disk of a flavor is not used."""
        self.plan("thin", boot_volume={"size_gib": 5})
