# SPDX-License-Identifier: Apache-2.0
"""Tests of the search for guests of others on the hosts of a run."""

import unittest

from openstack import exceptions as sdk_errors

from rally_vmperf.guests import errors
from rally_vmperf.guests import host_sharing
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

HOSTS = ("h1", "h1", "h2")


class HostCase(unittest.TestCase):
    """A run with g1 and g2 on host h1 and g3 on host h2."""

    def setUp(self):
        super().setUp()
        self.cloud = testing.FakeCloud()
        self.guests = [
            made.guest(f"g{number}", host=host, id=self.add_server(host).id)
            for number, host in enumerate(HOSTS, 1)
        ]

    def add_server(self, host, vcpus=2, status="ACTIVE"):
        """Add a server on a host to the cloud."""
        return self.cloud.add(
            self.cloud.compute.all_servers,
            name="server",
            status=status,
            task_state=None,
            compute_host=host,
            flavor=calls.Thing(vcpus=vcpus),
            detail=0,
            deleted=False,
        )

    def forbid(self, called, is_done):
        """Reject the list of servers."""
        if called == "servers":
            raise sdk_errors.ForbiddenException("not allowed", http_status=403)


class FindTest(HostCase):
    """Guests of others raise a finding on their host."""

    def find(self):
        """Return kind, subject and detail of each finding."""
        self.lines = []
        return [
            (finding.kind, finding.subject, finding.detail)
            for finding in host_sharing.find_shared_hosts(
                self.cloud, self.guests, self.lines.append
            )
        ]

    def test_hosts_with_guests_of_the_run_only(self):
        """Neither guests of the run nor guests on other hosts count."""
        self.add_server("h3")
        self.assertEqual([], self.find())
        queries = [query for name, query in self.cloud.queries]
        self.assertEqual(
            [
                {"all_projects": True, "compute_host": host}
                for host in ("h1", "h2")
            ],
            queries,
        )

    def test_guests_of_others(self):
        """The finding has the number of guests and of their vCPUs."""
        self.add_server("h1", vcpus=8)
        self.add_server("h1", vcpus=4, status="SHUTOFF")
        self.add_server("h2", vcpus=1)
        self.assertEqual(
            [
                (
                    "host_shared",
                    "h1",
                    "host h1 has 2 guests of others with 12 vCPUs",
                ),
                (
                    "host_shared",
                    "h2",
                    "host h2 has 1 guest of others with 1 vCPU",
                ),
            ],
            self.find(),
        )

    def test_a_server_that_is_deleted(self):
        """A guest of the run that failed to boot is not one of others."""
        server = self.add_server("h1")
        self.cloud.compute.delete_server(server.id, ignore_missing=True)
        self.assertEqual([], self.find())

    def test_a_list_that_is_forbidden(self):
        """The reason is reported in place of a finding."""
        self.add_server("h1")
        self.cloud.interrupt = self.forbid
        self.assertEqual([], self.find())
        self.assertEqual(
            [
                "Cannot check for guests of others: list the guests of host "
                "h1: not allowed"
            ],
            self.lines,
        )


class RequireTest(HostCase):
    """The option empty_host rejects hosts with guests of others."""

    def require(self):
        """Reject hosts that are not empty."""
        host_sharing.require_empty_hosts(self.cloud, self.guests)

    def test_empty_hosts(self):
        """Hosts with guests of the run only are accepted."""
        self.require()

    def test_a_host_with_guests_of_others(self):
        """The message names option, host, number and solution."""
        self.add_server("h2", vcpus=3)
        with self.assertRaisesRegex(
            errors.GuestError,
            "^empty_host: host h2 has 1 guest of others with 3 vCPUs; move "
            "these guests away, set host to an empty host, or remove the "
            "option$",
        ):
            self.require()

    def test_an_unknown_host(self):
        """A guest whose host Nova hides is rejected."""
        self.guests.append(made.guest("g4"))
        with self.assertRaisesRegex(
            errors.GuestError, "^empty_host: Nova does not show .* of g4; "
        ):
            self.require()

    def test_a_list_that_is_forbidden(self):
        """A host that cannot be checked is rejected."""
        self.cloud.interrupt = self.forbid
        with self.assertRaisesRegex(errors.GuestError, "^list the guests of"):
            self.require()

    def test_no_administrator(self):
        """The option is rejected without an administrator."""
        with self.assertRaisesRegex(
            errors.GuestError,
            "^empty_host: only an administrator sees .* add an admin to the "
            "environment, or remove the option$",
        ):
            host_sharing.require_empty_hosts(None, self.guests)
