# SPDX-License-Identifier: Apache-2.0
"""Tests of the machines that run nothing."""

import unittest

from rally_vmperf.execution import assignment
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import ssh
from tests.bench.density import simulated

WORK = [{"name": "sysbench", "arguments": {"threads": 2, "time": 2}}]


class SimulatedTestCase(unittest.IsolatedAsyncioTestCase):
    async def test_a_repetition_takes_one_connection_of_each(self):
        async with simulated.Sshd() as server:
            places = [
                roles.Station(
                    name=name,
                    machine=ssh.Ssh(
                        endpoint.Endpoint(
                            name,
                            host=server.host,
                            port=server.port,
                            user="bench",
                            client_key=server.client_pair.private,
                            host_key=server.host_pair.public,
                        )
                    ),
                    role="copy",
                    folder=f"/w/{name}",
                )
                for name in ("m1", "m2", "m3")
            ]
            result = measured.Measured()
            await measure.repetition(
                assignment.assign(WORK), places, None, str, result
            )
            for place in places:
                await place.machine.close()
            self.assertEqual([], result.missing)
            self.assertEqual(1, len(result.starts))
            self.assertEqual(3, len(server.connections))
