# SPDX-License-Identifier: Apache-2.0
"""Tests for the placement of guests by Nova."""

from tempest import config
from tempest.common import utils
from tempest.lib import decorators

from rally_vmperf.guests import models
from rally_vmperf.tempest_plugin import tasks
from rally_vmperf.tempest_plugin.tests import base

CONF = config.CONF

#: The findings that report wrong placement.
_WRONG = ("wrong_host", "server_group_not_satisfied")


@decorators.serial
class TestPlacement(base.GuestTest):
    """Test the server group and the host of two guests."""

    booted: models.BootedGuests

    @classmethod
    def resource_setup(cls) -> None:
        """Boot two guests."""
        super().resource_setup()
        cls.booted = cls.boot(
            tasks.read_guest_options(
                CONF, 2, server_group=CONF.vmperf.server_group
            )
        )

    @decorators.idempotent_id("f64b7a0f-7f35-4b0f-a1a4-0d7c4f3e9a76")
    @decorators.attr(type=["slow", "vmperf"])
    @utils.services("compute", "network", "image")
    def test_placement(self) -> None:
        """Check that Nova satisfied the server group and the host."""
        kinds: tuple[str, ...] = _WRONG
        if CONF.vmperf.host:
            kinds = (*_WRONG, "placement_unknown")
        messages = [
            f"{finding.subject} {finding.detail}"
            for finding in self.booted.findings
            if finding.kind in kinds
        ]
        if messages:
            self.fail("; ".join(messages))
