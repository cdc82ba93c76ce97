# SPDX-License-Identifier: Apache-2.0
"""Tests of the results of hosts from records."""

import math
import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf.audit import collection
from rally_vmperf.audit import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.records import files
from rally_vmperf.records import model
from rally_vmperf.records import sources
from tests.unit import made


@ddt.ddt
class TestCollect(unittest.TestCase):
    """Samples are split by host; the newest run counts."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def source(
        self,
        *hosts,
        run="run-1",
        day=1,
        rate=100.0,
        changes_of=lambda number: {},
        image=None,
        **changes,
    ):
        """Return a run of four repetitions with a guest on each host.

        :param image: The facts from Nova about the image.
        :param changes_of: A function that returns the fields of the record
            with a number.
        """
        names = [f"g{number}" for number in range(1, len(hosts) + 1)]
        details = {
            name: {
                "nova": {
                    "host": host,
                    "image": image or {},
                    "host_vcpus": 32,
                    "host_memory_mib": 65536,
                    "hypervisor_version": "QEMU 8.2.2",
                    "flavor": {
                        "name": "m1.small",
                        "vcpus": 1,
                        "memory_mib": 1024,
                        "disk_gib": 10,
                        "ephemeral_gib": 5,
                        "swap_mib": 512,
                    },
                },
                "fingerprint": {"cpu_model": "Xeon"},
                "tools": {},
            }
            for name, host in zip(names, hosts, strict=True)
        }
        reference = files.write_machines(self.folder, details, print)
        records = []
        for number in (1, 2, 3, 4):
            fields = {
                "run": run,
                "number": number,
                "planned_repetitions": 4,
                "finished_at": f"2026-03-{day:02d}T05:0{number}:00+00:00",
                "machines": tuple(
                    made.machine(name, host=host)
                    for name, host in zip(names, hosts, strict=True)
                ),
                "machines_file": reference,
                "conditions": [
                    made.build_condition(
                        number,
                        {
                            made.EVENTS: [
                                (rate + number) * place
                                for place in range(1, len(hosts) + 1)
                            ]
                        },
                        machines=tuple(names),
                    )
                ],
                **changes,
                **changes_of(number),
            }
            records.append(made.record(**fields))
        return sources.Source(
            question=changes.get("question", "overhead"),
            scenario="",
            records=records,
            criteria=records[0].criteria,
            folder=self.folder,
        )

    def collect(self, *sources, failures=None):
        collected = collection.collect(sources, failures)
        return {host.name: host for host in collected}

    def mean(self, host):
        """Return the mean of the only figure of a host."""
        (mean,) = host.means.values()
        return math.exp(mean.center)

    def test_facts(self):
        """Class, date, versions, and figures with their flavor."""
        host = self.collect(self.source("compute1"))["compute1"]
        self.assertEqual(
            ("Xeon", 32, 65536), (host.cpu_model, host.cpus, host.memory_mib)
        )
        self.assertEqual("run-1", host.run)
        self.assertEqual("2026-03-01T05:04:00+00:00", host.measured_at)
        self.assertEqual("QEMU 8.2.2", host.versions["hypervisor"])
        (figure,) = host.means
        self.assertEqual(("m1.small", ""), figure[1:3])
        self.assertEqual({figure}, host.expected)
        self.assertAlmostEqual(102.5, self.mean(host), delta=0.1)
        self.assertEqual("", host.reason)

    def test_runs_of_hosts(self):
        """They are of one test, although their hosts differ."""
        collected = self.collect(
            self.source("compute1"), self.source("compute2", run="run-2")
        )
        first, second = (host.means for host in collected.values())
        self.assertEqual(first.keys(), second.keys())

    def test_run_on_several_hosts(self):
        """Each host has its own guests."""
        collected = self.collect(self.source("compute1", "compute2"))
        self.assertAlmostEqual(
            2.0,
            self.mean(collected["compute2"])
            / self.mean(collected["compute1"]),
        )

    def test_guests_of_one_host(self):
        """They are averaged."""
        collected = self.collect(self.source("compute1", "compute1"))
        self.assertAlmostEqual(
            102.5 * 2**0.5, self.mean(collected["compute1"]), delta=0.1
        )

    def test_void_host_in_a_run_of_several(self):
        """It does not void the others."""
        elsewhere = finding.Finding("wrong_host", "g2", "runs elsewhere")
        collected = self.collect(
            self.source("compute1", "compute2", findings=(elsewhere,))
        )
        self.assertEqual("", collected["compute1"].reason)
        self.assertIn("elsewhere", collected["compute2"].reason)
        self.assertFalse(collected["compute2"].means)

    def test_newest_run(self):
        """Replaces an older one of the same test."""
        for days in ((1, 9), (9, 1)):
            collected = self.collect(
                *(
                    self.source(
                        "compute1", run=f"run-{day}", day=day, rate=100 * day
                    )
                    for day in days
                )
            )
            self.assertEqual("run-9", collected["compute1"].run)
            self.assertGreater(self.mean(collected["compute1"]), 900)

    def test_other_test(self):
        """It is kept next to the first one."""
        other = model.RecordedWorkload(name="sysbench", arguments={"time": 99})
        collected = self.collect(
            self.source("compute1"),
            self.source("compute1", run="run-2", day=2, workloads=(other,)),
        )
        self.assertEqual(2, len(collected["compute1"].means))
        self.assertEqual("run-2", collected["compute1"].run)

    def test_failures(self):
        """They are hosts without records; a result has precedence."""
        collected = self.collect(
            self.source("compute1"),
            failures={"compute1": "no boot", "compute2": "no boot"},
        )
        self.assertEqual("", collected["compute1"].reason)
        self.assertEqual("no boot", collected["compute2"].reason)

    def test_no_samples(self):
        """The reason is stated."""
        collected = self.collect(
            self.source(
                "compute1",
                conditions=[made.build_condition(1, {made.EVENTS: [None]})],
            )
        )
        self.assertTrue(collected["compute1"].reason)

    def test_limits(self):
        """They name the metrics that decide; the verdict is kept."""
        criteria = {
            "vmperf_overhead": {"min": {"*": 50}},
            "vmperf_valid": {},
            "failure_rate": {"max": 0},
        }
        host = self.collect(self.source("compute1", criteria=criteria))[
            "compute1"
        ]
        self.assertEqual({"m1.small, 1 guest": "passed"}, dict(host.verdicts))
        self.assertFalse(host.capacities)
        self.assertEqual({made.EVENTS.name}, host.limited)
        (host,) = self.collect(self.source("compute1")).values()
        self.assertEqual(frozenset(), host.limited)

    def test_tolerated_finding(self):
        """A finding that the SLA of the run tolerates voids no host."""
        criteria = {
            "vmperf_overhead": {
                "min": {"*": 50},
                "tolerate": ["clock_wrong"],
            }
        }
        wrong = (finding.Finding("clock_wrong", "g1", "2 % slow"),)
        collected = collection.collect(
            self.source(
                f"compute{number}",
                run=f"run-{number}",
                criteria=criteria,
                findings=wrong if number == 3 else (),
            )
            for number in range(8)
        )
        self.assertEqual([""] * 8, [host.reason for host in collected])
        audit = result.audit(collected, verdict.Limits({}))
        self.assertEqual("8 hosts: 0 worse, 8 not worse", audit.headline)
        self.assertTrue(audit.passed)

    def test_unknown_machines(self):
        """They have no CPU model, and no amounts."""
        source = self.source("compute1", machines_file=None)
        host = self.collect(source)["compute1"]
        self.assertEqual(
            ("", 0, 0), (host.cpu_model, host.cpus, host.memory_mib)
        )

    def test_guests_without_a_host(self):
        """Belong to no host."""
        self.assertEqual({}, self.collect(self.source("")))

    @ddt.data(({}, "VCPU"), ({"cpu_policy": "dedicated"}, "PCPU"))
    @ddt.unpack
    def test_number_of_guests(self, image, kind):
        """A density run gives it, with the needs of a guest."""
        source = self.source(
            *["compute1"] * 3,
            changes_of=lambda number: {
                "conditions": [
                    made.level(
                        number,
                        guests,
                        {made.EVENTS: [rate + number / 10] * guests},
                    )
                    for guests, rate in ((1, 100.0), (2, 99.0), (3, 50.0))
                ]
            },
            question="density",
            criteria={
                "vmperf_degradation": {"max_percent": {"*": 10}},
            },
            image=image,
        )
        host = self.collect(source)["compute1"]
        (host_capacity,) = host.capacities.values()
        self.assertEqual(2, host_capacity.found.proven)
        self.assertFalse(host_capacity.found.is_lower_bound)
        self.assertEqual(
            {kind: 1, "MEMORY_MB": 1024, "DISK_GB": 16},
            dict(host_capacity.needs),
        )
        self.assertEqual(
            {"guests 1", "guests 2", "guests 3"},
            {figure.condition for figure in host.means},
        )
