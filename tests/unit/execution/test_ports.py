# SPDX-License-Identifier: Apache-2.0
"""Tests of ports at the other ends."""

import itertools
import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import ports
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import local
from rally_vmperf.workloads import base
from tests.unit.execution import test_measure


class Listening(test_measure.Echo):
    """A workload that asks for ports."""

    def __init__(self, own_ports, shared):
        super().__init__()
        self.requested = base.Ports(own=own_ports, shared=shared)

    def ports(self, arguments):
        """Return what it was made for."""
        return self.requested


def made(*numbers):
    """Return workloads that ask for so many ports, own and shared."""
    return [
        assignment.Assignment(Listening(*ports_of_workload), {})
        for ports_of_workload in numbers
    ]


@ddt.ddt
class PortsTestCase(unittest.TestCase):
    @ddt.data(
        *itertools.product(
            (
                [(3, 0)],
                [(3, 0), (3, 0)],
                [(0, 1)],
                [(1, 1), (0, 0), (2, 3)],
                [(0, 0)],
            ),
            (1, 2, 3, 32, 1000),
        )
    )
    @ddt.unpack
    def test_none_is_given_twice(self, numbers, machines):
        """And all of them are those that the run is said to use."""
        allocated = []
        for allocation, (own_ports, shared) in zip(
            ports.allocate(made(*numbers)), numbers, strict=True
        ):
            self.assertEqual(shared, len(allocation.shared))
            allocated += allocation.shared
            for position in range(machines):
                self.assertEqual(own_ports, len(allocation.own(position)))
                allocated += allocation.own(position)
        self.assertEqual(
            list(ports.used_ports(made(*numbers), machines)), sorted(allocated)
        )
        self.assertLess(max(allocated, default=0), 32768)

    def test_more_machines_than_ports(self):
        """It says how many there may be, and as many there may be."""
        many = made((10, 7), (10, 0))
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^count=2000: must be at most 1378, .* require 20 ",
        ):
            ports.used_ports(many, 2000)
        self.assertEqual(7 + 20 * 1378, len(ports.used_ports(many, 1378)))
        with self.assertRaises(base.WorkloadError):
            ports.used_ports(many, 1379)

    @ddt.data(
        (["to_peer", "from_peer"], range(0)),
        (["guest_to_guest"], range(5201, 5207)),
    )
    @ddt.unpack
    def test_guests_listen_for_partners_only(self, directions, expected):
        assignments = assignment.assign(
            [{"name": "iperf3", "arguments": {"directions": directions}}]
        )
        self.assertEqual(expected, ports.guest_ports(assignments, 2))

    def test_the_stations_of_a_machine(self):
        """The endpoints have the addresses of the peer and of the partner."""
        peer, partner = (
            roles.Station(
                name=name,
                machine=local.Local(name),
                role="peer",
                address=address,
                listen_address="192.0.2.3",
            )
            for name, address in (("peer", "192.0.2.1"), ("g2", "192.0.2.2"))
        )
        (allotment,) = ports.allocate(made((1, 1)))
        self.assertEqual(
            allotment.endpoints(1, "192.0.2.1", "192.0.2.2", "192.0.2.3"),
            allotment.connect(1, peer, partner),
        )
        self.assertEqual(
            allotment.endpoints(0), allotment.connect(0, None, None)
        )
