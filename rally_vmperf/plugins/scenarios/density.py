"""A scenario that measures the degradation of guests on a shared host."""

import typing as t

from rally.common import validation
from rally_openstack.task import scenario

from rally_vmperf.plugins.scenarios import base


@validation.add("vmperf_task")
@validation.add("vmperf_reach")
@validation.add("vmperf_cloud")
@validation.add("required_platform", platform="openstack", users=True)
@scenario.configure(name="VMPerf.density", platform="openstack")
class Density(base.MeasurementScenario):
    """Degradation of guests with their number; an iteration is a curve."""

    def run(
        self,
        workloads: list,
        levels: list | dict,
        order: t.Literal["listed", "shuffled", "blocks"] | None = None,
        idle_guests: t.Literal["running", "paused", "stopped"] = "running",
        solo_guest: t.Literal["rotate", "all"] = "rotate",
        warmup: int | None = None,
        peer: dict | None = None,
        control: dict | None = None,
        stop: dict | None = None,
        cooldown: float = 0,
        drop_caches: bool = False,
        reboot: t.Literal[
            "auto", "never", "between_workloads", "between_repetitions"
        ] = "never",
        shape: t.Literal["guest", "whole"] = "guest",
        neighbours: dict | None = None,
    ) -> None:
        """Measure one repetition at several numbers of guests.

        :param workloads: The workloads, a list of {name, arguments, label}.
            The workloads run sequentially, each on all guests of a level
            concurrently.
        :param levels: The numbers of guests on each host: a list, or
            {from, to}, or {doubling_to}. All guests are booted once; a level
            uses some of them.
        :param order: The order of the levels. listed: the order in the task.
            shuffled: a random order in each repetition. blocks: in a block of
            as many repetitions as levels, each level runs once at each
            position. Default: shuffled; listed with a stop rule, which
            requires ascending levels.
        :param idle_guests: The state of guests that a level does not use:
            running, or paused or stopped by Nova. A stopped guest boots again
            before a level that uses it.
        :param solo_guest: The guest that runs at level 1. rotate: a different
            guest in each repetition. all: every guest of a host, one at a
            time, in every repetition. Limits on the worst guest require all.
        :param warmup: The number of initial curves that are recorded but not
            counted. Default: 1; 0 with a stop rule or a single repetition.
        :param peer: The other end of network workloads: {address, port, user,
            key_file, known_hosts, name, jump}.
        :param stop: The condition that ends a curve: {max_percent: {metric
            or glob: percent}, total_falls: true}; requires ascending levels.
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
            CPUs and memory of the guests. whole: all CPUs and memory.
        :param neighbours: The guests that are not measured: {guests,
            workload: {name, arguments}}. Each host has this number of guests
            in addition to the largest level; each repetition measures each
            level with and without the workload in these guests.
        """
        self._measure()
