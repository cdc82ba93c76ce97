"""Scenario: how guests degrade as more of them share a host."""

import typing as t

from rally.common import validation
from rally_openstack.task import scenario

from rally_vmperf.execution import protocol as protocols
from rally_vmperf.plugins.scenarios import base


@validation.add("vmperf_task")
@validation.add("vmperf_reach")
@validation.add("vmperf_cloud")
@validation.add("required_platform", platform="openstack", users=True)
@scenario.configure(name="VMPerf.density", platform="openstack")
class Density(base.Measuring):
    """More and more guests on a host: one iteration is one whole curve."""

    def run(
        self,
        workloads: list,
        levels: list | dict,
        order: t.Literal["listed", "shuffled", "blocks"] | None = None,
        idle_guests: t.Literal["running", "paused", "stopped"] = "running",
        solo_guest: t.Literal["rotate", "all"] = "rotate",
        warmup: int | None = None,
        peer: dict | None = None,
        stop: dict | None = None,
        cooldown: float = 0,
        drop_caches: bool = False,
        reboot: t.Literal[
            "never", "between_workloads", "between_repetitions"
        ] = "never",
        shape: t.Literal["guest", "whole"] = "guest",
        neighbours: dict | None = None,
    ) -> None:
        """Measure how guests degrade, workload by workload.

        :param workloads: list of {name, arguments, label}; they run one after
            another, each on all guests of a level at once
        :param levels: numbers of guests on each host: a list, or {from, to},
            or {doubling_to}; all guests are booted once, a level uses some
        :param order: in which levels run: as listed, shuffled anew in each
            repetition, or in blocks of as many repetitions as there are
            levels, within which each level comes once at each position; by
            default shuffled, and listed where there is a stop rule, which
            needs levels that ascend
        :param idle_guests: The state of guests that take no part in a level:
            running, or paused or stopped by Nova. A stopped guest boots again
            when it is needed.
        :param solo_guest: The guest that runs at level 1. rotate: a different
            guest in each repetition. all: every guest of a host, one at a
            time, in every repetition. Limits on the worst guest require all.
        :param warmup: how many of the first curves are run and recorded, but
            not counted; by default 1, and 0 where there is a stop rule or
            a single repetition
        :param peer: other end of network workloads: {address, port, user,
            key_file, known_hosts, name, jump}
        :param stop: when to add no more guests: {max_percent: {metric or
            glob: percent}, total_falls: true}; needs ascending levels
        :param cooldown: seconds of rest before each command
        :param drop_caches: drop the guests' page cache, dentries and inodes
            before each command, which takes root in them; a workload may say
            otherwise
        :param reboot: when Nova stops and starts the guests, so that each
            boots anew: between workloads, or between repetitions
        :param shape: whether a baseline was recorded on bare metal that was
            held to the guests' shape, or left whole
        :param neighbours: {guests, workload: {name, arguments}}: so many
            guests of each host, beside those of the largest level, are not
            measured; each repetition measures each level with and without
            that workload in them
        """
        protocol = protocols.Protocol(
            cooldown=cooldown,
            drop_caches=drop_caches,
            reboot=reboot,
            shape=shape,
        )
        self._measure(
            workloads,
            warmup,
            peer,
            protocol,
            levels=levels,
            order=order,
            idle_guests=idle_guests,
            solo_guest=solo_guest,
            stop=stop,
            neighbours=neighbours,
        )
