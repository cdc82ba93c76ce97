"""Whether Nova places guests where they were asked to be."""

from tempest import config
from tempest.common import utils
from tempest.lib import decorators

from rally_vmperf.guests import guest
from rally_vmperf.tempest_plugin import tasks
from rally_vmperf.tempest_plugin.tests import base

CONF = config.CONF

#: What says that guests are elsewhere, or that nobody knows.
_WRONG = ("wrong_host", "server_group_not_satisfied")


@decorators.serial
class TestPlacement(base.Booting):
    """Two guests in a server group, on a host where one is configured."""

    booted: guest.Booted

    @classmethod
    def resource_setup(cls) -> None:
        """Boot two guests."""
        super().resource_setup()
        cls.booted = cls.boot(
            tasks.guest_options(CONF, 2, server_group=CONF.vmperf.server_group)
        )

    @decorators.idempotent_id("f64b7a0f-7f35-4b0f-a1a4-0d7c4f3e9a76")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_placement(self) -> None:
        """Nova placed the guests where they were asked to be."""
        kinds: tuple[str, ...] = _WRONG
        if CONF.vmperf.host:
            kinds = (*_WRONG, "placement_unknown")
        wrong = [one for one in self.booted.findings if one.kind in kinds]
        if wrong:
            self.fail(
                "; ".join(f"{one.subject} {one.detail}" for one in wrong)
            )
