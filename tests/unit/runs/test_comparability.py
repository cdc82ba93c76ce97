"""Tests of what differences concern: the workloads that they matter to."""

import dataclasses
import unittest

from rally_vmperf.execution import assignment
from rally_vmperf.execution import station
from rally_vmperf.machines import provision
from rally_vmperf.machines import testing
from rally_vmperf.runs import comparability
from tests.unit import made

BARE = {"kernel": "6.1", "microcode": "0x1", "governor": "performance"}


@dataclasses.dataclass
class Session:
    """What is known of a guest and a peer."""

    assignments: tuple
    fingerprints: dict
    tools: dict
    peer: station.Station | None = None

    @property
    def places(self):
        """One guest."""
        machine = testing.FakeMachine("g1")
        return [station.Station(name="g1", machine=machine, role="guest")]


def tool(version):
    """Return what is known of a program."""
    return provision.ToolFacts(version=version, checksum="a", path="/p")


class TestMachines(unittest.TestCase):
    """Who is concerned by what differs."""

    def found(self, names, *, fingerprint=None, versions=None):
        """Return kind -> metrics of the findings about a guest."""
        told = {"sysbench": "1.0.20", "fio": "3.33", "mbw": "1.2.2-1"}
        session = Session(
            assignments=assignment.assign([{"name": one} for one in names]),
            fingerprints={"g1": {**BARE, **(fingerprint or {})}},
            tools={
                "g1": {
                    name: tool(version)
                    for name, version in {**told, **(versions or {})}.items()
                    if name in names
                }
            },
        )
        document = made.baseline(
            machine={
                "name": "host-1",
                "fingerprint": BARE,
                "tools": {
                    name: {"version": version, "checksum": "a", "path": "/p"}
                    for name, version in told.items()
                },
            }
        )
        return {
            one.kind: one.metrics
            for one in comparability.machines(session, document)
        }

    def test_kernel(self):
        """Does not matter to what computes."""
        kernel = {"kernel": "5.10"}
        self.assertEqual({}, self.found(["sysbench"], fingerprint=kernel))
        (metrics,) = self.found(
            ["sysbench", "mbw"], fingerprint=kernel
        ).values()
        self.assertTrue(metrics)
        self.assertEqual({"memory"}, {one.split(".")[0] for one in metrics})
        self.assertEqual(
            {"kernel_differs": ()},
            self.found(["fio", "mbw"], fingerprint=kernel),
        )

    def test_microcode(self):
        """Matters to all of them."""
        self.assertEqual(
            {"microcode_differs": ()},
            self.found(["sysbench", "fio"], fingerprint={"microcode": "0x2"}),
        )

    def test_tool(self):
        """Is its workload's alone; another revision is the same version."""
        both = ["fio", "mbw"]
        self.assertEqual({}, self.found(both, versions={"mbw": "1.2.2-4"}))
        found = self.found(both, versions={"mbw": "1.4-1"})
        self.assertEqual(["tool_version_differs"], [*found])
        self.assertEqual(
            {"memory"},
            {one.split(".")[0] for one in found["tool_version_differs"]},
        )
