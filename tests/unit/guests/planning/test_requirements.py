# SPDX-License-Identifier: Apache-2.0
"""Tests of what guests take, and of what there is."""

import ipaddress
import unittest

import ddt
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import errors
from rally_vmperf.guests.booting import access
from rally_vmperf.guests.planning import plan
from tests.unit.guests import made
from tests.unit.guests import testing


def host(vcpus=(32, 0), memory=(65536, 0), disk=(1000, 0)):
    """Return what Placement has on a host."""
    return {"VCPU": vcpus, "MEMORY_MB": memory, "DISK_GB": disk}


@ddt.ddt
class RequirementsTest(unittest.TestCase):
    """Requirements are compared with quota and hosts."""

    def setUp(self):
        """Have a cloud of one host."""
        super().setUp()
        self.cloud = testing.FakeCloud()

    def requirements(self, admin=True, **options):
        """Return the requirements of guests."""
        administrator = self.cloud if admin else None
        return plan.create_plan(
            self.cloud,
            made.build_request(**{"count": 3, **options}),
            administrator,
        ).requirements

    def test_lines(self):
        """Quota, host, and how full it will be."""
        self.assertEqual(
            [
                "plan: 3 guests of small, 6 vCPUs, 3072 MiB of memory, on h1",
                "plan: quota of project member: 3 of 10 instances, 6 of 20 "
                "cores, 3072 MiB of memory (no limit known), 3 of 5 floating "
                "IPs, 3 of 50 ports, 1 of 9 security groups, 10 of 96 "
                "security group rules, 1 of 100 key pairs",
                "plan: host h1: 6 of 32 vCPUs, 3072 of 65536 MiB of memory, "
                "12 of 1000 GiB of disk",
                "plan: host h1 will be 19 % full; more than 90 % is rejected",
            ],
            self.requirements(host="h1").format_lines(),
        )

    @ddt.data((1, 2, 6), (2, 1, 10))
    @ddt.unpack
    def test_rules_are_created_by_a_run(self, guests, sources, total):
        """With the rules for egress, which Neutron adds to each group."""
        allowed = [f"192.0.{number}.0/24" for number in range(sources)]
        requirements = self.requirements(count=guests, allowed_sources=allowed)
        (amount,) = (
            row.amount
            for row in requirements.rows
            if row.resource == "security group rules"
        )
        rules = [*access.rules_for_sources(map(ipaddress.ip_network, allowed))]
        if guests > 1:
            rules += access.rules_between_guests("g", range(5201, 5203))
        self.assertEqual((total, total), (amount, len(rules) + 2))

    def test_networks_without_security_groups(self):
        """They need neither a group nor rules."""
        for network in self.cloud.network.all_networks:
            network.is_port_security_enabled = False
        resources = [row.resource for row in self.requirements().rows]
        self.assertNotIn("security groups", resources)
        self.assertNotIn("security group rules", resources)

    def test_members_see_no_host(self):
        """It is reported, and nothing is rejected."""
        requirements = self.requirements(admin=False)
        self.assertEqual(
            "plan: only an administrator sees the free resources of hosts",
            requirements.format_lines()[-1],
        )
        requirements.check()
        self.assertEqual([], self.cloud.placement.paths)

    def test_empty_host_without_an_administrator(self):
        """The option is rejected before the boot and by the validation."""
        self.requirements(empty_host=True).check()
        with self.assertRaisesRegex(errors.GuestError, "^empty_host: only"):
            self.requirements(admin=False, empty_host=True)

    def test_a_host_that_becomes_too_full(self):
        """It is rejected unless overruled; running guests count."""
        self.cloud.placement.all_hosts["h1"] = host(vcpus=(32, 24))
        message = (
            "^host h1 would be 94 % full with 3 guests of small, more than "
            "max_host_share 90 %; request fewer .* raise max_host_share$"
        )
        with self.assertRaisesRegex(errors.GuestError, message):
            self.requirements(host="h1").check()
        self.requirements(host="h1", max_host_share=95).check()
        with self.assertRaisesRegex(errors.GuestError, "24 % full"):
            self.cloud.placement.all_hosts["h1"] = host(memory=(12800, 0))
            self.requirements(host="h1", max_host_share=20).check()

    def test_ssh_from_all_networks(self):
        """The plan names it, as the request has it."""
        sources = ["192.0.2.0/24", "0.0.0.0/0", "::/0"]
        remarks = self.requirements(allowed_sources=sources).remarks
        self.assertEqual(
            [
                f"allowed_sources={source}: every network may open SSH "
                "connections to the guests; to restrict it, give the network "
                "of this machine"
                for source in sources[1:]
            ],
            [line for line in remarks if "allowed_sources" in line],
        )

    def test_group_that_no_host_supports(self):
        """The others boot; the remark names its requirements."""
        groups = [
            {
                "name": name,
                "image": {"name": "debian"},
                "flavor": {"name": "small"},
                "extra_specs": {"hw:cpu_policy": policy},
            }
            for name, policy in (("a", "shared"), ("b", "dedicated"))
        ]
        requirements = self.requirements(groups=groups, count=None)
        self.assertEqual("", requirements.error)
        self.assertRegex(
            requirements.remarks[-1],
            r"^no host has room for a guest of group b \(2 pinned CPUs, .*\) "
            "according to Placement; if it fails to boot, the others are",
        )
        for group in groups:
            group["extra_specs"] = {"hw:cpu_policy": "dedicated"}
        requirements = self.requirements(groups=groups, count=None)
        self.assertRegex(
            requirements.error, "^no host has room for a guest of small"
        )

    def test_a_full_host(self):
        """It is not a candidate."""
        self.cloud.placement.all_hosts["h1"] = host(disk=(8, 5))
        for options, message in (
            ({"host": "h1"}, "^host h1 has no room for a guest of small"),
            ({}, "^no host has room for a guest of small"),
        ):
            with self.assertRaisesRegex(errors.GuestError, message):
                self.requirements(**options).check()

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
        requirements = self.requirements(
            count=count, server_group=group, network=network
        )
        self.assertEqual(fits, not requirements.error, requirements)
        self.assertIn(
            "of hosts with room (2)", f"of {requirements.rows[-1].owner}"
        )

    @ddt.data((None, False), ("affinity", False), ("affinity", True))
    @ddt.unpack
    def test_many_hosts(self, group, only_last):
        """A few hosts with room are enough; all are read before an error.

        Guests that share a host are requested together, so that hosts without
        room for all of them are not candidates.
        """
        placement = self.cloud.placement
        full = host(vcpus=(10, 6)) if only_last else host()
        placement.all_hosts = {f"h{number}": full for number in range(1000)}
        placement.all_hosts["h999"] = host()
        requirements = self.requirements(server_group=group)
        self.assertEqual("", requirements.error)
        owner = "host h999" if only_last else "hosts with room (16 or more)"
        self.assertEqual(owner, requirements.rows[-1].owner)
        self.assertLess(self.cloud.listed, 30)
        self.assertNotIn("0 of", requirements.format_lines()[-1])
        refused = self.requirements(server_group=group, max_host_share=5)
        self.assertIn(", 1000," if not only_last else "", refused.error)
        self.assertIn("max_host_share 5 %", refused.error)

    def test_guests_that_share_a_host(self):
        """They take a server group, and must fit on one of the hosts."""
        hosts = self.cloud.placement.all_hosts
        hosts["h1"] = hosts["h2"] = host(vcpus=(10, 2))
        requirements = self.requirements(one_host=True)
        self.assertEqual("", requirements.error)
        self.assertIn(
            "3 of 10 members of a server", requirements.format_lines()[1]
        )
        requirements = self.requirements(count=4, one_host=True)
        self.assertIn("can take 3 of 4 guests of small", requirements.error)

    def test_no_quota_for_guests_that_share_a_host(self):
        """Nova chooses, as without the group, and a remark reports it."""
        for limit in ("server_group_members", "server_groups"):
            self.cloud.compute.limits.server_group_members = 10
            self.cloud.compute.limits.server_groups = 10
            setattr(self.cloud.compute.limits, limit, 0)
            requirements = self.requirements(one_host=True)
            self.assertEqual("", requirements.error)
            self.assertRegex(
                requirements.remarks[-1],
                "^Nova chooses the hosts, which may be several: quota: "
                "project member has quota for 0 more .*, or set host$",
            )

    def groups(self, small, large, **options):
        """Return what so many small and large guests require."""
        if len(self.cloud.compute.all_flavors) == 1:
            self.cloud.compute.all_flavors.append(
                testing.calls.Thing(
                    id="f2",
                    name="large",
                    vcpus=8,
                    ram=2048,
                    disk=10,
                    swap=0,
                    ephemeral=0,
                    extra_specs={},
                )
            )
        groups = [
            {
                "name": flavor,
                "image": {"name": "debian"},
                "flavor": {"name": flavor},
                "count": count,
            }
            for flavor, count in (("small", small), ("large", large))
        ]
        return plan.create_plan(
            self.cloud,
            made.build_request(groups=groups, **options),
            self.cloud,
        ).requirements

    def test_groups_are_summed(self):
        """The sum counts for the quota and for a shared host."""
        self.assertEqual(
            [
                "plan: 3 guests of small and 1 guest of large, 14 vCPUs, 5120 "
                "MiB of memory, on h1",
                "plan: quota of project member: 4 of 10 instances, 14 of 20 "
                "cores, 5120 MiB of memory (no limit known), 4 of 5 floating "
                "IPs, 4 of 50 ports, 1 of 9 security groups, 10 of 96 "
                "security group rules, 1 of 100 key pairs",
                "plan: host h1: 14 of 32 vCPUs, 5120 of 65536 MiB of memory, "
                "22 of 1000 GiB of disk",
                "plan: host h1 will be 44 % full; more than 90 % is rejected",
            ],
            self.groups(3, 1, host="h1").format_lines(),
        )

    def test_groups_together_exceed_quota_or_host(self):
        """Each of them alone would not."""
        self.groups(2, 2).check()
        with self.assertRaisesRegex(
            errors.GuestError, "quota for 20 more cores, 22 are required"
        ):
            self.groups(3, 2).check()
        self.cloud.placement.all_hosts["h1"] = host(vcpus=(20, 0))
        with self.assertRaisesRegex(
            errors.GuestError,
            "^host h1 would be 100 % full with 2 guests of small and 2 guests "
            "of large, more than max_host_share 90 %",
        ):
            self.groups(2, 2, host="h1").check()

    @ddt.data(
        (None, 1, 2, True),
        (None, 2, 2, False),
        (None, 1, 3, False),
        ("affinity", 1, 1, True),
        ("affinity", 2, 1, False),
    )
    @ddt.unpack
    def test_groups_on_several_hosts(self, policy, small, large, fits):
        """A total beyond all hosts is rejected, and so is a group."""
        self.cloud.compute.limits.total_cores = -1
        hosts = self.cloud.placement.all_hosts
        hosts["h1"] = hosts["h2"] = host(vcpus=(10, 0))
        groups = self.groups(
            small,
            large,
            server_group=policy,
            max_host_share=100 if policy else 90,
            network={"name": "public"},
        )
        self.assertEqual(fits, not groups.error, groups)
        self.assertEqual(
            ["small", "large"],
            [row.resource.split()[2] for row in groups.rows[-2:]],
        )

    def test_a_group_that_no_host_has_room_for(self):
        """It is named by its flavor."""
        self.cloud.placement.all_hosts["h1"] = host(vcpus=(4, 0))
        with self.assertRaisesRegex(
            errors.GuestError, "^no host has room for a guest of large"
        ):
            self.groups(1, 1).check()

    def test_the_quota_comes_first(self):
        """The quota is checked before the room on hosts."""
        with self.assertRaisesRegex(errors.GuestError, "^quota: project mem"):
            self.requirements(count=20, max_host_share=1).check()

    def test_a_volume_takes_no_disk_of_the_host(self):
        """Nor does a flavor without a disk."""
        self.requirements(boot_volume={"size_gib": 8})
        self.assertNotIn("DISK_GB", self.cloud.placement.paths[-1])

    def test_a_quota_of_a_type_of_volumes(self):
        """Cinder has one for each; of guests, each has its own volumes."""
        self.cloud.block_storage.quota.gigabytes_ssd = 20
        self.cloud.block_storage.quota.usage = {"gigabytes_ssd": 1}
        volumes = [{"size_gib": 5, "type": "ssd"}, {"size_gib": 4}]
        self.requirements(count=3, volumes=volumes).check()
        with self.assertRaisesRegex(
            errors.GuestError,
            "^quota: project member has quota for 19 more GiB of volumes of "
            "type ssd, 20 are required; request less",
        ):
            self.requirements(count=4, volumes=volumes).check()

    @ddt.unpack
    @ddt.data(({}, 9), ({"boot_volume": {"size_gib": 8}}, 5))
    def test_extra_disks_of_a_flavor(self, options, gib):
        """They are on the host next to a boot volume, too."""
        flavor = self.cloud.compute.all_flavors[0]
        flavor.ephemeral, flavor.swap = 3, 1025
        self.assertIn(
            f"{gib * 2} of 1000 GiB of disk",
            self.requirements(host="h1", count=2, **options).format_lines()[2],
        )

    def test_pinned_cpus(self):
        """They are counted for themselves."""
        flavor = self.cloud.compute.all_flavors[0]
        flavor.extra_specs = {"hw:cpu_policy": "dedicated"}
        self.cloud.placement.all_hosts["h1"]["PCPU"] = (8, 0)
        self.assertIn(
            "6 of 8 pinned CPUs",
            self.requirements(host="h1").format_lines()[2],
        )

    @ddt.data("refused", "no", "other name", "shared disk")
    def test_placement_without_an_answer(self, how):
        """The rest of the plan is unchanged."""
        placement = self.cloud.placement
        options = {}
        if how == "refused":

            def refuse(name, is_done):
                if name == "get":
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
        requirements = self.requirements(**options)
        requirements.check()
        self.assertIn(
            "Placement does not show", requirements.format_lines()[-1]
        )

    def _without_disk(self, path, microversion):
        amounts = {
            kind: {"capacity": 10, "used": 0} for kind in ("VCPU", "MEMORY_MB")
        }
        answer = testing.calls.Thing(ok=True)
        summaries = {"rp-h1": {"resources": amounts}}
        answer.json = lambda: {"provider_summaries": summaries}
        return answer

    def test_a_busy_placement(self):
        """Its failure is reported like that of any service."""

        def fail(name, is_done):
            if name == "get":
                raise sdk_errors.HttpException("x", http_status=503)

        self.cloud.interrupt = fail
        with self.assertRaisesRegex(errors.GuestError, "list free hosts"):
            self.requirements()
