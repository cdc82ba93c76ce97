# SPDX-License-Identifier: Apache-2.0
"""Tests of the number of guests within all limits of a run."""

import dataclasses
import unittest

import ddt

from rally_vmperf.judging import run_capacity
from tests.unit import made

DEDICATED = {"hw:cpu_policy": "dedicated"}


@ddt.ddt
class TestRatio(unittest.TestCase):
    """The vCPUs per CPU of the host follow the number of guests."""

    def describe(self, stated=None, **nova):
        """Return the sentence on a run whose guests have facts from Nova.

        :param stated: The number of CPUs that the task states.
        """
        limits = {"vmperf_degradation": {"max_percent": {"cpu.*": 90}}}
        run = made.density_run(made.density_records(), limits)
        machines = tuple(
            dataclasses.replace(machine, nova={**machine.nova, **nova})
            for machine in run.machines
        )
        levels = {"levels": {"host_cpus": stated}} if stated else {}
        last = dataclasses.replace(run.records[-1], options=levels)
        run = dataclasses.replace(
            run, machines=machines, records=(*run.records[:-1], last)
        )
        (found,) = run_capacity.find_capacities(run).values()
        return run_capacity.describe(run, "", found)

    @ddt.data((None, 8, 0.4), (2, 8, 0.4), (2, None, 1.5))
    @ddt.unpack
    def test_shared_cpus(self, stated, shown, ratio):
        """The number of Nova precedes that of the task."""
        sentence = self.describe(stated, host_vcpus=shown)
        self.assertIn(f"({ratio} vCPUs per CPU)", sentence)

    @ddt.data(
        {"flavor": None, "settings": None}, {"flavor": {"extra_specs": None}}
    )
    def test_unknown_settings(self, facts):
        """Records may not have them."""
        self.assertIn("(0.4 vCPUs", self.describe(host_vcpus=8, **facts))

    def test_policy_of_the_flavor(self):
        """It precedes that of the image."""
        sentence = self.describe(
            host_vcpus=8,
            flavor={"extra_specs": {"hw:cpu_policy": "shared"}},
            image={"cpu_policy": "dedicated"},
        )
        self.assertIn("(0.4 vCPUs per CPU)", sentence)

    @ddt.data(
        {"flavor": {"extra_specs": DEDICATED}},
        {"settings": DEDICATED},
        {"settings": {"hw_cpu_policy": "dedicated"}},
        {"image": {"cpu_policy": "mixed"}},
    )
    def test_dedicated_cpus(self, facts):
        """Nova shows the number of shared CPUs only; the task may know it."""
        sentence = self.describe(host_vcpus=8, **facts)
        self.assertNotIn("vCPUs per CPU", sentence)
        sentence = self.describe(2, host_vcpus=8, **facts)
        self.assertIn("(1.5 vCPUs per CPU)", sentence)


@ddt.ddt
class TestHosts(unittest.TestCase):
    """The number of guests is of a host, and for the mean of the hosts."""

    @ddt.data(
        (1, "mean", "all limits$"),
        (2, "mean", "all limits, per host in the mean of 2 hosts$"),
        (2, "worst", ", on each of 2 hosts$"),
    )
    @ddt.unpack
    def test_several_hosts(self, hosts, statistic, sentence):
        limits = {"max_percent": {"cpu.*": 90}, "statistic": statistic}
        run = made.density_run(
            made.density_records(hosts=hosts), {"vmperf_degradation": limits}
        )
        (found,) = run_capacity.find_capacities(run).values()
        self.assertRegex(run_capacity.describe(run, "", found), sentence)
