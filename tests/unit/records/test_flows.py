# SPDX-License-Identifier: Apache-2.0
"""Between whom network workloads measure, and by which path."""

import dataclasses
import unittest

import ddt

from rally_vmperf.records import flows

LINKS = ["10.0.0.0/24"]


def guest(host=None, floating=None, **nova):
    """Return what is known of a guest in 10.0.0.0/24."""
    return {
        "nova": {"host": host, "floating_address": floating, **nova},
        "fingerprint": {"connected_networks": LINKS, "virtualisation": "kvm"},
    }


def peer(node="net1", virtualisation="none"):
    """Return what is known of a peer."""
    return {
        "fingerprint": {"hostname": node, "virtualisation": virtualisation}
    }


def metal(boot):
    """Return what is known of bare metal."""
    return {"fingerprint": {"boot_id": boot, "connected_networks": LINKS}}


def kinds(details, needed, names=("a", "b"), batches=1, peer_at="192.0.2.1"):
    """Return the kinds of flow of machines a and b, in short."""
    ends = flows.FlowEndpoints(
        frozenset(needed),
        "peer" if "peer" in details else "",
        {"a": "10.0.0.1", "b": "10.0.0.2", "peer": peer_at},
    )
    return [
        dataclasses.astuple(flow)
        for flow in flows.of_condition(names, batches, ends, details)
    ]


@ddt.ddt
class TestFlows(unittest.TestCase):
    """Missing facts are reported as unknown."""

    @ddt.data(
        (guest("c1"), peer(), "192.0.2.1", ("other", "router", False)),
        (guest("c1"), peer("c1"), "192.0.2.1", ("same", "router", False)),
        (
            guest("c1", "192.0.2.9"),
            peer(),
            "192.0.2.1",
            ("other", "router", True),
        ),
        (guest("c1", "192.0.2.9"), peer(), "10.0.0.7", ("other", "link", 0)),
        (guest("c1"), peer("vm", "kvm"), "x.org", ("unknown", "unknown", 0)),
        (
            guest("c1"),
            peer("c1", "kvm"),
            "2001:db8::1",
            ("same", "unknown", 0),
        ),
        (guest(host_id="h"), peer(), "10.0.0.7", ("unknown", "link", 0)),
        (guest(), {}, "10.0.0.7", ("unknown", "link", 0)),
        ({}, {}, "10.0.0.7", ("unknown", "unknown", 0)),
        (metal("x"), metal("x"), "10.0.0.7", ("same", "link", 0)),
        (metal("x"), metal("y"), "192.0.2.1", ("other", "router", 0)),
        (metal("x"), peer(), "192.0.2.1", ("unknown", "router", 0)),
    )
    @ddt.unpack
    def test_to_the_peer(
        self, details_of_a, details_of_peer, address, expected
    ):
        """By the names of hosts, and by the machine's own networks."""
        details = {"a": details_of_a, "peer": details_of_peer}
        flow_kinds = kinds(details, ["peer"], names=["a"], peer_at=address)
        self.assertEqual([("peer", *expected, 1)], flow_kinds)

    @ddt.data(
        (guest("c1"), guest("c1"), "same"),
        (guest("c1"), guest("c2"), "other"),
        (guest(host_id="x"), guest(host_id="x"), "same"),
        (guest(host_id="x"), guest(host_id="y"), "other"),
        (guest("c1"), guest(host_id="y"), "unknown"),
    )
    @ddt.unpack
    def test_between_guests(self, details_of_a, details_of_b, hosts):
        """Names where Nova shows them, else what it makes of them."""
        flow_kinds = kinds({"a": details_of_a, "b": details_of_b}, ["partner"])
        self.assertEqual([("partner", hosts, "link", False, 1)], flow_kinds)

    def test_bare_metal_sends_to_the_peer_in_place_of_a_partner(self):
        """The finding peer_replaces_partner describes this."""
        details = {"a": metal("x"), "b": metal("x"), "peer": metal("y")}
        self.assertEqual(
            [
                ("peer", "other", "router", False, 2),
                ("partner", "other", "router", False, 1),
            ],
            kinds(details, ["peer", "partner"]),
        )

    def test_kinds_are_counted(self):
        """Two guests that differ are two kinds."""
        details = {"a": guest("c1"), "b": guest("c2"), "peer": peer("c2")}
        self.assertEqual(
            [
                ("peer", "other", "router", False, 1),
                ("peer", "same", "router", False, 1),
            ],
            kinds(details, ["peer"]),
        )

    def test_no_network_workload(self):
        """The record has no flow; partners in turns are unknown."""
        details = {"a": guest("c1"), "b": guest("c1"), "peer": peer()}
        self.assertEqual([], kinds(details, []))
        self.assertEqual([], kinds(details, ["partner"], batches=2))
        self.assertEqual([], kinds(details, ["partner"], names=["a"]))
