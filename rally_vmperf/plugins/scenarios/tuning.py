"""A scenario that compares guests with different settings."""

import typing as t

from rally.common import validation
from rally_openstack.task import scenario

from rally_vmperf.plugins.scenarios import base


@validation.add("vmperf_task")
@validation.add("vmperf_reach")
@validation.add("vmperf_cloud")
@validation.add("required_platform", platform="openstack", users=True)
@scenario.configure(name="VMPerf.tuning", platform="openstack")
class Tuning(base.MeasurementScenario):
    """Gain of guests with other settings; an iteration has all variants."""

    def run(
        self,
        workloads: list,
        variants: list,
        reference: str | None = None,
        order: t.Literal["listed", "shuffled", "blocks"] = "blocks",
        idle_guests: t.Literal["running", "paused", "stopped"] = "paused",
        warmup: int | None = None,
        peer: dict | None = None,
        control: dict | None = None,
        cooldown: float = 0,
        drop_caches: bool = False,
        reboot: t.Literal[
            "auto", "never", "between_workloads", "between_repetitions"
        ] = "never",
        shape: t.Literal["guest", "whole"] = "guest",
    ) -> None:
        """Measure one repetition of each variant of a guest.

        :param workloads: The workloads, a list of {name, arguments, label}.
            The workloads run sequentially on the guests of one variant at a
            time.
        :param variants: The variants, a list of {name, flavor, image,
            extra_specs, image_properties, network, boot_volume, host,
            aggregate}; each has a name and what differs from the guests of
            vmperf_guests. The guests of all variants are booted once; if they
            do not fit together, those of each variant boot for each of its
            conditions and are deleted after it.
        :param reference: The name of the variant that the others are compared
            with. Default: the first one.
        :param order: The order of the variants. blocks: in a block of as many
            repetitions as variants, each variant runs once at each position.
            shuffled: a random order in each repetition. listed: the order in
            the task.
        :param idle_guests: The state of the guests of other variants: running,
            or paused or stopped by Nova. A stopped guest boots again before
            each of its conditions.
        :param warmup: The number of initial repetitions that are recorded but
            not counted. Default: 1; 0 with a single repetition.
        :param peer: The other end of network workloads: {address, port, user,
            key_file, known_hosts, name, jump}.
        :param control: The control machine, which runs a small load during
            each condition and shows whether the infrastructure changed:
            the keys of peer. It must not be the peer or a hypervisor.
        :param cooldown: The idle time in seconds before each command.
        :param drop_caches: Whether the page cache, dentries and inodes of the
            guests are dropped before each command, which requires root in the
            guests. A workload can override it.
        :param reboot: The time at which Nova stops and starts the guests:
            never, between_workloads, or between_repetitions. auto: between
            repetitions if the guests booted within 60 s. Variants are
            compared within a boot with never, unless each condition has a
            boot of its own.
        :param shape: The resources of bare metal in the baseline, if the task
            has one. guest: the CPUs and memory of the guests. whole: all CPUs
            and memory.
        """
        self._measure()
