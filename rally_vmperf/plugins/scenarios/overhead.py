"""A scenario that measures the overhead of guests over bare metal."""

import typing as t

from rally.common import validation
from rally_openstack.task import scenario

from rally_vmperf.plugins.scenarios import base


@validation.add("vmperf_task")
@validation.add("vmperf_reach")
@validation.add("vmperf_cloud")
@validation.add("required_platform", platform="openstack", users=True)
@scenario.configure(name="VMPerf.overhead", platform="openstack")
class Overhead(base.MeasurementScenario):
    """Overhead of guests over bare metal; an iteration is a repetition."""

    def run(
        self,
        workloads: list,
        warmup: int = 0,
        peer: dict | None = None,
        control: dict | None = None,
        cooldown: float = 0,
        drop_caches: bool = False,
        reboot: t.Literal[
            "auto", "never", "between_workloads", "between_repetitions"
        ] = "never",
        shape: t.Literal["guest", "whole"] = "guest",
        neighbours: dict | None = None,
    ) -> None:
        """Measure one repetition of the comparison with bare metal.

        :param workloads: The workloads, a list of {name, arguments, label}.
            The workloads run sequentially in the same guests.
        :param warmup: The number of initial repetitions that are recorded but
            not counted.
        :param peer: The other end of network workloads: {address, port, user,
            key_file, known_hosts, name, jump}. The port is that of SSH; the
            peer requires the same tools.
        :param control: The control machine, which runs a small load during
            each condition and shows whether the infrastructure changed:
            the keys of peer. It must not be the peer or a hypervisor.
        :param cooldown: The idle time in seconds before each command.
        :param drop_caches: Whether the page cache, dentries and inodes of the
            guests are dropped before each command, which requires root in the
            guests. A workload can override it.
        :param reboot: The time at which Nova stops and starts the guests:
            never, between_workloads, or between_repetitions. auto: between
            repetitions if the guests booted within 60 s.
        :param shape: The resources of bare metal in the baseline. guest: the
            CPUs and memory of the guest. whole: all CPUs and memory.
        :param neighbours: The guests that are not measured: {guests,
            workload: {name, arguments}}. They are the last guests; each
            repetition measures the other guests with and without the workload
            in these guests.
        """
        self._measure()
