# SPDX-License-Identifier: Apache-2.0
"""Tests for the degradation of guests on a shared host."""

import typing as t

from tempest import config
from tempest.common import utils
from tempest.lib import decorators

from rally_vmperf.tempest_plugin.tests import base

CONF = config.CONF


@decorators.serial
class TestDensity(base.MeasurementTest):
    """Test that the degradation of the guests is within the limits."""

    question = "density"

    @classmethod
    def build_full_task(cls) -> t.Any:
        """Return the task of all workloads at all levels on one host."""
        levels = CONF.vmperf.levels
        one_host = {} if CONF.vmperf.host else {"server_group": "affinity"}
        limits = cls.configured.limits.get("vmperf_degradation", {})
        compare_to = limits.get("compare_to", "solo_guest")
        needs_all_solo = (
            limits.get("statistic") == "worst" and compare_to == "solo_guest"
        )
        arguments = {
            "levels": levels,
            "solo_guest": "all" if needs_all_solo else "rotate",
        }
        return cls.configured.build_task(
            cls.configured.available_workloads(),
            max(levels),
            arguments,
            one_host,
        )

    @decorators.idempotent_id("b3d0b2ea-94c2-4f43-8d8b-4b6b1f5d7e65")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_density(self) -> None:
        """Compare the degradation with the limits."""
        self.check_task(self.build_full_task())
