# SPDX-License-Identifier: Apache-2.0
"""Tests for the overhead of guests, by component of the machine."""

import typing as t

from tempest import config
from tempest.common import utils
from tempest.lib import decorators

from rally_vmperf.tempest_plugin.tests import base

CONF = config.CONF


@decorators.serial
class TestOverhead(base.MeasurementTest):
    """Test that overhead and values of guests are within the limits."""

    question = "overhead"

    @classmethod
    def build_full_task(cls) -> t.Any:
        """Return the task of all available workloads."""
        return cls.configured.build_task(
            cls.configured.available_workloads(), CONF.vmperf.guests, {}, {}
        )

    def _check_component(self, component: str) -> None:
        """Measure a component's workloads, or skip the test without any."""
        workloads = self.configured.workloads_of(component)
        if not workloads:
            self.skipTest(f"no workload for {component} is configured")
        if component == "network" and not self.configured.peer:
            self.skipTest("no peer: set [vmperf] peer")
        task = self.configured.build_task(
            workloads, CONF.vmperf.guests, {}, {}
        )
        if not task.criteria:
            self.skipTest(
                f"no limits: {CONF.vmperf.limits_file} has none for "
                f"metrics of {component}"
            )
        self.check_task(task)

    @decorators.idempotent_id("0d5a14a2-9a0c-4d6b-9a0e-6a3d2f0f7c51")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_cpu(self) -> None:
        """Compare the CPU overhead with the limits."""
        self._check_component("cpu")

    @decorators.idempotent_id("7c1f2f5e-0d1b-4a55-8b0a-2f6d0a4c9f12")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_memory(self) -> None:
        """Compare the memory overhead with the limits."""
        self._check_component("memory")

    @decorators.idempotent_id("e5b0a0b4-46f1-4c1e-8f3f-0f9e9a1f6d83")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_disk(self) -> None:
        """Compare the disk overhead with the limits."""
        self._check_component("disk")

    @decorators.idempotent_id("52d7c1d8-3c0e-4b8e-9f57-9a6a0a8f2b34")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_network(self) -> None:
        """Compare the network overhead with the limits."""
        self._check_component("network")

    @decorators.idempotent_id("e6587e5f-bc7a-4a75-88e6-b14ecebb4211")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_application(self) -> None:
        """Compare the overhead of applications with the limits."""
        self._check_component("application")
