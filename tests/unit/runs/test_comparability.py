# SPDX-License-Identifier: Apache-2.0
"""Tests of what differences concern: the workloads that they matter to."""

import dataclasses
import unittest

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import testing
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.records import model
from rally_vmperf.runs import comparability
from tests.unit import made
from tests.unit.guests import made as guests

BARE = {
    "kernel": "6.1",
    "microcode": "0x1",
    "governor": "performance",
    "transparent_huge_pages": "always",
    "disks": [{"scheduler": "a", "queues": "8"}],
    "network_interfaces": [{"mtu": "1500"}],
}


@dataclasses.dataclass
class Session:
    """The facts about a guest and a peer."""

    assignments: tuple
    fingerprints: dict
    tools: dict
    peer: roles.Station | None = None

    @property
    def stations(self):
        """One guest."""
        machine = testing.FakeMachine("g1")
        return [roles.Station(name="g1", machine=machine, role="guest")]

    def everyone(self):
        """One guest and no peer."""
        return self.stations

    def describe(self, name):
        """Return the facts about a machine."""
        return {
            "fingerprint": self.fingerprints[name],
            "tools": {
                command: dataclasses.asdict(facts)
                for command, facts in self.tools[name].items()
            },
        }


def tool(version):
    """Return the facts about a program."""
    return provision.ToolFacts(version=version, checksum="a", path="/p")


class TestSettings(unittest.TestCase):
    """The requested settings of a guest are compared with its fingerprint."""

    def test_setting_that_the_guest_does_not_have(self):
        session = Session(
            assignments=(),
            fingerprints={
                "g1": {
                    "machine_type": "pc-q35-7.2",
                    "virtualisation": "kvm",
                    "emulated": False,
                }
            },
            tools={},
        )
        for requested, kinds in (
            ("q35", []),
            ("pc", ["variant_not_applied"]),
        ):
            guest = guests.guest(settings={"hw_machine_type": requested})
            findings = comparability.find_guest_findings(
                session, [guest], None, ()
            )
            self.assertEqual(kinds, [finding.kind for finding in findings])


class TestHosts(unittest.TestCase):
    """Whether guests run where the baseline was recorded."""

    def find(self, hypervisor, features, **of_class):
        """Return the kinds of findings on a guest of a host."""
        flags = ["sse2", "avx2"]
        baseline = made.baseline(
            machine=document.BaselineMachine(
                name="c1", fingerprint={"cpu_flags": flags}
            ),
            **of_class,
        )
        guest = guests.guest(hypervisor=hypervisor, host_cpu=features)
        session = Session(
            assignments=(),
            fingerprints={guest.name: {}},
            tools={guest.name: {}},
        )
        machines = comparability.describe_machines(session, [guest])
        return [
            finding.kind
            for finding in comparability.compare_machines(
                (), machines, baseline
            )
        ]

    def test_of_a_class(self):
        """Another name is not a finding; another processor is."""
        alike, other = ("sse2", "avx2"), ("sse2", "avx2", "avx512f")
        of_class = {"machine_class": "r740"}
        self.assertEqual([], self.find("c2", alike, **of_class))
        self.assertEqual(["host_differs"], self.find("c2", alike))
        self.assertEqual(
            ["host_cpu_differs"], self.find("c2", other, **of_class)
        )
        self.assertEqual(
            ["host_differs", "host_cpu_differs"], self.find("c2", other)
        )


@ddt.ddt
class TestMachines(unittest.TestCase):
    """Metrics that are concerned by a difference."""

    def find(self, names, *, fingerprint=None, versions=None):
        """Return kind -> metrics of the findings about a guest."""
        baseline_versions = {
            "sysbench": "1.0.20",
            "fio": "3.33",
            "mbw": "1.2.2-1",
        }
        baseline_versions |= {"iperf3": "3.12"}
        session = Session(
            assignments=assignment.assign([{"name": name} for name in names]),
            fingerprints={"g1": {**BARE, **(fingerprint or {})}},
            tools={
                "g1": {
                    name: tool(version)
                    for name, version in {
                        **baseline_versions,
                        **(versions or {}),
                    }.items()
                    if name in names
                }
            },
        )
        baseline = made.baseline(
            machine=document.BaselineMachine(
                name="host-1",
                fingerprint=BARE,
                tools={
                    name: {"version": version, "checksum": "a", "path": "/p"}
                    for name, version in baseline_versions.items()
                },
            )
        )
        return {
            finding.kind: finding.metrics
            for finding in comparability.compare_machines(
                session.assignments,
                comparability.describe_machines(session, []),
                baseline,
            )
        }

    def test_kernel(self):
        """It does not matter to what computes."""
        kernel = {"kernel": "5.10"}
        self.assertEqual({}, self.find(["sysbench"], fingerprint=kernel))
        (metrics,) = self.find(
            ["sysbench", "mbw"], fingerprint=kernel
        ).values()
        self.assertTrue(metrics)
        self.assertEqual(
            {"memory"}, {metric.split(".")[0] for metric in metrics}
        )
        self.assertEqual(
            {"kernel_differs": ()},
            self.find(["fio", "mbw"], fingerprint=kernel),
        )

    def test_microcode(self):
        """Matters to all of them."""
        self.assertEqual(
            {"microcode_differs": ()},
            self.find(["sysbench", "fio"], fingerprint={"microcode": "0x2"}),
        )

    @ddt.data(
        ("transparent_huge_pages", "never", "huge_pages_differ", "memory"),
        ("disks", [{"queues": "1"}], "queues_differ", "disk"),
        ("disks", [{"scheduler": "b"}], "disk_settings_differ", "disk"),
        (
            "network_interfaces",
            [{"mtu": "9000"}],
            "nic_settings_differ",
            "network",
        ),
    )
    @ddt.unpack
    def test_settings(self, key, value, kind, component):
        """Matter where the workload can see them, by its part or its word."""
        changed = {key: value}
        self.assertEqual({}, self.find(["sysbench"], fingerprint=changed))
        names = {"memory": "mbw", "disk": "fio", "network": "iperf3"}
        both = ["sysbench", names[component]]
        metrics = self.find(both, fingerprint=changed)[kind]
        self.assertEqual(
            {component}, {metric.split(".")[0] for metric in metrics}
        )

    def test_unknown(self):
        """A peer concerns the network, a tool the metrics it measures."""
        names = ["sysbench", "iperf3"]
        described = {"fingerprint": BARE, "tools": {x: {} for x in names}}
        baseline = made.baseline(
            machine=document.BaselineMachine(name="host-1", **described),
            peer=document.BaselineMachine(name="peer", **described),
        )
        for measured, peers, expected in (
            ({"g1": described}, {"peer": described}, {}),
            (
                {"g1": {}},
                {"peer": {}},
                {"g1": {"all"}, "peer": {"network"}},
            ),
            (
                {"g1": {**described, "tools": {"iperf3": {}}}},
                {},
                {"g1": {"cpu"}},
            ),
        ):
            machines = [
                model.DescribedMachine(
                    **{"fingerprint": {}, "tools": {}, **facts},
                    name=name,
                    role=role,
                    nova={},
                )
                for role, described_machines in (
                    ("guest", measured),
                    ("peer", peers),
                )
                for name, facts in described_machines.items()
            ]
            findings = comparability.report_unknown_machines(
                assignment.assign([{"name": name} for name in names]),
                machines,
                baseline,
                "no such file",
            )
            self.assertEqual(
                expected,
                {
                    finding.subject: {x.split(".")[0] for x in finding.metrics}
                    or {"all"}
                    for finding in findings
                },
            )

    def test_tool(self):
        """It is its workload's alone; another revision is the same version."""
        both = ["fio", "mbw"]
        self.assertEqual({}, self.find(both, versions={"mbw": "1.2.2-4"}))
        findings = self.find(both, versions={"mbw": "1.4-1"})
        self.assertEqual(["tool_version_differs"], [*findings])
        self.assertEqual(
            {"memory"},
            {
                metric.split(".")[0]
                for metric in findings["tool_version_differs"]
            },
        )


@ddt.ddt
class TestFixedRates(unittest.TestCase):
    """A rate that the task requests concerns the metrics of its command."""

    @ddt.data(
        ("sysbench", {}, {}),
        (
            "sysbench",
            {"rate": 285},
            {
                "sysbench offers 285 events/s": [
                    "cpu.sysbench.db.rate",
                    "cpu.sysbench.db.latency_p95",
                ]
            },
        ),
        (
            "fio",
            {
                "patterns": ["read", "randread"],
                "jobs": 3,
                "rate_iops": {"randread": 500},
            },
            {
                "fio offers 1.50 kops/s in randread": [
                    f"disk.fio.db.randread.{name}"
                    for name in (
                        *("iops", "bandwidth", "latency_mean", "latency_p50"),
                        *("latency_p90", "latency_p95", "latency_p99"),
                        *("latency_p99_9", "latency_p99_99"),
                    )
                ]
            },
        ),
        (
            "h2load",
            {"users": 100, "think_time": 5},
            {
                "h2load offers 20.0 ops/s": [
                    f"network.h2load.db.{name}"
                    for name in (
                        *("rate", "throughput", "response_time_mean"),
                        *("response_time_p50", "response_time_p90"),
                        *("response_time_p95", "response_time_p99"),
                        *("response_time_p99_9", "response_time_p99_99"),
                        "failed_requests",
                    )
                ]
            },
        ),
        (
            "iperf3",
            {
                "protocol": "udp",
                "directions": ["to_peer"],
                "streams": 4,
                "bitrate": 250 * 10**6,
            },
            {
                "iperf3 offers 1.00 Gbit/s": [
                    f"network.iperf3.db.to_peer.udp.{name}"
                    for name in ("throughput", "jitter", "loss")
                ]
            },
        ),
    )
    @ddt.unpack
    def test_findings(self, name, arguments, expected):
        assigned = assignment.create_assignment(
            {"name": name, "label": "db", "arguments": arguments}
        )
        findings = comparability.find_fixed_rates(assigned)
        self.assertEqual(
            expected,
            {found.detail: [*found.metrics] for found in findings},
        )
        self.assertLessEqual(
            {(found.kind, found.subject) for found in findings},
            {("fixed_rate", f"{name}-db")},
        )


class TestRecord(unittest.TestCase):
    """A record that gets another baseline."""

    def test_protocol(self):
        """The baseline must have the cooldown of the record."""
        entry = made.entry(cooldown=5)
        workload = model.RecordedWorkload(
            name="sysbench", arguments=entry.arguments, cooldown=5
        )
        record = made.record(workloads=(workload,))
        compared = comparability.compare_record(
            record, (), made.baseline(name="other", entries=(entry,))
        )
        self.assertEqual("other", compared.bare_metal.name)
        with self.assertRaisesRegex(document.BaselineError, "cooldown"):
            comparability.compare_record(record, (), made.baseline())
