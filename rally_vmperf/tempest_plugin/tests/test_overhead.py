"""How much of the machine guests lose, part by part."""

import typing as t

from tempest import config
from tempest.common import utils
from tempest.lib import decorators

from rally_vmperf.tempest_plugin.tests import base

CONF = config.CONF


@decorators.serial
class TestOverhead(base.Measuring):
    """Guests are within the limits on what they lose against bare metal."""

    question = "overhead"

    @classmethod
    def whole(cls) -> t.Any:
        """Return the task of every workload that can be measured here."""
        return cls.configured.ask(
            cls.configured.measurable(), CONF.vmperf.guests, {}, {}
        )

    def _hold(self, part: str) -> None:
        workloads = self.configured.of_part(part)
        if not workloads:
            self.skipTest(f"no workload of the part {part} is configured")
        if part == "network" and not self.configured.peer:
            self.skipTest("no peer: set [vmperf] peer")
        asked = self.configured.ask(workloads, CONF.vmperf.guests, {}, {})
        if not asked.criteria:
            self.skipTest(
                f"no limits: {CONF.vmperf.limits_file} has none for "
                f"a metric of the part {part}"
            )
        self.hold(asked)

    @decorators.idempotent_id("0d5a14a2-9a0c-4d6b-9a0e-6a3d2f0f7c51")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_cpu(self) -> None:
        """Guests keep the processor's speed."""
        self._hold("cpu")

    @decorators.idempotent_id("7c1f2f5e-0d1b-4a55-8b0a-2f6d0a4c9f12")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_memory(self) -> None:
        """Guests keep the memory's speed."""
        self._hold("memory")

    @decorators.idempotent_id("e5b0a0b4-46f1-4c1e-8f3f-0f9e9a1f6d83")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_disk(self) -> None:
        """Guests keep the disk's speed."""
        self._hold("disk")

    @decorators.idempotent_id("52d7c1d8-3c0e-4b8e-9f57-9a6a0a8f2b34")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_network(self) -> None:
        """Guests keep the network's speed, to a peer."""
        self._hold("network")

    @decorators.idempotent_id("e6587e5f-bc7a-4a75-88e6-b14ecebb4211")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_application(self) -> None:
        """Guests keep the speed of whole programs."""
        self._hold("application")
