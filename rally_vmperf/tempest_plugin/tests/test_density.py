"""How guests degrade as more of them share a host."""

import typing as t

from tempest import config
from tempest.common import utils
from tempest.lib import decorators

from rally_vmperf.tempest_plugin.tests import base

CONF = config.CONF


@decorators.serial
class TestDensity(base.Measuring):
    """As many guests as configured stay within the limits."""

    question = "density"

    @classmethod
    def whole(cls) -> t.Any:
        """Return the task of all workloads at all levels, on one host."""
        levels = CONF.vmperf.levels
        one_host = {} if CONF.vmperf.host else {"server_group": "affinity"}
        limits = cls.configured.limits.get("vmperf_degradation", {})
        compare_to = limits.get("compare_to", "solo_guest")
        each = (
            limits.get("statistic") == "worst" and compare_to == "solo_guest"
        )
        arguments = {
            "levels": levels,
            "order": "shuffled",
            "idle_guests": "running",
            "solo_guest": "all" if each else "rotate",
            "stop": None,
        }
        return cls.configured.ask(
            cls.configured.measurable(), max(levels), arguments, one_host
        )

    @decorators.idempotent_id("b3d0b2ea-94c2-4f43-8d8b-4b6b1f5d7e65")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_density(self) -> None:
        """Each guest keeps its speed as their number grows."""
        self.hold(self.whole())
