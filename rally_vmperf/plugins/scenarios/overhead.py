"""Scenario: how much of the machine a guest loses."""

import typing as t

from rally.common import validation
from rally_openstack.task import scenario

from rally_vmperf.execution import protocol as protocols
from rally_vmperf.plugins.scenarios import base


@validation.add("vmperf_task")
@validation.add("vmperf_reach")
@validation.add("vmperf_cloud")
@validation.add("required_platform", platform="openstack", users=True)
@scenario.configure(name="VMPerf.overhead", platform="openstack")
class Overhead(base.Measuring):
    """Guests against bare metal: one iteration is one repetition."""

    def run(
        self,
        workloads: list,
        warmup: int = 0,
        peer: dict | None = None,
        cooldown: float = 0,
        drop_caches: bool = False,
        reboot: t.Literal[
            "never", "between_workloads", "between_repetitions"
        ] = "never",
        shape: t.Literal["guest", "whole"] = "guest",
        neighbours: dict | None = None,
    ) -> None:
        """Compare guests with a bare-metal baseline, workload by workload.

        :param workloads: list of {name, arguments, label}; they run one after
            another in the same guests
        :param warmup: how many of the first repetitions are run and recorded,
            but not counted
        :param peer: other end of network workloads: {address, port, user,
            key_file, known_hosts, name, jump}; it is reached by SSH, at this
            port, and needs the same tools
        :param cooldown: seconds of rest before each command
        :param drop_caches: drop the guests' page cache, dentries and inodes
            before each command, which takes root in them; a workload may say
            otherwise
        :param reboot: when Nova stops and starts the guests, so that each
            boots anew: between workloads, or between repetitions
        :param shape: whether the baseline was recorded on bare metal that
            was held to the guest's shape, or left whole
        :param neighbours: {guests, workload: {name, arguments}}: so many of
            the guests, the last ones, are not measured; each repetition
            measures the others with and without that workload in them
        """
        protocol = protocols.Protocol(
            cooldown=cooldown,
            drop_caches=drop_caches,
            reboot=reboot,
            shape=shape,
        )
        self._measure(workloads, warmup, peer, protocol, neighbours=neighbours)
