"""Tests of the plan of a run: what is taken, and of what."""

import unittest

import ddt
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import errors
from rally_vmperf.guests import plan
from rally_vmperf.guests import request
from tests.unit.guests import testing


def asked(**options):
    """Return a request for three guests of two vCPUs, 1024 MiB and 4 GiB."""
    given = {
        "image": {"name": "debian"},
        "flavor": {"name": "small"},
        "network": {"name": "private"},
        "count": 3,
        **options,
    }
    return request.Request(**given)


def host(vcpus=(32, 0), memory=(65536, 0), disk=(1000, 0)):
    """Return what Placement has on a host."""
    return {"VCPU": vcpus, "MEMORY_MB": memory, "DISK_GB": disk}


@ddt.ddt
class BillTest(unittest.TestCase):
    """What is asked for is held against quota and hosts."""

    def setUp(self):
        """Have a cloud of one host."""
        super().setUp()
        self.cloud = testing.FakeCloud()

    def bill(self, admin=True, **options):
        """Return the bill of guests."""
        seen = self.cloud if admin else None
        return plan.make(self.cloud, asked(**options), seen).bill

    def test_lines(self):
        """Quota, host, and how full it will be."""
        self.assertEqual(
            [
                "plan: 3 guests of small, 6 vCPUs, 3072 MiB of memory, on h1",
                "plan: quota of project member: 3 of 10 instances, 6 of 20 "
                "cores, 3072 MiB of memory (no limit known), 3 of 5 floating "
                "addresses, 3 of 50 ports",
                "plan: host h1: 6 of 32 vCPUs, 3072 of 65536 MiB of memory, "
                "12 of 1000 GiB of disk",
                "plan: host h1 will be 19 % full; more than 90 % is refused",
            ],
            self.bill(host="h1").lines(),
        )

    def test_members_see_no_host(self):
        """It is said, and nothing refused."""
        bill = self.bill(admin=False)
        self.assertEqual(
            "plan: what is free on the hosts only an admin sees",
            bill.lines()[-1],
        )
        bill.check()
        self.assertEqual([], self.cloud.placement.asked)

    def test_a_host_that_becomes_too_full(self):
        """Refused, unless it is overruled; what runs there counts."""
        self.cloud.placement.all_hosts["h1"] = host(vcpus=(32, 24))
        words = (
            "^host h1 would be 94 % full with 3 guests of small, more than "
            "max_host_share 90 %; ask for fewer, .* raise max_host_share$"
        )
        with self.assertRaisesRegex(errors.GuestError, words):
            self.bill(host="h1").check()
        self.bill(host="h1", max_host_share=95).check()
        with self.assertRaisesRegex(errors.GuestError, "24 % full"):
            self.cloud.placement.all_hosts["h1"] = host(memory=(12800, 0))
            self.bill(host="h1", max_host_share=20).check()

    def test_a_full_host(self):
        """It is no candidate at all."""
        self.cloud.placement.all_hosts["h1"] = host(disk=(8, 5))
        for options, words in (
            ({"host": "h1"}, "^host h1 has no room for a guest of small"),
            ({}, "^no host has room for a guest of small"),
        ):
            with self.assertRaisesRegex(errors.GuestError, words):
                self.bill(**options).check()

    @ddt.data(
        (None, 6, True),
        (None, 7, False),
        ("soft-affinity", 6, True),
        ("affinity", 3, True),
        ("affinity", 4, False),
    )
    @ddt.unpack
    def test_several_hosts(self, group, count, fits):
        """Guests that are to be together must fit on one of them."""
        hosts = self.cloud.placement.all_hosts
        hosts["h1"] = hosts["h2"] = host(vcpus=(10, 2))
        network = {"name": "public"}
        bill = self.bill(count=count, server_group=group, network=network)
        self.assertEqual(fits, not bill.refusal, bill)
        self.assertIn("of hosts with room (2)", f"of {bill.rows[-1].of}")

    def test_the_quota_comes_first(self):
        """What nobody may have needs no room."""
        with self.assertRaisesRegex(errors.GuestError, "^quota: project mem"):
            self.bill(count=20, max_host_share=1).check()

    def test_a_volume_takes_no_disk_of_the_host(self):
        """Nor does a flavor without a disk."""
        self.bill(boot_volume={"size_gib": 8})
        self.assertNotIn("DISK_GB", self.cloud.placement.asked[-1])

    def test_pinned_cpus(self):
        """They are counted for themselves."""
        flavor = self.cloud.compute.all_flavors[0]
        flavor.extra_specs = {"hw:cpu_policy": "dedicated"}
        self.cloud.placement.all_hosts["h1"]["PCPU"] = (8, 0)
        self.assertIn("6 of 8 pinned CPUs", self.bill(host="h1").lines()[2])

    @ddt.data("refused", "no", "other name", "shared disk")
    def test_placement_that_does_not_tell(self, how):
        """The rest of the plan holds."""
        placement = self.cloud.placement
        options = {}
        if how == "refused":

            def refuse(name, done):
                if name == "resource_providers":
                    raise sdk_errors.ForbiddenException(http_status=403)

            self.cloud.interrupt = refuse
        elif how == "no":
            placement.ok = False
        elif how == "other name":
            placement.all_hosts = {"node-7": host()}
            options = {"host": "h1"}
        else:
            del placement.all_hosts["h1"]["DISK_GB"]
            placement.get = self._without_disk
        bill = self.bill(**options)
        bill.check()
        self.assertIn("Placement did not say", bill.lines()[-1])

    def _without_disk(self, path, microversion):
        amounts = {
            kind: {"capacity": 10, "used": 0} for kind in ("VCPU", "MEMORY_MB")
        }
        answer = testing.calls.Thing(ok=True)
        summaries = {"rp-h1": {"resources": amounts}}
        answer.json = lambda: {"provider_summaries": summaries}
        return answer

    def test_a_placement_in_need(self):
        """Its trouble is told like any other service's."""

        def fail(name, done):
            if name == "resource_providers":
                raise sdk_errors.HttpException("x", http_status=503)

        self.cloud.interrupt = fail
        with self.assertRaisesRegex(errors.GuestError, "ask Placement for"):
            self.bill()
